"""`concat_with_action`: the prompt is everything that was said on both sides."""

from __future__ import annotations

from gem.content import normalise_text
from gem.env._step import Step
from gem.wrappers._concat import Concat
from gem.wrappers._prompts import joined

__all__ = ["ConcatWithAction"]


class ConcatWithAction(Concat):
    """Show every observation and every action of the episode, in order, joined by newlines.

    `info["suffix"]` stands below the newest observation and is gone from the next prompt.
    """

    def on_step(self, action: str, step: Step) -> Step:
        self._history = joined(self._history, normalise_text(action))
        return super().on_step(action, step)

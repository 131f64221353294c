"""`truncated`: answers or whole episodes that a limit has cut off."""

from __future__ import annotations

from collections.abc import Iterator

from gem.episode import Episode
from gem_eval.finding.examples import Example, example_episode, example_turn
from gem_eval.finding.finder import Evidence, Finder
from gem_eval.finding.wording import in_turns
from gem_eval.wording import counted

__all__ = ["FINDER"]

_LIMITS = {
    "truncated": "the environment's own limit",
    "max_turns": "the run's limit of turns",
    "max_tokens": "the run's limit of tokens",
    "model_length": "the end of the model's context",
}


def rule(episode: Episode) -> Iterator[Evidence]:
    """Find answers that reached a limit of tokens, and an end by a limit before the task's own."""
    turns = episode.turns
    cut = [place for place, turn in enumerate(turns) if turn.finish_reason == "length"]
    if cut:
        yield Evidence(
            cut[0],
            f"{len(cut):,} of {counted(len(turns), 'answer')} reached a limit of tokens "
            f"({in_turns(cut)}).",
        )
    limit = _LIMITS.get(episode.stop_reason)
    if limit is not None and not episode.success:
        yield Evidence(
            len(turns) - 1 if turns else None,
            f"The episode was cut off after {counted(len(turns), 'turn')} by {limit}, unsolved.",
        )


def _examples() -> list[Example]:
    whole = example_turn("7", finish_reason="stop")
    cut = example_turn("So the ans", finish_reason="length")
    return [
        Example("an answer of two", example_episode(whole, cut), (1,)),
        Example("out of turns", example_episode(whole, whole, stop_reason="max_turns"), (1,)),
        Example("too long at once", example_episode(stop_reason="model_length"), (None,)),
        Example("both", example_episode(cut, whole, stop_reason="truncated"), (0, 1)),
        Example("the task's own end", example_episode(whole)),
        Example(
            "solved in the last turn",
            example_episode(whole, stop_reason="truncated", success=True),
        ),
        Example(
            "an error is no limit",
            example_episode(whole, stop_reason="env_error", success=None),
        ),
    ]


FINDER = Finder(
    id="truncated",
    summary="an answer that reached a limit of tokens, or an episode that a limit ended unsolved",
    rule=rule,
    examples=_examples,
)

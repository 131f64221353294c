"""`system_prompt`: a message of the system opens every episode."""

from __future__ import annotations

from typing import Any

from gem.content import Message, Observation
from gem.conversation import Conversation
from gem.env._env import Env
from gem.env._wrapper import Wrapper

__all__ = ["SystemPrompt"]


class SystemPrompt(Wrapper):
    """Put `text` before an episode's first observation, as a message of the system."""

    def __init__(self, env: Env, text: str) -> None:
        super().__init__(env)
        self._text = text

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        talk = Conversation()
        talk.observe(observation, {})
        return (Message("system", self._text), *talk.messages), info

"""`frame_stack`: each observation comes with the ones just before it."""

from __future__ import annotations

from collections import deque
from typing import Any

from gem.content import Message, Observation
from gem.conversation import Conversation
from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments

__all__ = ["FrameStack"]

Frame = str | Message | tuple[Any, ...]


class FrameStack(Wrapper):
    """Show the last `size` observations of the episode together, oldest first; fewer at its start.

    Texts are joined by newlines. Where one of them is not text, each is a message of its own.
    """

    def __init__(self, env: Env, size: int) -> None:
        super().__init__(env)
        if size < 1:
            raise BadArguments(
                f"frame_stack was given size={size}. It counts observations: give 1 or more.",
                subject="frame_stack",
            )
        self._frames: deque[Frame] = deque(maxlen=size)

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._frames.clear()
        return self._with(observation), info

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(observation=self._with(step.observation))

    def _with(self, observation: Observation) -> Observation:
        self._frames.append(_unchanging(observation))
        return _joined_frames(list(self._frames))


def _unchanging(observation: Observation) -> Frame:
    if isinstance(observation, str):
        return str(observation)
    if isinstance(observation, Message):
        return observation
    return tuple(observation)  # the environment may go on to change its own list


def _joined_frames(frames: list[Frame]) -> Observation:
    # Text as long as all of them are: a prompt of one message, as without this wrapper.
    texts = [frame for frame in frames if isinstance(frame, str)]
    if len(texts) == len(frames):
        return "\n".join(texts)
    talk = Conversation()
    for frame in frames:
        talk.observe(frame, {})
    return tuple(talk.messages)

"""An episode that another program recorded, as far as it says what happened.

A pack that reads such a log makes these records, and `gem-env replay` takes their actions again.
Knows nothing about formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gem.content import Action
from gem.episode._episode import StopReason
from gem.specs import WrapperRef

__all__ = ["ForeignEpisode", "ForeignTurn"]


@dataclass(frozen=True, slots=True)
class ForeignTurn:
    """One action, and what its log says that it led to. None where the log says nothing.

    `step` is the number that the log itself gives the action. `observation` is the text of what
    followed, messages joined by newlines and `[image]` in the place of each image.
    """

    step: int
    action: Action
    observation: str | None = None
    reward: float | None = None
    terminated: bool | None = None
    truncated: bool | None = None


@dataclass(frozen=True, slots=True)
class ForeignEpisode:
    """The actions of one episode, with what its log says about how to play it and how it ended.

    `agent` is who acted. `observation` is the text that was shown first, written as that of a turn.
    What says how to make the environment is as `Episode` has it, and None or empty where the log
    does not say it. `stop_reason` is None, too, where the log cannot tell why there are no more
    actions.
    """

    agent: str
    turns: tuple[ForeignTurn, ...]
    observation: str | None = None
    env_id: str | None = None
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    wrappers: tuple[WrapperRef, ...] = ()
    seed: int | None = None
    task: int | None = None
    stop_reason: StopReason | None = None
    total_reward: float | None = None
    success: bool | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

"""Constants of gem-llm that its users import."""

from __future__ import annotations

from typing import ClassVar

__all__ = ["TERMINAL_STATE", "LanguageGameReward"]

TERMINAL_STATE = "<｜TERMINAL_STATE｜>"  # noqa: RUF001 - gem-llm wrote it with these bars
"""What an environment of one turn returned as its last observation."""


class LanguageGameReward:
    """What the games paid: those of ours pay the same by default."""

    success_reward: ClassVar[float] = 1.0
    internal_step_reward: ClassVar[float] = 0.0
    fail_reward: ClassVar[float] = 0.0
    invalid_action_reward: ClassVar[float] = 0.0
    format_error_reward: ClassVar[float] = -0.1

"""The rules of the doctor: plain functions from a run to findings, a module for each subject."""

from __future__ import annotations

from gem_baselines.doctor.finding import Check
from gem_baselines.doctor.rules import course, credit, logprobs, records, reward, self_play, tokens

__all__ = ["CHECKS"]

CHECKS: tuple[Check, ...] = (
    *tokens.CHECKS,
    *credit.CHECKS,
    *records.CHECKS,
    *logprobs.CHECKS,
    *reward.CHECKS,
    *course.CHECKS,
    *self_play.CHECKS,
)
"""Every check, those first that contradict what a run says of itself."""

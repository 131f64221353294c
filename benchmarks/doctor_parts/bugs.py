"""Every bug that the benchmark of the doctor plants."""

from __future__ import annotations

from benchmarks.doctor_parts.planting import Bug
from benchmarks.doctor_parts.policy_bugs import POLICY_BUGS
from benchmarks.doctor_parts.training_bugs import TRAINING_BUGS

__all__ = ["BUGS"]

BUGS: tuple[Bug, ...] = (*POLICY_BUGS, *TRAINING_BUGS)

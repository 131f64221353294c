"""The doctor: reads a training and says what is wrong with it, in words and with evidence.

Rules are plain functions on a run that was read; nothing is trained, and nothing played but on
request. Knows nothing about how a policy learns.
"""

from __future__ import annotations

from gem_baselines.doctor.diagnosis import Diagnosis, diagnosed
from gem_baselines.doctor.opening import open_run

__all__ = ["Diagnosis", "diagnosed", "open_run"]

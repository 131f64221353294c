"""Policy gradients on tokens: packing, the loss, and the steps of an optimiser.

Knows nothing about environments or how advantages are estimated. The settings need no torch; what
is beside them does, and is imported where a policy is made.
"""

from __future__ import annotations

from gem_baselines.learning._rows import Row, rows_of, rows_to_read
from gem_baselines.learning._settings import LearningSettings

__all__ = ["LearningSettings", "Row", "rows_of", "rows_to_read"]

"""`gem.wrappers.observation_wrapper`, as in gem-llm."""

from __future__ import annotations

from gem.compat._observing import ObservationWrapper

__all__ = ["ObservationWrapper"]

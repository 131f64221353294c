"""`gem.wrappers.observation_wrapper`, as in gem-llm."""

from __future__ import annotations

from gem.compat.observing import ObservationWrapper

__all__ = ["ObservationWrapper"]

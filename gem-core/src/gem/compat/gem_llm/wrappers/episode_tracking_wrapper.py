"""`gem.wrappers.episode_tracking_wrapper`, as in gem-llm."""

from __future__ import annotations

from gem.compat._tracking import EpisodeTrackingWrapper

__all__ = ["EpisodeTrackingWrapper"]

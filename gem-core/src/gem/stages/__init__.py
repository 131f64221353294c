"""Where the environments of a run live: in this process, or in workers."""

from __future__ import annotations

from gem.stages.base import Stage, StagedEnv, StoppedError

__all__ = ["Stage", "StagedEnv", "StoppedError"]

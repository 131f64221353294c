"""`gem.core`, as in gem-llm."""

from __future__ import annotations

from gem.compat import ActType, Env, EnvWrapper, ObsType

__all__ = ["ActType", "Env", "EnvWrapper", "ObsType"]

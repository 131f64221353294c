"""`gem.core`, as in gem-llm."""

from __future__ import annotations

from gem.compat import Env, EnvWrapper
from gem.content import Action as ActType
from gem.content import Observation as ObsType

__all__ = ["ActType", "Env", "EnvWrapper", "ObsType"]

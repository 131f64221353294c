"""`gem.core`, as in gem-llm."""

from __future__ import annotations

from gem.compat import EnvWrapper
from gem.content import Action as ActType
from gem.content import Observation as ObsType
from gem.env._env import Env

__all__ = ["ActType", "Env", "EnvWrapper", "ObsType"]

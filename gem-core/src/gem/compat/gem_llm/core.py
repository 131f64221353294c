"""`gem.core`, as in gem-llm."""

from __future__ import annotations

from gem.compat import Env, EnvWrapper

__all__ = ["Env", "EnvWrapper"]

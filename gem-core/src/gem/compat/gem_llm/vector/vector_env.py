"""`gem.vector.vector_env`, as in gem-llm."""

from __future__ import annotations

from gem.compat._vectors import AutoresetMode
from gem.vector._base import VectorEnv

__all__ = ["AutoresetMode", "VectorEnv"]

"""`gem.vector.vector_env`, as in gem-llm."""

from __future__ import annotations

from gem.compat.vectors import AutoresetMode, VectorEnv

__all__ = ["AutoresetMode", "VectorEnv"]

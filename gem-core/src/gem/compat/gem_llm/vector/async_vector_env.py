"""`gem.vector.async_vector_env`, as in gem-llm."""

from __future__ import annotations

from gem.compat._vectors import AsyncVectorEnv

__all__ = ["AsyncVectorEnv"]

"""`gem.vector.sync_vector_env`, as in gem-llm."""

from __future__ import annotations

from gem.compat._vectors import SyncVectorEnv

__all__ = ["SyncVectorEnv"]

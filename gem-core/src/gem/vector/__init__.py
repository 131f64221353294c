"""Many environments stepped together. `make_vec` builds them; the backend is one word."""

from __future__ import annotations

from gem.vector.base import AutoReset, VectorEnv, VectorStep
from gem.vector.making import make_vec
from gem.vector.sync import SyncVectorEnv

__all__ = ["AutoReset", "SyncVectorEnv", "VectorEnv", "VectorStep", "make_vec"]

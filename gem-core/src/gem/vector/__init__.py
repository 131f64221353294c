"""Many environments stepped together. `make_vec` builds them; the backend is one word."""

from __future__ import annotations

from gem.vector.base import AutoReset, IndexedStep, VectorEnv, VectorStep
from gem.vector.local import SyncVectorEnv, ThreadVectorEnv
from gem.vector.making import make_vec

__all__ = [
    "AutoReset",
    "IndexedStep",
    "SyncVectorEnv",
    "ThreadVectorEnv",
    "VectorEnv",
    "VectorStep",
    "make_vec",
]

# The modules that gem-llm had here: see `gem.compat`.
__path__.append(f"{__path__[0].rpartition('/')[0]}/compat/gem_llm/vector")

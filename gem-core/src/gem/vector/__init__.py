"""Many environments stepped together. `make_vec` builds them; the backend is one word.

It needs numpy, which core's extra `vector` brings: MissingRequirement says so as this is imported.
"""

from __future__ import annotations

from gem.registry._importing import check_requirements

# Before the imports below, of which the first would raise Python's error for what is absent.
check_requirements(("numpy>=1.26",), subject="gem.vector", of="gem-core")

from gem.vector._base import AutoReset, IndexedStep, VectorEnv, VectorStep
from gem.vector._making import SyncVectorEnv, ThreadVectorEnv, make_vec

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

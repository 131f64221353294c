"""Tools that a policy may call, and the wrapper that lets it, for GEM.

Importing this package costs nothing: each module loads what it needs on first use.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__: list[str] = []

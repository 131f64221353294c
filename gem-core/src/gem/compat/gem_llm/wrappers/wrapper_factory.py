"""`gem.wrappers.wrapper_factory`, as in gem-llm."""

from __future__ import annotations

from gem.compat import get_wrapper_fns
from gem.compat._wrapper_factory import WRAPPER_FACTORY

__all__ = ["WRAPPER_FACTORY", "get_wrapper_fns"]

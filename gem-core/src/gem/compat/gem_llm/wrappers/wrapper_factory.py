"""`gem.wrappers.wrapper_factory`, as in gem-llm."""

from __future__ import annotations

from gem.compat import WRAPPER_FACTORY, get_wrapper_fns

__all__ = ["WRAPPER_FACTORY", "get_wrapper_fns"]

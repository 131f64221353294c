"""`gem.wrappers.wrapper_factory`, as in gem-llm."""

from __future__ import annotations

from gem.compat import get_wrapper_fns

__all__ = ["get_wrapper_fns"]

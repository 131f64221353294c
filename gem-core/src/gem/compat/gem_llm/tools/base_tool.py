"""`gem.tools.base_tool`, as in gem-llm."""

from __future__ import annotations

from gem.compat._tools import BaseTool

__all__ = ["BaseTool"]

"""`gem.tools.tool_env_wrapper`, as in gem-llm."""

from __future__ import annotations

from gem.compat._tools import ToolEnvWrapper

__all__ = ["ToolEnvWrapper"]

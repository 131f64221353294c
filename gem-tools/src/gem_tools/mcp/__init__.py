"""MCP: tools that servers offer, each server held once a process and shared by all episodes.

Importing this package imports nothing of the SDK, which takes 2 s.
"""

from __future__ import annotations

from gem_tools.mcp.errors import McpUnavailable
from gem_tools.mcp.toolset import McpTool, McpTools

__all__ = ["McpTool", "McpTools", "McpUnavailable"]

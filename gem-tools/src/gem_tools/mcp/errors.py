"""What can go wrong with a server, below `gem.GemError`."""

from __future__ import annotations

from gem.errors import GemError

__all__ = ["McpUnavailable"]


class McpUnavailable(GemError):
    """The MCP server that `server` names cannot be started, has ended, or makes no sense."""

    def __init__(self, message: str, *, server: str) -> None:
        super().__init__(message)
        self.server = server

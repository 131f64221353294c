"""`gem.tools.mcp_server.time_mcp`, as in gem-llm: a pack provides its names; it can be run."""

from __future__ import annotations

from gem.compat._provided import names_of

__getattr__ = names_of("gem.tools.mcp_server.time_mcp")

if __name__ == "__main__":
    __getattr__("main")()

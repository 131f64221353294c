"""What search adds to `gem-env`: the commands `build-search` and `serve-search`."""

from __future__ import annotations

from typing import Any

from gem.hooks import hookimpl
from gem_tools.search.cli import options

__all__ = ["gem_cli_commands"]


@hookimpl
def gem_cli_commands(subparsers: Any) -> None:
    """Add `gem-env build-search` and `gem-env serve-search`."""
    options.add_build(subparsers)
    options.add_serve(subparsers)

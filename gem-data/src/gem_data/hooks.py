"""What this distribution adds to `gem-env`: the command `data`."""

from __future__ import annotations

from typing import Any

from gem.hooks import hookimpl
from gem_data.cli import data

__all__ = ["gem_cli_commands"]


@hookimpl
def gem_cli_commands(subparsers: Any) -> None:
    """Add `gem-env data`."""
    data.add_command(subparsers)

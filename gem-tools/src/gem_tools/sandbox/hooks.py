"""What the sandbox adds to `gem-env`: the command `sandbox`."""

from __future__ import annotations

from typing import Any

from gem.hooks import hookimpl
from gem_tools.sandbox.cli.options import add_command

__all__ = ["gem_cli_commands"]


@hookimpl
def gem_cli_commands(subparsers: Any) -> None:
    """Add `gem-env sandbox`."""
    add_command(subparsers)

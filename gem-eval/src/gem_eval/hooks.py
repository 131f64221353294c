"""What this distribution adds to `gem-env`: the commands `eval` and `report`."""

from __future__ import annotations

from typing import Any

from gem.hooks import hookimpl
from gem_eval.cli import options, report

__all__ = ["gem_cli_commands"]


@hookimpl
def gem_cli_commands(subparsers: Any) -> None:
    """Add `gem-env eval` and `gem-env report`."""
    options.add_command(subparsers)
    report.add_command(subparsers)

"""What this distribution adds to `gem-env`: its commands."""

from __future__ import annotations

from typing import Any

from gem.hooks import hookimpl
from gem_eval.cli import branch, compare, export, find, options, plot, report, view

__all__ = ["gem_cli_commands"]


@hookimpl
def gem_cli_commands(subparsers: Any) -> None:
    """Add a command each."""
    options.add_command(subparsers)
    report.add_command(subparsers)
    compare.add_command(subparsers)
    find.add_command(subparsers)
    branch.add_command(subparsers)
    export.add_command(subparsers)
    view.add_command(subparsers)
    plot.add_command(subparsers)

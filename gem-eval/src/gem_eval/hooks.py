"""What this distribution adds to `gem-env`: its commands, and a reader of foreign logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gem.hooks import hookimpl
from gem_eval.cli import branch, compare, export, find, league, noise, options, plot, report, view

__all__ = ["gem_cli_commands", "gem_log_readers"]


@hookimpl
def gem_cli_commands(subparsers: Any) -> None:
    """Add a command each."""
    options.add_command(subparsers)
    report.add_command(subparsers)
    compare.add_command(subparsers)
    league.add_command(subparsers)
    noise.add_command(subparsers)
    find.add_command(subparsers)
    branch.add_command(subparsers)
    export.add_command(subparsers)
    view.add_command(subparsers)
    plot.add_command(subparsers)


@hookimpl
def gem_log_readers(readers: list[Callable[..., Any]]) -> None:
    """Have `gem-env replay` read what it cannot read itself."""
    from gem_eval.exporting import atif_reading

    readers.append(atif_reading.read)

"""What this distribution adds to `gem-env`: its commands."""

from __future__ import annotations

from typing import Any

from gem.hooks import hookimpl
from gem_baselines.cli import doctor, gradients, options, yardstick

__all__ = ["gem_cli_commands"]


@hookimpl
def gem_cli_commands(subparsers: Any) -> None:
    """Add a command each."""
    doctor.add_command(subparsers)
    options.add_command(subparsers)
    gradients.add_command(subparsers)
    yardstick.add_command(subparsers)

"""The options of `gem-env sandbox`: argparse alone, so that setting `gem-env` up stays cheap."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_command"]

_DESCRIPTION = """\
Say which sandbox runs programs on this machine, and why, and try its walls one by one. The exit
status is 1 if one of them does not hold, 2 if the sandbox cannot be used here at all.
"""
_EXAMPLES = """\
examples:
  gem-env sandbox
  gem-env sandbox --backend process       # for programs that are clumsy, not hostile
"""


def add_command(commands: Any) -> None:
    """Add `sandbox` to the commands."""
    parser = commands.add_parser(
        "sandbox",
        help="say what runs programs here, and try its walls",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--backend", default="bwrap", metavar="NAME", help="another one than bwrap, the default"
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from gem_tools.sandbox.cli.sandbox import run  # asyncio and the backend

    return run(options)

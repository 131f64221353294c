"""Options that several commands share, and how their text becomes values."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from gem.errors import BadArguments

__all__ = ["OWN", "add_making", "env_kwargs", "find_modules_here", "wrapper_list"]

OWN = "./try.py:Parity of a file or acme.words:Spell of a module"
"""How help shows what names an environment that is in no pack."""


def add_making(parser: argparse._ActionsContainer) -> None:
    """Add the options that say how an environment is made. They are values once they are read."""
    parser.add_argument(
        "--env-kwargs",
        metavar="JSON",
        type=env_kwargs,
        default="{}",
        help="arguments of the environment",
    )
    parser.add_argument(
        "--wrappers",
        metavar="A,B",
        type=wrapper_list,
        default="",
        help="wrappers around it, the innermost first; those with arguments as a JSON list: "
        """'["concat", {"id": "time_limit", "max_turns": 3}]'""",
    )


def find_modules_here() -> None:
    """Let `module:Class` find a module in the current folder, after all others."""
    # Last: a file that somebody calls `random.py` here must not stand for Python's own.
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)


def env_kwargs(text: str) -> dict[str, Any]:
    """Read --env-kwargs. Raises BadArguments on anything but a JSON object."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error)
    else:
        if isinstance(values, dict):
            return values
        reason = f"it is a {type(values).__name__}"
    raise BadArguments(
        f"--env-kwargs {text!r:.80} is not a JSON object ({reason}). "
        """Write it as '{"max_turns": 5}'.""",
        subject="--env-kwargs",
    )


def wrapper_list(text: str) -> list[Any]:
    """Read --wrappers: ids with commas between, or a JSON list of ids and objects with an `id`.

    >>> wrapper_list("concat, record")
    ['concat', 'record']
    >>> wrapper_list('[{"id": "time_limit", "max_turns": 3}]')
    [{'id': 'time_limit', 'max_turns': 3}]
    """
    if not text.lstrip().startswith("["):
        return [name.strip() for name in text.split(",") if name.strip()]
    try:
        layers: list[Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadArguments(
            f"--wrappers {text!r} is not JSON ({error}). Write ids with commas between, or a list "
            """such as '["concat", {"id": "time_limit", "max_turns": 3}]'.""",
            subject="--wrappers",
        ) from error
    return layers

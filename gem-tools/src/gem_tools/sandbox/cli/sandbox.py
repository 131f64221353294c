"""`gem-env sandbox`: which backend is active, why, and whether its walls hold.

Exit status: 0 all walls hold, 1 one does not, 2 the backend cannot be used here.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import warnings
from dataclasses import asdict

from gem.cli import columns, one_line
from gem_tools.sandbox.backends import make_sandbox
from gem_tools.sandbox.checking import Wall, check_walls
from gem_tools.sandbox.errors import SandboxWarning

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Show what the options ask for and return the exit status."""
    return asyncio.run(_run(options.backend, as_json=options.json))


async def _run(backend: str, *, as_json: bool) -> int:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SandboxWarning)
        sandbox = make_sandbox(backend)
    for warning in caught:
        print(f"gem-env: {one_line(str(warning.message))}", file=sys.stderr)
    if not as_json:
        print(f"{sandbox.name}: {sandbox.description}\n", flush=True)
    walls = []
    try:
        async for wall in check_walls(sandbox):
            walls.append(wall)
            if not as_json:
                print(columns([_row(wall)]), flush=True)
    finally:
        await sandbox.aclose()
    if as_json:
        answer = {"backend": sandbox.name, "description": sandbox.description}
        print(json.dumps({**answer, "walls": [asdict(wall) for wall in walls]}, indent=2))
    return 0 if all(wall.holds for wall in walls) else 1


def _row(wall: Wall) -> tuple[str, str]:
    verdict = "holds" if wall.holds else "FALLS"
    return (verdict, wall.name if wall.holds else f"{wall.name}: {wall.what_happened}")

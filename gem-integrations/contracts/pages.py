"""The commands that docs/trainers gives, and what the scripts they name would run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

__all__ = ["EXAMPLES", "ROOT", "arguments_of", "launched"]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "trainers"
_CALL = "a call:"


def arguments_of(script: str, page: str = "one-gpu.md") -> list[list[str]]:
    """Return the arguments of each command of a page that runs a script of the examples."""
    text = (ROOT / "docs" / "trainers" / page).read_text(encoding="utf-8").replace("\\\n", " ")
    found = re.findall(rf"^.*examples/trainers/{re.escape(script)}(?: (.*?))?$", text, re.MULTILINE)
    return [shlex.split(each, comments=True) for each in found]


def launched(folder: Path, script: str, arguments: list[str], **variables: str) -> list[str]:
    """Run a script in a folder, and return the arguments of the last program that it would start.

    Programs that need a GPU, or write, only say what they were given.
    """
    for name in ("python", "torchrun"):
        program = folder / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "{_CALL}" "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", str(EXAMPLES / script), *arguments],
        env={"PATH": path, **variables},
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    last = len(lines) - lines[::-1].index(_CALL)
    return lines[last:]

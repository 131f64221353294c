"""Write docs/cli.md from the help of every `gem-env` command; with --check only compare.

Run it with `python docs/generate_cli.py [--check]`, where every distribution is installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

# The root is where `docs` is found, here and by a type checker.
sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.generated import update

PAGE = Path(__file__).with_name("cli.md")
HEAD = """\
# The command line

Install: `pip install .` in a virtual environment, from the checkout
([all ways](../README.md#install)).

`gem-env` is the same as `python -m gem`. This page is written by `python docs/generate_cli.py`.
Exit status: 0 done, 1 the thing checked did not hold, 2 wrong use, 130 interrupted.
"""


def help_of(*words: str) -> str:
    """Return what a command prints for --help, at a width of 100."""
    command = [sys.executable, "-m", "gem", *words, "--help"]
    variables = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return done.stdout.rstrip()


def commands(top: str) -> list[str]:
    """Return the names of the commands that the top help lists."""
    listing = top.partition("COMMAND\n")[2].partition("\n\n")[0]
    return re.findall(r"^ {4}([\w-]+)(?: |$)", listing, re.MULTILINE)


def page() -> str:
    """Return the whole page."""
    top = help_of()
    sections = [HEAD, f"```text\n{top}\n```\n"]
    sections += [f"## gem-env {name}\n\n```text\n{help_of(name)}\n```\n" for name in commands(top)]
    return "\n".join(sections)


if __name__ == "__main__":
    sys.exit(update(PAGE, page(), script=Path(__file__).name))

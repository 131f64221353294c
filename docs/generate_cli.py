"""Write docs/cli.md from the help of every `gem-env` command; with --check only compare.

Run it with `python docs/generate_cli.py [--check]`, where every distribution is installed.
"""

from __future__ import annotations

import io
import os
import re
import runpy
import sys
from contextlib import redirect_stdout, suppress
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
Exit status: 0 done, 1 the thing checked did not hold, 2 wrong use, 3 undecided (`compare`, and
`eval --until decided`), 130 interrupted, 141 nobody reads the output any more, as after `| head`.
"""


def help_of(*words: str) -> str:
    """Return what a command prints for --help, at a width of 100."""
    printed = io.StringIO()
    own = sys.argv
    sys.argv = ["gem-env", *words, "--help"]
    try:
        with redirect_stdout(printed), suppress(SystemExit):
            runpy.run_module("gem", run_name="__main__")  # in this process: there are many commands
    finally:
        sys.argv = own
    return printed.getvalue().rstrip()


def commands(top: str) -> list[str]:
    """Return the names of the commands that the top help lists."""
    listing = top.partition("COMMAND\n")[2].partition("\n\n")[0]
    return re.findall(r"^ {4}([\w-]+)(?: |$)", listing, re.MULTILINE)


def page() -> str:
    """Return the whole page."""
    os.environ.update(COLUMNS="100", NO_COLOR="1")
    top = help_of()
    sections = [HEAD, f"```text\n{top}\n```\n"]
    sections += [f"## gem-env {name}\n\n```text\n{help_of(name)}\n```\n" for name in commands(top)]
    return "\n".join(sections)


if __name__ == "__main__":
    sys.exit(update(PAGE, page(), script=Path(__file__).name))

"""Print what was found for a person: how often, then the newest examples with their places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import IO

from rich.console import Console
from rich.text import Text

from gem.cli import one_line
from gem_eval.finding.installed import InstalledFinder
from gem_eval.finding.report import Found, FoundExample, FoundShare
from gem_eval.short_names import short_names
from gem_eval.tables import Row, console_for, print_table, tables_within
from gem_eval.wording import counted

__all__ = ["print_finders", "print_found"]

_WORDS = ("finder", "run", "environment", "policy", "brought by", "what is odd")


def print_found(found: Found, file: IO[str]) -> None:
    """Print counts, examples and what failed."""
    console = console_for(file)
    runs = ", ".join(found.runs)
    odd = f"{found.with_findings:,} of {counted(found.episodes, 'episode')} with findings"
    _print_line(console, f"{runs}: {odd}", style="bold")
    rows = _rows(found)
    if rows:
        console.print()
        _print_rows(console, rows, ("finder",))
        for finder, examples in groupby(found.newest, key=lambda example: example.finder):
            _print_examples(console, finder, list(examples), has_runs=len(found.runs) > 1)
        console.print()
        _print_line(console, "In brackets: 95% intervals. A finding is a hint, and no verdict.")
    for problem in found.problems:
        _print_line(console, problem)


def print_finders(
    finders: Sequence[InstalledFinder], problems: Sequence[str], file: IO[str]
) -> None:
    """Print the installed finders, and what could not be loaded."""
    console = console_for(file)
    rows = [
        {
            "finder": each.finder.id,
            "brought by": one_line(each.distribution),
            "what is odd": one_line(each.finder.summary),
        }
        for each in finders
    ]
    print_table(console, rows, _WORDS)
    for problem in problems:
        _print_line(console, problem)


def _rows(found: Found) -> list[Row]:
    names = short_names({share.policy for share in found.shares})
    return [
        {
            "finder": share.finder,
            **({"run": one_line(share.run)} if len(found.runs) > 1 else {}),
            "environment": one_line(share.env_id),
            "policy": one_line(names[share.policy]),
            "episodes": f"{share.found} of {share.episodes}",
            "share": _share(share),
        }
        for share in found.shares
        if share.found
    ]


def _share(share: FoundShare) -> str:
    assert share.share is not None, "there are episodes in which something was found"
    assert share.ci95 is not None, "as above"
    low, high = share.ci95
    return f"{share.share:.3f} [{low:.3f}, {high:.3f}]"


def _print_examples(
    console: Console, finder: str, examples: Sequence[FoundExample], *, has_runs: bool
) -> None:
    console.print()
    _print_line(console, f"{finder}, the newest:")
    for example in examples:
        run = f"{example.run} " if has_runs else ""
        turn = "" if example.turn is None else f", turn {example.turn + 1}"
        where = f"seed {example.seed}" if example.task is None else f"task {example.task}"
        what = f"{example.env_id}, {where}"
        console.print(
            Text(f"  {one_line(f'{run}line {example.line}{turn} ({what}): {example.evidence}')}"),
            soft_wrap=True,
        )


def _print_rows(console: Console, rows: Sequence[Row], names: Sequence[str]) -> None:
    for number, table in enumerate(tables_within(console.width, rows, names)):
        if number:
            console.print()
        print_table(console, table, _WORDS)


def _print_line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(one_line(text), style=style), soft_wrap=True)

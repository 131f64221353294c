"""Print a comparison for a person: the verdict in words, its figures, and what flipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO

from rich.console import Console
from rich.text import Text

from gem.cli import one_line
from gem_eval.comparing.results import Comparison, Difference, Estimated, Flip, Metric, Unpaired
from gem_eval.tables import Row, console_for, print_table, tables_within
from gem_eval.wording import counted, plural, written_chance

__all__ = ["print_comparison"]

_UNITS: dict[Metric, str] = {"success": "success", "return": "mean return"}
_WORDS = ("environment", "flipped", "where", "lines of the logs")


def print_comparison(comparison: Comparison, file: IO[str], *, flips: int = 10) -> None:
    """Print each candidate beside the baseline, with at most `flips` flipped episodes of each."""
    console = console_for(file)
    for number, difference in enumerate(comparison.differences):
        if number:
            console.print()
        _print_difference(console, comparison, difference, flips)
    console.print()
    if comparison.groups:
        _print_line(console, "Groups that cannot be told apart, by all pairs (Holm):")
        for group in comparison.groups:
            _print_line(console, f"  {', '.join(group)}")
    if comparison.elsewhere:
        _print_line(
            console,
            f"Not compared: {', '.join(comparison.elsewhere)}, for {comparison.baseline} sat at "
            "other seats.",
        )
    for unmatched in comparison.unmatched:
        _print_line(console, f"Not compared: {unmatched.name} ({unmatched.why}).")
        for unpaired in unmatched.unpaired:
            _print_line(console, _unpaired(comparison, unmatched.name, unpaired))
    pairs_of = comparison.pairs_of
    how = ", beside the other policy's of the same sampling seed" if pairs_of == "child" else ""
    _print_line(
        console,
        f"In brackets: 95% intervals. Each {pairs_of} counts once{how}; {_tests(comparison)}.",
    )


def _print_difference(
    console: Console, comparison: Comparison, difference: Difference, flips: int
) -> None:
    _print_line(console, _sentence(comparison, difference), style="bold")
    console.print()
    rows = [
        {"environment": one_line(env), **_figures(comparison, each)}
        for env, each in difference.by_env.items()
    ]
    if len(rows) > 1:
        rows.append({"environment": "all", **_figures(comparison, difference.over_all)})
    _print_rows(console, rows, "environment")
    for note in _notes(comparison, difference):
        _print_line(console, note)
    shown = difference.flips[:flips]
    if shown:
        console.print()
        _print_line(console, _how_many_flipped(difference.flips, len(shown)))
        _print_rows(console, [_flip_row(flip) for flip in shown], "flipped")


def _print_rows(console: Console, rows: Sequence[Row], name: str) -> None:
    for number, table in enumerate(tables_within(console.width, rows, (name,))):
        if number:
            console.print()
        print_table(console, table, _WORDS)


def _print_line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(one_line(text), style=style), soft_wrap=True)


def _sentence(comparison: Comparison, difference: Difference) -> str:
    """Give the verdict in words, with what decides it: the interval for SAME, else the test."""
    unit = _UNITS[comparison.metric]
    over_all = difference.over_all
    both = f"{difference.candidate} beside {comparison.baseline}"
    tests = len(comparison.differences)
    # A bound stays one where it is corrected.
    chance = written_chance(difference.p_holm, is_bound=over_all.p_is_bound)
    chance = f"p {chance}" if chance.startswith("<") else f"p = {chance}"
    if tests > 1:
        chance = f"{chance}, Holm for {tests}"
    what = f"{unit} {_signed(over_all)} over {counted(over_all.tasks, comparison.pairs_of)}"
    if difference.verdict == "SAME":
        return f"SAME: {both}: {what}, all of it within {comparison.tolerance:g}."
    return f"{difference.verdict}: {both}: {what} ({chance})."


def _figures(comparison: Comparison, each: Estimated) -> Row:
    return {
        plural(comparison.pairs_of): str(each.tasks),
        "baseline": f"{each.baseline_mean:.3f}",
        "candidate": f"{each.candidate_mean:.3f}",
        "difference": _signed(each),
        "won": str(each.wins),
        "lost": str(each.losses),
        "p": written_chance(each.p_value, is_bound=each.p_is_bound),
    }


def _signed(each: Estimated) -> str:
    if each.difference is None:
        return "-"
    if each.ci95 is None:
        return f"{each.difference:+.3f}"
    low, high = each.ci95
    return f"{each.difference:+.3f} [{low:+.3f}, {high:+.3f}]"


def _tests(comparison: Comparison) -> str:
    """Say of which kind the tests are whose p-values are printed."""
    estimates = [
        each
        for difference in comparison.differences
        for each in (difference.over_all, *difference.by_env.values())
    ]
    kinds = {each.test for each in estimates}
    if kinds == {"exact"}:
        return "p is an exact test's"
    sampled = "of a test that samples 9,999 flips of signs"
    return f"p is {sampled}" if kinds == {"sampled"} else f"p is exact, or {sampled}"


def _notes(comparison: Comparison, difference: Difference) -> Iterator[str]:
    over_all = difference.over_all
    if difference.verdict == "UNDECIDED" and over_all.detectable is not None:
        yield (
            f"As many {plural(comparison.pairs_of)} would find a difference of "
            f"{over_all.detectable:.3f} 4 times of 5; play more of them to find a smaller one."
        )
    if over_all.saved is not None and over_all.correlation is not None:
        what = {"task": "Playing the same tasks", "child": "Sampling by the same seeds"}
        yield (
            f"{what[comparison.pairs_of]} saved {over_all.saved:.0%} of the variance (correlation "
            f"{over_all.correlation:.2f})."
        )
    if difference.with_errors is not None:
        yield f"With errors as failures: {_signed(difference.with_errors)}."
    for unpaired in difference.unpaired:
        yield _unpaired(comparison, difference.candidate, unpaired)
    for line in difference.caveats:
        yield f"Mind that {line}."


def _unpaired(comparison: Comparison, candidate: str, unpaired: Unpaired) -> str:
    parts = [
        (unpaired.only_baseline, f"only {comparison.baseline} played"),
        (unpaired.only_candidate, f"only {candidate} played"),
        (unpaired.ended_by_error, "of which one side ended by an error"),
    ]
    reasons = ", ".join(f"{count} {reason}" for count, reason in parts if count)
    count = sum(count for count, _ in parts)
    examples = ", ".join(unpaired.examples)
    dots = ", ..." if count > len(unpaired.examples) else ""
    arguments = "" if unpaired.env_kwargs == "{}" else f" {unpaired.env_kwargs}"
    return (
        f"Left out: {counted(count, comparison.pairs_of)} of {unpaired.env_id}{arguments}: "
        f"{reasons} ({examples}{dots})."
    )


def _how_many_flipped(flips: Sequence[Flip], shown: int) -> str:
    regressions = sum(flip.is_regression for flip in flips)
    rest = "" if shown == len(flips) else f"; the first {shown}"
    return f"Flipped: {regressions} lost, {len(flips) - regressions} gained{rest}:"


def _flip_row(flip: Flip) -> Row:
    where = f"seed {flip.seed}" if flip.task is None else f"task {flip.task}, seed {flip.seed}"
    where = where if flip.seat is None else f"{where} at {flip.seat}"
    repeat = f", repeat {flip.repeat}" if flip.repeat else ""
    return {
        "flipped": "lost" if flip.is_regression else "gained",
        "environment": one_line(flip.env_id),
        "where": f"{where}{repeat}",
        "lines of the logs": f"{flip.baseline_line} and {flip.candidate_line}",
    }

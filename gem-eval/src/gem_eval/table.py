"""Print a summary for a person: the figures with their intervals, then what to run next."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, NamedTuple

from rich.console import Console
from rich.text import Text

from gem.cli import one_line
from gem_eval.seat_table import SEAT_NAMES, SEAT_NOTE, seat_rows
from gem_eval.short_names import short_names
from gem_eval.summary import Decision, Result, Summary
from gem_eval.tables import Row, Table, console_for, print_table, tables_within, width_of
from gem_eval.variants import Sensitivity
from gem_eval.wording import counted
from gem_eval.yardsticks import Normalised, Scaled

__all__ = ["next_lines", "print_summary"]

_NAMES = ("environment", "policy")
_LEFT = (*_NAMES, "stop reasons")  # what is words; figures stand to the right
_SHOWN = 300
_SLOW_S = 0.1  # of an episode that took less nobody asks how long it took


class _Section(NamedTuple):
    """Tables below one another, under a title."""

    title: str
    tables: Sequence[Table]


def print_summary(
    summary: Summary,
    file: IO[str],
    *,
    offers_next: bool = True,
    normalised: Normalised | None = None,
) -> None:
    """Print a table, or several below one another where the width asks for it; no cell is cut.

    With `normalised` a column has the returns on the scale of yardsticks, and notes say why not.
    Where the names beside one figure are too wide, each environment has its tables; where a
    policy's name alone is, a terminal gets blocks. A file or a pipe is 120 columns wide, unless
    COLUMNS says otherwise.
    """
    console = console_for(file)
    names = short_names(
        [
            *(result.policy for result in summary.results),
            *(result.policy for result in summary.seats),
        ]
    )
    rows = _with_references(
        _rows(summary.results, names, normalised), _reference_rows(summary.references)
    )
    together = [_Section("", tables_within(console.width, rows, _NAMES))]
    apart = [
        _Section(env, tables_within(console.width, _of(env, rows), ("policy",)))
        for env in dict.fromkeys(row["environment"] for row in rows)
    ]
    if _fit(together, console):
        _print_sections(console, together)
    elif _fit(apart, console):
        _print_sections(console, apart)
    elif console.is_terminal:
        _print_blocks(console, rows)
    else:
        _print_sections(console, together)
    if summary.seats:
        rows = seat_rows(summary.seats, names, _figure, _short)
        there = [name for name in SEAT_NAMES if name in rows[0]]
        for table in tables_within(console.width, rows, there):
            console.print()
            print_table(console, table, there)
    for sensitivity in summary.sensitivities:
        console.print()
        _print_sensitivity(console, sensitivity, one_line(names[sensitivity.policy]))
    for line in _notes(summary, names, normalised, offers_next=offers_next):
        console.print(Text(line), soft_wrap=True)


def _print_sensitivity(console: Console, found: Sensitivity, policy: str) -> None:
    """Print the returns by the value of an argument, and what they differ by."""
    name = one_line(found.argument)
    rows = []
    for variant in found.variants:
        mark = ""
        if found.worst != found.best:
            mark = "worst" if variant == found.worst else "best" if variant == found.best else ""
        rows.append(
            {
                name: one_line(json.dumps(variant.value)),
                "return": _figure(variant.mean_return, variant.mean_return_ci95, 3),
                "": mark,
            }
        )
    tasks = counted(found.tasks, "task")
    title = f"{policy} on {one_line(found.env_id)} by {name}, the same {tasks} each"
    console.print(Text(title, style="bold"), soft_wrap=True)
    print_table(console, rows, (name, ""))
    spread = _figure(found.sensitivity, found.sensitivity_ci95, 3)
    line = f"Sensitivity to {name}: {spread}, the standard deviation of a task's return over it."
    if found.left_out:
        line = f"{line} Left out: {counted(found.left_out, 'task')} not played whole with each."
    console.print(Text(line), soft_wrap=True)


def _of(env: str, rows: Table) -> Table:
    return [row for row in rows if row["environment"] == env]


def _fit(sections: Sequence[_Section], console: Console) -> bool:
    return all(width_of(table) <= console.width for section in sections for table in section.tables)


def _print_sections(console: Console, sections: Sequence[_Section]) -> None:
    is_first = True
    for section in sections:
        title = section.title
        for table in section.tables:
            if not is_first:
                console.print()
            is_first = False
            if title:
                console.print(Text(title, style="bold"), soft_wrap=True)
                title = ""  # above the first of its tables alone
            print_table(console, table, _LEFT)


def _print_blocks(console: Console, rows: Table) -> None:
    for row in rows:
        title = "  ".join(row[name] for name in _NAMES)
        console.print(Text(title, style="bold"), soft_wrap=True)
        for name, figure in row.items():
            if name not in _NAMES:
                console.print(Text(f"  {name:<15}{figure}"), soft_wrap=True)
        console.print()


def _rows(
    results: Sequence[Result], names: Mapping[str, str], normalised: Normalised | None
) -> list[Row]:
    """Return a row for each result. A figure that says nothing in any of them is left out."""
    scaled = [None] * len(results) if normalised is None else normalised.scaled
    rows = [_row(result, names, at) for result, at in zip(results, scaled, strict=True)]
    silent = {
        "with errors": all(not result.errors for result in results),
        "tokens in/out": all(result.tokens is None for result in results),
        "cost": all(result.cost is None for result in results),
        "s/episode": all(_seconds(result) < _SLOW_S for result in results),
        "cut answers": all(not result.answers for result in results),
        "normalised": normalised is None,
        "stop reasons": all(result.stop_reasons.keys() <= {"terminated"} for result in results),
    }
    telling_rows: list[Row] = []
    for row in rows:
        telling = {name: figure for name, figure in row.items() if not silent.get(name, False)}
        telling_rows.append(telling)
    return telling_rows


def _reference_rows(results: Sequence[Result]) -> list[Row]:
    """Return a row for each reference policy: what is asked of it are its figures alone."""
    names = {result.policy: f"{result.policy} (reference)" for result in results}
    return [_row(result, names, None) for result in results]


def _with_references(rows: Sequence[Row], references: Sequence[Row]) -> list[Row]:
    """Put the references of an environment under its policies, with the columns of these."""
    together: list[Row] = []
    for env in dict.fromkeys(row["environment"] for row in rows):
        own = _of(env, rows)
        together += own
        for reference in _of(env, references):
            together.append({name: reference.get(name, "-") for name in own[0]})
    return together


def _row(result: Result, names: Mapping[str, str], scaled: Scaled | None) -> Row:
    all_ci95 = result.success_rate_with_errors_ci95
    row = {
        "environment": one_line(result.env_id),
        "policy": one_line(names[result.policy]),
        "episodes": str(result.episodes),
        "success": _figure(result.success_rate, result.success_rate_ci95, 3),
        "errors": str(result.errors),
        "with errors": _figure(result.success_rate_with_errors, all_ci95, 3),
        "return": _figure(result.mean_return, result.mean_return_ci95, 3),
        "normalised": "-" if scaled is None else _figure(scaled.value, scaled.ci95, 3),
        "turns": _figure(result.mean_turns, result.mean_turns_ci95, 2),
    }
    if len(result.pass_at_k) > 1:
        most = max(result.pass_at_k, key=int)
        row[f"pass@{most}"] = _figure(result.pass_at_k[most], result.pass_at_k_ci95[most], 3)
        for k in sorted(result.pass_hat_k, key=int):
            if k != "1":  # which is the success
                row[f"pass^{k}"] = _figure(result.pass_hat_k[k], result.pass_hat_k_ci95[k], 3)
    tokens = result.tokens
    row["tokens in/out"] = "-"
    if tokens is not None:
        row["tokens in/out"] = f"{_short(tokens.prompt)}/{_short(tokens.completion)}"
    row["cost"] = "-" if result.cost is None else f"{result.cost:.4g}"
    row["s/episode"] = f"{_seconds(result):.2f}" if result.episodes else "-"
    row["cut answers"] = f"{result.cut_answers} of {result.answers}" if result.answers else "-"
    row["stop reasons"] = _counts(result.stop_reasons)
    return row


def _counts(reasons: Mapping[str, int]) -> str:
    """Name reasons with how often each was, the most frequent first."""
    ranked = sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{reason} {count}" for reason, count in ranked) or "-"


def _seconds(result: Result) -> float:
    """Return how long an episode waited for policy and environment, in the mean."""
    total_s = result.seconds.policy + result.seconds.environment
    return total_s / result.episodes if result.episodes else 0.0


def _short(count: int) -> str:
    """Write a count with three digits or a bit more.

    >>> _short(999), _short(16_500), _short(2_345_678)
    ('999', '16.5k', '2.3M')
    """
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}{letter}"
    return str(count)


def _figure(value: float | None, interval: tuple[float, float] | None, digits: int) -> str:
    if value is None:
        return "-"
    if interval is None:
        return f"{value:.{digits}f}"
    low, high = interval
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _notes(
    summary: Summary,
    names: Mapping[str, str],
    normalised: Normalised | None,
    *,
    offers_next: bool,
) -> Iterator[str]:
    yield "In brackets: 95% intervals. Episodes that ended by an error count under errors alone."
    if normalised is not None:
        yield "Normalised: the return where random play is 0 and the best play 1."
        yield from (one_line(reason) for reason in normalised.reasons)
    if summary.references:
        yield "Reference: what doing nothing, chance and the solution earn on the same episodes."
    if summary.seats:
        yield SEAT_NOTE
    if summary.errors:
        yield "With errors: success where an error counts as a failure."
    if summary.retried:
        tries = counted(summary.retried, "try")
        yield f"{tries} that ended by an error were made again; the log keeps the first ones too."
    hits = 0 if summary.counters is None else summary.counters.cache_hits
    if hits:
        yield f"{counted(hits, 'answer')} came from the cache, and cost no token."
    yield from (_decision(decision, names) for decision in summary.decisions)
    yield from dict.fromkeys(_repeated(summary.results))  # each environment once
    for name, short in names.items():
        if name != short:
            yield f"{one_line(short)} is {one_line(name)}"
    for result in summary.results:
        if result.first_error is not None:
            what = one_line(result.first_error)[:_SHOWN]
            yield f"The first error of {names[result.policy]} on {result.env_id}: {what}"
    if offers_next:
        yield from next_lines(summary)


def next_lines(summary: Summary) -> Iterator[str]:
    """Yield where a run is, and the commands that come next, below an empty line."""
    folder = shlex.quote(summary.run)
    yield ""
    yield f"Run folder: {summary.run}"
    if summary.errors:
        yield f"Next: gem-env eval --resume {folder} runs again what ended by an error"
        return
    # In the order in which people ask: what happened, who is better, whether it holds.
    yield f"Next: gem-env view {folder}"
    if _has_rivals(summary):
        yield f"      gem-env compare {folder}"
    yield f"      gem-env replay {folder} --verify"


def _has_rivals(summary: Summary) -> bool:
    """Say whether there are two to compare: policies, or those of a line-up that rotates."""
    rotates = any(result.seat is None for result in summary.seats)
    return rotates or len({result.policy for result in summary.results}) > 1


def _decision(decision: Decision, names: Mapping[str, str]) -> str:
    low, high = decision.interval
    found = "-" if decision.difference is None else f"{decision.difference:+.3f}"
    within = "" if decision.verdict != "SAME" else f", all of it within {decision.tolerance:g}"
    return (
        f"{decision.verdict}: {one_line(names[decision.candidate])} beside "
        f"{one_line(names[decision.baseline])}: success {found} [{low:+.3f}, {high:+.3f}] after "
        f"{decision.tasks} tasks, by an interval that holds at every look{within}."
    )


def _repeated(results: Sequence[Result]) -> Iterator[str]:
    """Say where there are fewer tasks than episodes: they tell no more than their tasks."""
    for result in results:
        repeats = max(map(int, result.pass_at_k), default=1)
        if result.tasks is not None and result.episodes > result.tasks * repeats:
            yield (
                f"{result.env_id} has {result.episodes} episodes of {result.tasks} tasks: an "
                "interval counts what is played on one task as alike."
            )

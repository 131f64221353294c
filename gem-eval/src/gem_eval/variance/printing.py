"""Print whose noise a score has: the parts in points, what dominates, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import IO

from rich.text import Text

from gem.cli import one_line
from gem_eval.tables import Row, console_for, print_table, tables_within
from gem_eval.variance.results import Noise, NoisePart, points_of
from gem_eval.wording import counted

__all__ = ["lines_of", "print_noise"]

_MOST_FROM_TASKS = 0.5  # of the variance of a run whose tasks are drawn too


def print_noise(noise: Noise, file: IO[str]) -> None:
    """Print the table of sources, and what it says in words."""
    console = console_for(file)
    console.print(Text(f"Whose noise it is: {_design(noise)}", style="bold"), soft_wrap=True)
    console.print()
    for number, table in enumerate(tables_within(console.width, _rows(noise), ("source",))):
        if number:
            console.print()
        print_table(console, table, ("source",))
    for line in _words(noise):
        console.print(Text(line), soft_wrap=True)


def lines_of(noise: Noise) -> Iterator[str]:
    """Yield the same as plain lines."""
    yield f"{noise.env_id}: {noise.mean:.3f}, {_design(noise)}."
    for row in _rows(noise):
        yield f"  {row['source']:<20} {row['points']:>22} points  {row['share']:>5}"
    yield from _words(noise)


def _design(noise: Noise) -> str:
    seeds = f"{noise.agents} seeds"
    if noise.users > 1:
        seeds = f"{noise.agents} x {noise.users} seeds"
    times = {1: "once", 2: "twice"}.get(noise.judges, f"{noise.judges} times")
    return f"{counted(noise.tasks, 'task')}, {seeds}, each episode graded {times}"


def _rows(noise: Noise) -> list[Row]:
    drawn = {"source": "tasks", "points": _points(noise.tasks_drawn), "share": "-"}
    rows = [drawn, *(_row(name, part) for name, part in noise.parts.items())]
    for name, part in (
        ("all, the same tasks", noise.same_tasks),
        ("all, tasks drawn anew", noise.new_tasks),
    ):
        rows.append({"source": name, "points": _points(part), "share": "-"})
    return rows


def _row(name: str, part: NoisePart) -> Row:
    if part.why_zero:
        points = "unseen" if part.is_unseen else "none"
        return {"source": one_line(name), "points": points, "share": "-"}
    share = "-" if part.share is None else f"{part.share:.0%}"
    return {"source": one_line(name), "points": _points(part), "share": share}


def _points(part: NoisePart) -> str:
    if part.points_ci95 is None:
        return f"{part.points:.2f}"
    low, high = part.points_ci95
    return f"{part.points:.2f} [{low:.2f}, {high:.2f}]"


def _words(noise: Noise) -> Iterator[str]:
    yield (
        f"Points: the standard deviation of the mean of {counted(noise.tasks, 'task')} played "
        "once, in hundredths of the score, by each source alone; in brackets 95% intervals. Share: "
        "of the variance on the same tasks."
    )
    for name, part in noise.parts.items():
        if part.why_zero:
            what = "not seen" if part.is_unseen else "no noise"
            yield f"{one_line(name)}: {what}, for {part.why_zero}."
    same = math.sqrt(2) * noise.same_tasks.points
    anew = math.sqrt(2) * noise.new_tasks.points
    if anew > 0.0:
        yield (
            f"Two runs of these tasks differ by {same:.2f} points (a standard deviation), two of "
            f"tasks drawn anew by {anew:.2f}."
        )
    yield from _advice(noise)
    if noise.left_out:
        yield f"{counted(noise.left_out, 'task')} that an error ended are left out."
    if noise.unfinished:
        yield f"{counted(noise.unfinished, 'task')} that are not finished are left out."


def _advice(noise: Noise) -> Iterator[str]:
    if noise.first is None:
        yield "On the same tasks nothing draws, or no score shows it: only the tasks count."
    else:
        yield _on_the_same_tasks(noise, noise.first)
    between = max(noise.tasks_drawn.variance, 0.0)
    within = max(noise.same_tasks.variance, 0.0)
    if between + within == 0.0:
        return
    share = between / (between + within)
    now = points_of(between + within, noise.tasks)
    more_tasks = points_of((between + within) / 2, noise.tasks)
    more_seeds = points_of(between + within / 2, noise.tasks)
    figures = (
        f"Twice as many tasks bring {now:.2f} points to {more_tasks:.2f}, each task twice with "
        f"fresh seeds to {more_seeds:.2f}"
    )
    what = "more tasks"
    if share <= _MOST_FROM_TASKS:
        what = "where there are no more tasks, more seeds serve"
    yield f"With tasks drawn anew {share:.0%} of the variance is the tasks. {figures}: {what}."


def _on_the_same_tasks(noise: Noise, first: str) -> str:
    """Say who adds most on the same tasks, and what each remedy brings."""
    share = noise.parts[first].share or 0.0
    who = f"On the same tasks {one_line(first)} dominates ({share:.0%} of the variance)"
    if noise.leader is None:
        who = (
            f"On the same tasks {one_line(first)} adds most ({share:.0%} of the variance), and so "
            "few tasks do not tell it from the others"
        )
    remedies = _remedies(noise)
    if not remedies:
        return f"{who}."
    ranked = sorted(remedies.items(), key=lambda remedy: remedy[1])
    now = 100 * noise.deviation(noise.tasks)
    best, least = ranked[0]
    rest = "".join(f", {name} to {points:.2f}" for name, points in ranked[1:])
    return f"{who}: {best} helps most, from {now:.2f} to {least:.2f} points{rest}."


def _remedies(noise: Noise) -> dict[str, float]:
    """Return what the noise on the same tasks comes to by each thing that can be done twice."""
    first, *others = noise.parts
    second = others[0]
    found = {}
    if not noise.parts[first].why_zero:
        name = f"each task with two seeds of {one_line(first)}"
        found[name] = 100 * noise.deviation(noise.tasks, agents=2)
    if not noise.parts[second].why_zero:
        name = f"each task with two seeds of {one_line(second)}"
        found[name] = 100 * noise.deviation(noise.tasks, users=2)
    if not noise.parts[others[-1]].why_zero:
        found["each episode graded twice"] = 100 * noise.deviation(noise.tasks, judges=2)
    return found

"""What the page of trainings shows, as values for its template. Knows nothing about requests."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gem_eval.viewing.rendering import render
from gem_eval.viewing.text import duration, family
from gem_eval.viewing.trainings.arms import Arm, arms_of
from gem_eval.viewing.trainings.curves import (
    MOST_POINTS,
    LearningCurve,
    Points,
    band_text,
    curve_of,
    grid_of,
    on_grid,
)
from gem_eval.viewing.trainings.drawing import HEIGHT, LEFT, WIDTH, Plot, plot_of
from gem_eval.viewing.trainings.query import AXES, TrainingQuery, part_of, title_of
from gem_eval.viewing.trainings.samples import evaluation_rows, samples_of
from gem_eval.viewing.trainings.training import MODES, ViewedTraining
from gem_eval.wording import counted

__all__ = ["live_values", "read_on", "training_page", "training_values"]

_NOTHING = 1e-12  # what rounding leaves of 0
_MOST_ARMS = 8  # of one plot: there are so many kinds of lines
_FACTS = ("env", "policy", "estimator", "gamma", "max_turns", "episodes", "repeats")


class LastValue(NamedTuple):
    """The last mean of an arm, and its band where it has one, as text."""

    mean: str
    band: str


class Panel(NamedTuple):
    """One plot, and what each arm comes to at its end."""

    figure: str
    title: str
    plot: Plot
    readings: tuple[LastValue, ...]
    label: str


class ArmRow(NamedTuple):
    """An arm in the table below the plots. `readings` are of the figures that are plotted."""

    arm: Arm
    updates: str
    cpu: str
    state: str
    readings: tuple[LastValue, ...]


def read_on(trainings: Iterable[ViewedTraining], budget_s: float = 0.5) -> None:
    """Read on in the files of trainings, for about so long: small ones are there at once."""
    until = time.monotonic() + budget_s
    for training in trainings:
        training.refresh(max(until - time.monotonic(), 0.0))


def training_page(
    trainings: Sequence[ViewedTraining],
    query: TrainingQuery,
    *,
    theme: str = "",
    several: bool = False,
) -> str:
    """Return the page of those of the trainings that a query asks for."""
    values = training_values(trainings, query)
    return render("training.html", **values, theme=theme, several=several, is_export=False)


def live_values(trainings: Sequence[ViewedTraining], query: TrainingQuery) -> dict[str, Any]:
    """Return what a page asks for while trainings go on: a version, and how far they are."""
    visible = query.visible(trainings)
    return {"version": _version(visible), "state": _state(visible), "text": _progress_text(visible)}


def training_values(trainings: Sequence[ViewedTraining], query: TrainingQuery) -> dict[str, Any]:
    """Return what the page shows."""
    visible = query.visible(trainings)
    every_arm = arms_of(visible)
    arms = every_arm[:_MOST_ARMS]
    known = [*dict.fromkeys(name for training in visible for name in training.figures)]
    figures = query.figures(known)
    # The same of every plot, also while more is being read.
    last = {training.name: training.done for training in visible}
    panels = [_panel(figure, arms, query.axis, last) for figure in figures]
    chosen = _named(visible, query.episodes) or visible[0]
    return {
        "title": f"Training {_heading(every_arm)}",
        "heading": _heading(every_arm),
        "facts": _facts(every_arm),
        "query": query,
        "visible": visible,
        "arms": arms,
        "left_out": len(every_arm) - len(arms),
        "repeated": sum(arm.repeated for arm in arms),
        "panels": panels,
        "rows": [_row(arm, number, panels) for number, arm in enumerate(arms)],
        "band_text": band_text([len(arm.trainings) for arm in arms]),
        "is_averaged": any(training.done > MOST_POINTS for training in visible),
        "axes": AXES,
        "groups": _groups(known, figures),
        "state": _state(visible),
        "version": _version(visible),
        "progress_text": _progress_text(visible),
        "share_done": _share_done(visible),
        "problems": [training for training in visible if training.problem],
        "bad_lines": sum(training.bad_lines for training in visible),
        "chosen": chosen,
        # One that is left out, for a longer one of its seed, is in no arm and has its own name.
        "chosen_arm": next((arm.name for arm in every_arm if chosen in arm.trainings), chosen.name),
        "modes": MODES,
        "evaluations": evaluation_rows(chosen),
        "evaluation_count": len(chosen.evaluations),
        "samples": samples_of(chosen),
        "command": shlex.join(visible[0].folder.record.command) if len(visible) == 1 else "",
        "size": (WIDTH, HEIGHT, LEFT),
    }


def _panel(figure: str, arms: Sequence[Arm], axis: str, last: Mapping[str, int]) -> Panel:
    points = [
        [_points(training, figure, axis, last[training.name]) for training in arm.trainings]
        for arm in arms
    ]
    grid = grid_of([seed for seeds in points for seed in seeds])
    curves = [curve_of([on_grid(seed, grid) for seed in seeds]) for seeds in points]
    plot = plot_of(figure, grid, curves)
    readings = tuple(_reading(curve) for curve in curves)
    title = title_of(figure)
    ends = "; ".join(
        f"{arm.name} {reading.mean}{f' {reading.band}' if reading.band else ''}"
        for arm, reading in zip(arms, readings, strict=True)
    )
    return Panel(figure, title, plot, readings, f"{title} along {AXES[axis]}; at the end {ends}")


def _named(trainings: Sequence[ViewedTraining], name: str) -> ViewedTraining | None:
    return next((training for training in trainings if training.name == name), None)


def _points(training: ViewedTraining, figure: str, axis: str, last: int) -> Points:
    series = training.series(figure, last)
    if series is None:
        return Points(np.empty(0), np.empty(0))
    return Points(training.along(axis, series.updates), series.values)


def _reading(curve: LearningCurve) -> LastValue:
    known = np.flatnonzero(np.isfinite(curve.mean))
    if not len(known):
        return LastValue("-", "")
    last = known[-1]
    band = f"[{_figure(curve.low[last])}, {_figure(curve.high[last])}]"
    return LastValue(_figure(curve.mean[last]), band if len(curve.seeds) > 1 else "")


def _figure(value: float) -> str:
    """Write a value with about three digits.

    >>> _figure(0.93251), _figure(51234.0), _figure(0.00002)
    ('0.933', '51,234', '2.00e-05')
    """
    size = abs(value)
    if size < _NOTHING:
        return "0.000"
    if size >= 1000:
        text = f"{value:,.0f}"
    elif size < 0.001:
        text = f"{value:.2e}"
    else:
        text = f"{value:.3f}"
    return f"\N{MINUS SIGN}{text[1:]}" if text.startswith("-") else text


def _row(arm: Arm, number: int, panels: Iterable[Panel]) -> ArmRow:
    done = sorted({training.done for training in arm.trainings})
    updates = f"{done[0]:,}" if len(done) == 1 else f"{done[0]:,} to {done[-1]:,}"
    spent = [_cpu_s(training) for training in arm.trainings]
    return ArmRow(
        arm,
        updates,
        duration(sum(spent)) if any(spent) else "-",
        _state(arm.trainings),
        tuple(panel.readings[number] for panel in panels),
    )


def _cpu_s(training: ViewedTraining) -> float:
    spent = float(training.along("cpu", np.array([float(training.done)]))[0])
    return spent if math.isfinite(spent) else 0.0  # where no time is known


def _groups(known: Sequence[str], figures: Sequence[str]) -> dict[str, list[tuple[str, str, bool]]]:
    """Return what may be chosen below each heading: figures, their titles, whether they are."""
    groups: dict[str, list[tuple[str, str, bool]]] = {}
    for figure in known:
        option = (figure, title_of(figure).partition(",")[0], figure in figures)
        groups.setdefault(part_of(figure), []).append(option)
    return groups


def _heading(arms: Sequence[Arm]) -> str:
    if len(arms) == 1:
        [arm] = arms
        first = arm.trainings[0].name
        more = len(arm.trainings) - 1
        return first if not more else f"{first} and {counted(more, 'other seed')}"
    envs = {family(_text(arm.trainings[0].experiment.get("env"))) for arm in arms}
    what = counted(len(arms), "arm")
    return f"{what} on {envs.pop()}" if len(envs) == 1 else what


def _facts(arms: Sequence[Arm]) -> list[str]:
    """Return the settings that all arms share, of those that say most."""
    experiments = [arm.trainings[0].experiment for arm in arms]
    facts = []
    for name in _FACTS:
        values = {_text(experiment.get(name)) for experiment in experiments}
        if len(values) == 1 and (value := values.pop()):
            facts.append(value if name in ("env", "policy", "estimator") else f"{name} {value}")
    seeds = [training.seed for arm in arms[:1] for training in arm.trainings]
    are_same = all([training.seed for training in arm.trainings] == seeds for arm in arms)
    if are_same and len(seeds) <= 20:
        facts.append(f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(seeds)}")
    return facts


def _text(value: Any) -> str:
    return "" if value is None else f"{value!s:.80}"


def _state(trainings: Sequence[ViewedTraining]) -> str:
    states = {training.state for training in trainings}
    order = ("reading", "running", "stopped")
    return next((state for state in order if state in states), "finished")


def _version(trainings: Sequence[ViewedTraining]) -> str:
    """Return a word that changes whenever a page of these trainings would."""
    counts = [
        f"{training.editions}.{training.done}.{training.planned}."
        f"{len(training.evaluations)}.{training.bad_lines}"
        for training in trainings
    ]
    return f"{_state(trainings)}-{'-'.join(counts)}"


def _progress_text(trainings: Sequence[ViewedTraining]) -> str:
    done = sum(training.done for training in trainings)
    planned = [training.planned for training in trainings]
    parts = [f"{done:,} updates"]
    if None not in planned:
        parts = [f"{done:,} of {counted(sum(filter(None, planned)), 'update')}"]
    if len(trainings) > 1:
        parts.append(counted(len(trainings), "training"))
    running = sum(training.state == "running" for training in trainings)
    if running and len(trainings) > 1:
        parts.append(f"{running} running")
    return " · ".join(parts)


def _share_done(trainings: Sequence[ViewedTraining]) -> float:
    planned = sum(training.planned or 0 for training in trainings)
    done = sum(training.done for training in trainings)
    return min(done / planned, 1.0) if planned else 0.0

"""The pictures of docs/baselines.md: which curves are drawn, from the results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.baselines.alike import alike
from benchmarks.baselines.arms import read
from benchmarks.baselines.curves import Line, Panel, drawn
from benchmarks.baselines.measured import Measured, measured
from benchmarks.baselines.references import references

from gem_baselines.statistics import interquartile_mean, performance_profile

__all__ = ["pictures", "trl_curves"]

TRL = Path(__file__).parents[1] / "results" / "trl_learning.json"
RETURN = "discounted_return"
TRL_STEPS = 5  # of which a point of its curve is the mean


def pictures() -> dict[str, str]:
    """Return every picture by its name: SVG."""
    found = {
        "many_turns": _algorithms(measured("b_many_turns")),
        "one_turn": _algorithms(measured("c_one_turn")),
        "profiles": [_profile(measured("b_many_turns")), _profile(measured("c_one_turn"))],
        "discount": _discount(),
        "frameworks": _frameworks(),
        "environments": _environments(),
    }
    return {name: drawn(panels) for name, panels in found.items()}


def trl_curves() -> list[list[tuple[float, float]]]:
    """Return the curves that TRL's trainings left: the step, and the mean reward around it."""
    curves = []
    for means in json.loads(TRL.read_text(encoding="utf-8"))["trained"]:
        parts = [means[at : at + TRL_STEPS] for at in range(0, len(means), TRL_STEPS)]
        curves.append(
            [
                ((number + 0.5) * TRL_STEPS, sum(part) / len(part))
                for number, part in enumerate(parts)
            ]
        )
    return curves


def _curve(experiment: Measured, task: str, arm: str, figure: str) -> list[tuple[float, float]]:
    """Return the interquartile mean over seeds at each evaluation."""
    lines = experiment.of(task, arm)
    if not lines:
        return []
    points = []
    for place, point in enumerate(lines[0]["curve"]):
        values = [line["curve"][place]["drawn"][figure] for line in lines]
        points.append((float(point["update"]), float(interquartile_mean([np.array(values)]))))
    return points


def _algorithms(experiment: Measured) -> list[Panel]:
    panels = []
    others = alike(experiment.tasks)
    for task in experiment.tasks:
        lines = [
            Line(name, _curve(experiment, task, name, RETURN))
            for name in experiment.names
            if not name.endswith(", blind") and name not in others
        ]
        blind = _curve(experiment, task, "rebn, blind", RETURN)
        lines.append(Line("rebn, blind", blind, is_dashed=True))
        level = ("random", references()[task]["random"][RETURN])
        panels.append(Panel(f"{task}: discounted return", "updates", lines, level))
    return panels


def _profile(experiment: Measured) -> Panel:
    """Return the share of trainings above each score, over all tasks."""
    thresholds = np.linspace(0, 1, 41)
    lines = []
    others = alike(experiment.tasks)
    for name in experiment.names:
        scores = [experiment.scores(task, name) for task in experiment.tasks]
        if name.endswith(", blind") or name in others or not all(map(len, scores)):
            continue
        shares = performance_profile(scores, thresholds)
        lines.append(Line(name, list(zip(thresholds.tolist(), shares.tolist(), strict=True))))
    return Panel(f"{experiment.title}: share above a score", "(score)", lines)


def _discount() -> list[Panel]:
    experiment = measured("d_discount")
    return [
        Panel(
            f"{task}: turns",
            "updates",
            [Line(name, _curve(experiment, task, name, "turns")) for name in experiment.names],
        )
        for task in experiment.tasks
    ]


def _frameworks() -> list[Panel]:
    experiment = measured("g_frameworks")
    theirs = [Line("TRL, grpo", curve) for curve in trl_curves()]
    ours = [
        Line(f"this project, {name}", _own_curve(line))
        for name in experiment.names
        for line in experiment.of("trl_guess", name)[: len(theirs)]
    ]
    return [Panel("reward, a line a seed", "updates", [*theirs, *ours])]


def _own_curve(line: Any) -> list[tuple[float, float]]:
    return [(float(point["update"]), point["drawn"]["reward"]) for point in line["curve"]]


def _environments() -> list[Panel]:
    return list(_panels_of_table())


def _panels_of_table() -> Iterator[Panel]:
    experiment = measured("h_table")
    for task in read("h_table")["tasks"]:
        lines = [Line(name, _curve(experiment, task, name, RETURN)) for name in experiment.names]
        level = ("random", references()[task]["random"][RETURN])
        yield Panel(f"{task}: discounted return", "updates", lines, level)

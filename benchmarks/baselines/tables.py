"""The tables of docs/baselines.md, from what was measured. Knows nothing about claims or curves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from benchmarks.baselines.alike import alike, label
from benchmarks.baselines.arms import EXPERIMENTS, TUNING, is_tuned, rates, read
from benchmarks.baselines.measured import Estimate, Measured, estimated, measured
from benchmarks.baselines.rates import means_of
from benchmarks.baselines.references import references

from gem_baselines.statistics import probability_of_improvement

__all__ = ["LEARNERS", "NONE", "OF_ENVIRONMENTS", "OPTIMA", "learners", "table", "untrained"]

NONE = ""
"""An empty cell: not run yet."""
OPTIMA = {"guess_10": 2.90, "guess_20": 3.70, "guess_50_table": 4.86, "guess_50": 4.86}
"""The mean turns of bisection, exactly: docs/yardsticks.md has them."""
ESTIMATORS_PAGE = Path(__file__).parents[2] / "docs" / "estimators.md"


def table(name: str) -> list[str]:
    """Return the lines of a table by its name."""
    return {
        "progress": _progress,
        "rates": _rates,
        "many_turns": lambda: _algorithms(measured("b_many_turns")),
        "one_turn": lambda: _algorithms(measured("c_one_turn")),
        "guess": lambda: _task(measured("b_many_turns"), "guess"),
        "mastermind": lambda: _task(measured("b_many_turns"), "mastermind"),
        "minesweeper": lambda: _task(measured("b_many_turns"), "minesweeper"),
        "hanoi": lambda: _task(measured("b_many_turns"), "hanoi"),
        "gcd": lambda: _task(measured("c_one_turn"), "gcd"),
        "lcm": lambda: _task(measured("c_one_turn"), "lcm"),
        "course_schedule": lambda: _task(measured("c_one_turn"), "course_schedule"),
        "discount": _discount,
        "tools": _tools,
        "mixture": _mixture,
        "frameworks": _frameworks,
        "environments": _environments,
        "batches": _batches,
        "code": _code,
        "gradients": _gradients,
    }[name]()


def _rows(head: Sequence[str], rows: Iterator[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _cell(found: object) -> str:
    return NONE if found is None else str(found)


def _progress() -> list[str]:
    def rows() -> Iterator[Sequence[str]]:
        for name in EXPERIMENTS:
            experiment = measured(name)
            seconds = sum(line["cpu_s"] for line in experiment.lines)
            longest = max((line["cpu_s"] for line in experiment.lines), default=0.0)
            done = f"{len(experiment.lines)} of {experiment.num_arms}"
            command = f"`python benchmarks/baselines/run.py {name}`"
            yield experiment.title, done, f"{seconds / 3600:.2f}", f"{longest:.0f}", command

    head = ("experiment", "trainings", "CPU hours", "the longest, CPU s", "command")
    return _rows(head, rows())


def _rates() -> list[str]:
    groups = read(TUNING)["groups"]
    lines = measured(TUNING).lines
    means = {group: means_of(lines, task) for group, task in groups.items()}
    chosen = rates() if is_tuned() else {}

    def rows() -> Iterator[Sequence[str]]:
        for rate in read(TUNING)["grid"]:
            cells = []
            for group in groups:
                mean = f"{means[group][rate]:.3f}" if rate in means[group] else NONE
                is_chosen = chosen.get(group) == rate
                cells.append(f"**{mean}**" if is_chosen else mean)
            yield f"{rate:g}", *cells

    head = (f"{group.replace('_', ' ')} (`{task}`)" for group, task in groups.items())
    return _rows(("learning rate", *head), rows())


def _algorithms(experiment: Measured) -> list[str]:
    """Return a row for each estimator over all tasks, with what its blind arm has."""

    def rows() -> Iterator[Sequence[str]]:
        raw = [experiment.scores(task, "raw") for task in experiment.tasks]
        for name in _seeing(experiment, experiment.tasks):
            own = [experiment.scores(task, name) for task in experiment.tasks]
            blind = [experiment.scores(task, f"{name}, blind") for task in experiment.tasks]
            improvement = NONE
            if name != "raw" and all(map(len, own)) and all(map(len, raw)):
                improvement = _improvement(own, raw)
            yield (
                label(name, experiment.tasks),
                _cell(estimated(own)),
                _cell(estimated(blind)),
                improvement,
                str(sum(map(len, own))),
            )

    head = ("estimator", "score", "blind", "better than `raw` with probability", "trainings")
    return _rows(head, rows())


def _improvement(own: list[np.ndarray], other: list[np.ndarray]) -> str:
    from gem_baselines.statistics import bootstrap_interval

    low, high = bootstrap_interval(probability_of_improvement, own, other)
    value = float(probability_of_improvement(own, other))
    return f"{value:.2f} ({float(low):.2f} to {float(high):.2f})"


def _seeing(experiment: Measured, names: Sequence[str]) -> list[str]:
    """Return the estimators that are shown what a task tells, one for all that are alike there."""
    others = alike(names)
    return [
        name for name in experiment.names if not name.endswith(", blind") and name not in others
    ]


def _task(experiment: Measured, task: str) -> list[str]:
    """Return a row for each estimator on one task, in the environment's own figures."""

    def rows() -> Iterator[Sequence[str]]:
        for policy in ("random", "solver"):
            own = references()[task][policy]
            turns = f"{own['turns']:.2f}"
            yield policy, f"{own['success']:.2f}", f"{own['reward']:.2f}", turns, NONE, NONE
        begins = [
            _cell(untrained(experiment, task, name)) for name in ("success", "reward", "turns")
        ]
        yield "untrained", *begins, NONE, NONE
        for name in _seeing(experiment, [task]):
            cells = [
                _cell(estimated([experiment.figures(task, name, figure)]))
                for figure in ("success", "reward", "turns")
            ]
            blind = _cell(estimated([experiment.figures(task, f"{name}, blind", "reward")]))
            seconds = [line["cpu_s"] for line in experiment.of(task, name)]
            cpu = f"{np.mean(seconds):.0f}" if seconds else NONE
            yield label(name, [task]), *cells, blind, cpu

    head = ("policy", "success", "reward", "turns", "reward, blind", "CPU s")
    return _rows(head, rows())


def _discount() -> list[str]:
    def rows() -> Iterator[Sequence[str]]:
        for experiment in (measured("d_discount"), measured("z_stretch")):
            for task in experiment.tasks:
                for name in experiment.names:
                    turns = experiment.figures(task, name, "turns")
                    success = estimated([experiment.figures(task, name, "success")])
                    found = estimated([turns])
                    excess = NONE if found is None else f"{found.value - OPTIMA[task]:+.2f}"
                    lengths = (_cell(found), excess, _cell(success))
                    yield task, name.removeprefix("gamma "), *lengths, str(len(turns))

    head = ("task", "gamma", "turns", "above the optimum", "success", "trainings")
    return _rows(head, rows())


def _tools() -> list[str]:
    experiment = measured("e_tools")

    def rows() -> Iterator[Sequence[str]]:
        for task in experiment.tasks:
            for name in experiment.names:
                cells = [
                    _cell(estimated([experiment.figures(task, name, figure)]))
                    for figure in ("success", "tool_share")
                ]
                with_tool = "with Python" if task.endswith("tool") else "without"
                yield with_tool, f"`{name}`", *cells, str(len(experiment.of(task, name)))

    return _rows(("tool", "estimator", "success", "episodes with a call", "trainings"), rows())


def _mixture() -> list[str]:
    experiment = measured("f_mixture")
    played = list(read("f_mixture")["also_on"])

    def rows() -> Iterator[Sequence[str]]:
        for task in experiment.tasks:
            lines = experiment.of(task, "rebn")
            cells = []
            for other in played:
                success = [line["also_on"][other]["drawn"]["success"] for line in lines]
                cells.append(_cell(estimated([np.array(success, np.float64)])))
            yield _range(task), *cells, str(len(lines))

    head = ("trained on", *(f"plays {_range(task)}" for task in played), "trainings")
    return _rows(head, rows())


def _range(task: str) -> str:
    return task.removeprefix("range_").replace("_", " to ")


def _frameworks() -> list[str]:
    from benchmarks.baselines.pictures import trl_curves

    experiment = measured("g_frameworks")
    theirs = trl_curves()

    def rows() -> Iterator[Sequence[str]]:
        last = [np.mean([value for _, value in curve[-2:]]) for curve in theirs]
        yield "TRL, `grpo`", _cell(estimated([np.array(last)])), str(len(last))
        for name in experiment.names:
            ends = [
                line["curve"][-1]["drawn"]["reward"] for line in experiment.of("trl_guess", name)
            ]
            found = _cell(estimated([np.array(ends, np.float64)]))
            yield f"this project, `{name}`", found, str(len(ends))

    return _rows(("learner", "reward after 100 updates", "trainings"), rows())


def _environments() -> list[str]:
    """Return a row for each task: random play, the solver, and the small policy."""

    def rows() -> Iterator[Sequence[str]]:
        for experiment in map(measured, OF_ENVIRONMENTS):
            for task in experiment.tasks:
                own = references()[task]
                played = [
                    f"{own[policy]['success']:.2f}, {own[policy]['reward']:.2f}"
                    for policy in ("random", "solver")
                ]
                begins = _both(
                    *(untrained(experiment, task, name) for name in ("success", "reward"))
                )
                cells = [_success_and_reward(experiment, task, name) for name in LEARNERS]
                known = (f"{own['setting']['env']}", *played, begins)
                yield *known, *cells, _learns(experiment, task)

    head = (
        "environment",
        "random",
        "solver",
        "untrained",
        *(f"`{name}`" for name in LEARNERS),
        "learns",
    )
    return _rows(head, rows())


OF_ENVIRONMENTS = ("b_many_turns", "c_one_turn", "h_table")
"""The experiments whose tasks are the rows of the table of environments."""
LEARNERS = ("rebn", "grpo", "ppo")


def _success_and_reward(experiment: Measured, task: str, name: str) -> str:
    figures = (experiment.figures(task, name, figure) for figure in ("success", "reward"))
    return _both(*(estimated([own]) for own in figures))


def _both(success: Estimate | None, reward: Estimate | None) -> str:
    if success is None or reward is None:
        return NONE
    values = (round(each.value, 2) + 0.0 for each in (success, reward))  # no sign before a zero
    return "{:.2f}, {:.2f}".format(*values)


def untrained(experiment: Measured, task: str, figure: str) -> Estimate | None:
    """Return a figure of the evaluation before the first update; all arms of a seed begin alike."""
    begins = [line["curve"][0]["drawn"][figure] for line in experiment.of(task, "rebn")]
    return estimated([np.array(begins, np.float64)])


def _learns(experiment: Measured, task: str) -> str:
    found = learners(experiment, task)
    if found is None:
        return NONE
    return ", ".join(f"`{name}`" for name in found) or "none"


def learners(experiment: Measured, task: str) -> list[str] | None:
    """Return which estimators learn a task, None as long as not all of their trainings are done.

    One learns where the interval of its return is above both random play and the policy before its
    first update; the return is discounted.
    """
    at_random = references()[task]["random"]["discounted_return"]
    found = []
    for name in LEARNERS:
        lines = experiment.of(task, name)
        if not experiment.is_done(task, name) or not lines:
            return None
        begins = np.mean([line["curve"][0]["drawn"]["discounted_return"] for line in lines])
        reached = estimated([experiment.figures(task, name, "discounted_return")])
        if reached is not None and reached.low > max(at_random, float(begins)):
            found.append(name)
    return found


def _batches() -> list[str]:
    experiment = measured("i_batches")

    def rows() -> Iterator[Sequence[str]]:
        for size in (8, 16, 64):
            both = [experiment.scores("guess", f"{kind}, {size} episodes") for kind in KINDS]
            turns = [
                _cell(estimated([experiment.figures("guess", f"{kind}, {size} episodes", "turns")]))
                for kind in KINDS
            ]
            better = _improvement([both[1]], [both[0]]) if all(map(len, both)) else NONE
            yield str(size), *turns, better, str(sum(map(len, both)))

    head = ("episodes an update", "turns, `rebn`", "turns, `rebn_leave_one_out`")
    return _rows((*head, "the second is better with probability", "trainings"), rows())


KINDS = ("rebn", "leave-one-out")


def _gradients() -> list[str]:
    """Return what the script of docs/estimators.md wrote there: a row for every estimator."""
    text = ESTIMATORS_PAGE.read_text(encoding="utf-8")
    found = re.search(r"<!-- written by [^>]*-->\n(.*?)\n<!-- end of [^>]*-->", text, re.DOTALL)
    assert found is not None, f"{ESTIMATORS_PAGE.name} has the marks of its script"
    return found[1].strip().splitlines()


def _code() -> list[str]:
    """Return a row for each code that made trainings of the page."""
    made = Counter(
        (line["commit"], line.get("code"), line.get("torch"))
        for name in EXPERIMENTS
        for line in measured(name).lines
    )

    def rows() -> Iterator[Sequence[str]]:
        for (commit, code, torch), count in made.items():
            yield f"`{commit}`", f"`{code}`" if code else NONE, torch or NONE, str(count)

    return _rows(("commit", "digest of the sources", "torch", "trainings"), rows())

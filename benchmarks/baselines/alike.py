"""Estimators that are one and the same on a task, by what they are: they are no two findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.baselines.arms import tasks
from benchmarks.baselines.measured import Measured
from benchmarks.baselines.references import references

__all__ = ["alike", "alike_sentence", "label"]

ONE_TOKEN = {"ppo_token": "ppo"}
"""What is the same where a turn is one token: there is nothing between the tokens of a turn."""
ONE_TURN = {"mt_rloo": "rloo", "mt_grpo": "grpo"}
"""What is the same where an episode is one turn: its return is its only reward."""


def alike(names: Sequence[str]) -> dict[str, str]:
    """Return the estimators that are another one on each of these tasks, with that other one."""
    found: dict[str, str] = {}
    every = tasks()
    if all(every[name].get("max_answer_tokens", 1) == 1 for name in names):
        found |= ONE_TOKEN
    if all(_has_one_turn(name) for name in names):
        found |= ONE_TURN
    return found


def _has_one_turn(task: str) -> bool:
    return all(references()[task][policy]["turns"] == 1 for policy in ("random", "solver"))


def label(name: str, names: Sequence[str]) -> str:
    """Return what the row of an estimator is called: by all that are the same on these tasks."""
    others = [other for other, first in alike(names).items() if first == name]
    return ", ".join(f"`{each}`" for each in (name, *others))


def alike_sentence(experiment: Measured, names: Sequence[str]) -> str:
    """Say which estimators are the same on these tasks, and in how many trainings they came out so.

    A row of a table stands for all of them.
    """
    pairs = alike(names)
    compared = 0
    equal = 0
    for task in names:
        for other, first in pairs.items():
            for suffix in ("", ", blind"):
                both = (experiment.of(task, f"{each}{suffix}") for each in (other, first))
                by_seed = [{line["seed"]: _figures(line) for line in lines} for lines in both]
                for seed in by_seed[0].keys() & by_seed[1].keys():
                    compared += 1
                    equal += by_seed[0][seed] == by_seed[1][seed]
    said = ", ".join(f"`{other}` is `{first}`" for other, first in pairs.items())
    return (
        f"By what they are, {said} here: where a row has two names it is one finding. "
        f"{equal} of the {compared} pairs of trainings came out alike, figure for figure."
    )


def _figures(line: Mapping[str, Any]) -> tuple[Any, ...]:
    points = [(point["update"], point["drawn"], point["greedy"]) for point in line["curve"]]
    return points, line["final"]

"""The sentences of docs/baselines.md that say something of the results, each with what decides it.

A sentence is on the page as long as it holds. Where it no longer does, another one takes its place,
and the page that was committed is no longer what the results say; a sentence without another one
may not fail at all. What its trainings do not decide yet, is said to be open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from benchmarks.baselines.alike import alike
from benchmarks.baselines.arms import EXPERIMENTS, TUNING
from benchmarks.baselines.measured import Measured, estimated, measured
from benchmarks.baselines.references import references
from benchmarks.baselines.tables import OPTIMA, untrained

from gem_baselines.statistics import bootstrap_interval, probability_of_improvement

__all__ = [
    "CLAIMS",
    "PAIRS",
    "Claim",
    "NoLongerTrue",
    "compared",
    "of_game",
    "of_unmoved",
    "sentence_of",
    "unmoved",
]

LONGEST_S = 15 * 60
QUICK_S = 2 * 60
UNDISCOUNTED_GROUPS = {"rloo", "grpo", "dr_grpo", "mt_grpo"}
INVALID_MOVE = -0.1


class NoLongerTrue(Exception):
    """A sentence of the page that has to hold does not hold any more."""


class Claim(NamedTuple):
    """A sentence, the experiments that decide it, and whether it holds by their results.

    `otherwise` is said in its place where it does not hold; without it that may not be.
    """

    needs: Sequence[str]
    sentence: str
    holds: Callable[[], bool]
    otherwise: str | None = None


def sentence_of(claim: Claim) -> str:
    """Return what the results say. Raises NoLongerTrue."""
    for name in claim.needs:
        experiment = measured(name)
        if not experiment.is_complete:
            done = f"{len(experiment.lines)} of {experiment.num_arms}"
            return f"Open until all trainings are done ({done}): {claim.sentence[0].lower()}" + (
                claim.sentence[1:].rstrip(".") + "?"
            )
    if claim.holds():
        return claim.sentence
    if claim.otherwise is None:
        raise NoLongerTrue(claim.sentence)
    return claim.otherwise


def compared(experiment: Measured, first: str, second: str) -> str:
    """Return a sentence on which of two arms is better, over all tasks of an experiment.

    It is decided where the 95 % interval of the probability that a training of one scores more than
    one of the other leaves a half out.
    """
    if alike(experiment.tasks).get(first) == second:
        return f"`{first}` and `{second}` are the same here."
    both = [
        [experiment.scores(task, name) for task in experiment.tasks] for name in (first, second)
    ]
    needed = [(task, name) for task in experiment.tasks for name in (first, second)]
    if not all(experiment.is_done(task, name) for task, name in needed):
        return f"`{first}` and `{second}`: open, not all of their trainings are done."
    if not all(len(scores) for own in both for scores in own):
        return f"`{first}` and `{second}` cannot be compared: all trainings of one task diverged."
    value = float(probability_of_improvement(*both))
    low, high = bootstrap_interval(probability_of_improvement, *both)
    figures = f"{value:.2f} ({float(low):.2f} to {float(high):.2f})"
    if low > 0.5:
        return f"`{first}` is better than `{second}`, with probability {figures}."
    if high < 0.5:
        return f"`{second}` is better than `{first}`: that one wins with probability {figures}."
    return f"Between `{first}` and `{second}` nothing is decided: probability {figures}."


def of_game(experiment: Measured, task: str) -> str:
    """Return a sentence on what came of a task: the best estimator, and what reading gave."""
    others = alike([task])
    names = [
        name for name in experiment.names if not name.endswith(", blind") and name not in others
    ]
    arms = [arm for name in names for arm in (name, f"{name}, blind")]
    done = sum(experiment.is_done(task, arm) for arm in arms)
    if done < len(arms):
        return f"open, {done} of {len(arms)} arms are done."
    found = {arm: estimated([experiment.scores(task, arm)]) for arm in arms}
    known = {name: estimate for name in names if (estimate := found[name]) is not None}
    best = max(known, key=lambda name: known[name].value)
    readers = 0
    for name, estimate in known.items():
        blind = found[f"{name}, blind"]
        if blind is None or estimate.low > blind.high:
            readers += 1
    success = estimated([experiment.figures(task, best, "success")])
    turns = estimated([experiment.figures(task, best, "turns")])
    return (
        f"`{best}` scores most, {known[best]}, with success {success} in {turns} turns; "
        f"{readers} of {len(names)} estimators score more than their blind arms beyond both "
        "intervals."
    )


def unmoved(experiment: Measured, task: str) -> dict[str, int]:
    """Return the estimators that changed their policy in no training, with how many those were.

    Evaluations play the same seeds each time, so a policy that no update changed has all figures of
    its first evaluation in every later one.
    """
    found = {}
    for name in experiment.names:
        lines = experiment.of(task, name)
        if lines and not any(map(_has_moved, lines)):
            found[name] = len(lines)
    return found


def _has_moved(line: Mapping[str, Any]) -> bool:
    points = [(point["drawn"], point["greedy"]) for point in line["curve"]]
    return any(point != points[0] for point in points)


def of_unmoved(experiment: Measured, task: str) -> str:
    """Return a sentence on the estimators that learnt nothing at all on a task."""
    found = unmoved(experiment, task)
    names = [f"`{name}`" for name in found if not name.endswith(", blind")]
    if not names:
        return "Every estimator changes its policy."
    return (
        f"{', '.join(names)} change nothing: in each of their {sum(found.values())} trainings, the "
        "blind ones too, every evaluation came out as the one before the first update."
    )


PAIRS = (
    ("rebn", "raw"),
    ("rebn", "signed"),
    ("rebn", "rebn_leave_one_out"),
    ("rebn", "ppo"),
    ("rebn", "grpo"),
    ("mt_rloo", "rloo"),
    ("mt_rloo", "mt_grpo"),
    ("dr_grpo", "grpo"),
)
"""The estimators that are compared with each other: the first one against the second."""


def _no_arm_takes_too_long() -> bool:
    lines = [line for name in EXPERIMENTS for line in measured(name).lines]
    return all(line["cpu_s"] <= LONGEST_S for line in lines)


def _quick_arms_have_ten_seeds() -> bool:
    for name in EXPERIMENTS:
        if name in (TUNING, "h_table", "z_stretch"):
            continue
        experiment = measured(name)
        for task in experiment.tasks:
            for arm in experiment.names:
                seconds = [line["cpu_s"] for line in experiment.of(task, arm)]
                is_quick = bool(seconds) and np.mean(seconds) < QUICK_S
                if experiment.num_seeds(task, arm) < (10 if is_quick else 5):
                    return False
    return True


def _groups_of_hanoi_are_flat() -> bool:
    """Whether no sum of rewards is another one before the first update, where groups need that."""
    experiment = measured("b_many_turns")
    names = {name.removesuffix(", blind") for name in unmoved(experiment, "hanoi")}
    lines = [line for name in experiment.names for line in experiment.of("hanoi", name)]
    begins = {line["curve"][0]["drawn"]["reward"] for line in lines}
    return names == UNDISCOUNTED_GROUPS and begins == {INVALID_MOVE}


def _chance_beats_the_untrained() -> bool:
    experiment = measured("b_many_turns")
    at_random = references()["guess"]["random"]["success"]
    begins = untrained(experiment, "guess", "success")
    return begins is not None and begins.value < at_random


def _reading_pays(name: str) -> bool:
    """Whether every estimator scores more than its blind arm, beyond both intervals."""
    experiment = measured(name)
    for arm in experiment.names:
        if arm.endswith(", blind"):
            continue
        own = estimated([experiment.scores(task, arm) for task in experiment.tasks])
        blind = estimated([experiment.scores(task, f"{arm}, blind") for task in experiment.tasks])
        if own is None or blind is None or own.low <= blind.high:
            return False
    return True


def _turns(task: str, gamma: str) -> float:
    found = estimated([measured("d_discount").figures(task, f"gamma {gamma}", "turns")])
    assert found is not None
    return found.value


def _a_discount_hurries() -> bool:
    experiment = measured("d_discount")
    for task in experiment.tasks:
        patient = estimated([experiment.figures(task, "gamma 1", "turns")])
        hurried = estimated([experiment.figures(task, "gamma 0.9", "turns")])
        if patient is None or hurried is None or patient.low <= hurried.high:
            return False
    return True


def _the_optimum_is_reached() -> bool:
    tasks = measured("d_discount").tasks
    return all(_turns(task, "0.9") <= OPTIMA[task] + 0.25 for task in tasks)


def _success_with_tool(estimator: str, task: str) -> float:
    found = measured("e_tools").figures(task, estimator, "success")
    return float(np.mean(found)) if len(found) else 0.0


def _most_success(task: str) -> float:
    """Return the mean success of the better one of two estimators on a task."""
    return max(_success_with_tool(name, task) for name in ("rebn", "raw"))


def _rebn_learns_to_call_more() -> bool:
    experiment = measured("e_tools")
    shares = [experiment.figures("records_tool", name, "tool_share") for name in ("rebn", "raw")]
    low, _ = bootstrap_interval(probability_of_improvement, [shares[0]], [shares[1]])
    return bool(low > 0.5)


def _success_on(trained: str, played: str) -> float:
    lines = measured("f_mixture").of(trained, "rebn")
    return float(np.mean([line["also_on"][played]["drawn"]["success"] for line in lines]))


def _the_mixture_generalises() -> bool:
    singles = ("range_1_8", "range_9_16", "range_5_12")
    best = max(_success_on(single, "range_3_10") for single in singles)
    return _success_on("range_mixture", "range_3_10") > best


CLAIMS: dict[str, Claim] = {
    "time": Claim(
        (),
        "No training took more than 15 CPU minutes.",
        _no_arm_takes_too_long,
    ),
    "seeds": Claim(
        (),
        "Arms that take less than two CPU minutes on average have ten seeds, others five.",
        _quick_arms_have_ten_seeds,
        "Not all arms that take less than two CPU minutes on average have ten seeds.",
    ),
    "flat_groups": Claim(
        (),
        "An untrained policy ends each episode by an answer that is no move, so each sums to -0.1 "
        "and no turn before the last earns anything: in every group all are alike. Estimators that "
        "compare sums, or rewards at one turn, within a group have no signal then, and their first "
        "update changes nothing; nor does any later one. Those that discount see that the end "
        "comes later in one episode than in another, and learn to go on playing.",
        _groups_of_hanoi_are_flat,
        "It is not so that all estimators that compare sums of rewards within a group, and only "
        "they, change nothing.",
    ),
    "untrained": Claim(
        (),
        "Random play is better here than an untrained policy: `sample_action` draws among the "
        "numbers that were not guessed yet, while an untrained policy also guesses a number again, "
        "and ends the game by words of its vocabulary that are no numbers.",
        _chance_beats_the_untrained,
        "Random play is no better here than an untrained policy.",
    ),
    "many_turns_blind": Claim(
        ("b_many_turns",),
        "Every estimator scores more than its blind arm, beyond both intervals: what is earned is "
        "earned by reading.",
        lambda: _reading_pays("b_many_turns"),
        "Not every estimator scores more than its blind arm beyond both intervals: some of what is "
        "earned here is earned without reading.",
    ),
    "one_turn_blind": Claim(
        ("c_one_turn",),
        "Every estimator scores more than its blind arm, beyond both intervals.",
        lambda: _reading_pays("c_one_turn"),
        "Not every estimator scores more than its blind arm beyond both intervals.",
    ),
    "discount": Claim(
        ("d_discount",),
        "With gamma 1 each task takes more turns than with gamma 0.9, beyond both intervals.",
        _a_discount_hurries,
        "It is not so that each task takes more turns with gamma 1 than with 0.9 beyond both "
        "intervals.",
    ),
    "optimum": Claim(
        ("d_discount",),
        "With gamma 0.9 each task comes within a quarter of a turn of the optimum.",
        _the_optimum_is_reached,
        "With gamma 0.9 not every task comes within a quarter of a turn of the optimum in its "
        "number of updates.",
    ),
    "tools": Claim(
        ("e_tools",),
        "Without the tool success stays below 0.2.",
        lambda: _most_success("records") < 0.2,
        "Without the tool success does not stay below 0.2.",
    ),
    "with_tools": Claim(
        ("e_tools",),
        "With it one estimator passes 0.8.",
        lambda: _most_success("records_tool") > 0.8,
        "With it no estimator passes 0.8 in its number of updates.",
    ),
    "calls": Claim(
        ("e_tools",),
        "Normalised returns learn to call it in more episodes than plain ones do.",
        _rebn_learns_to_call_more,
        "Nothing says that normalised returns learn to call it in more episodes than plain ones.",
    ),
    "mixture": Claim(
        ("f_mixture",),
        "On the range that none was trained on, the policy of the mixture wins more often than "
        "that of any single range.",
        _the_mixture_generalises,
        "On the range that none was trained on, the policy of the mixture does not win more often "
        "than that of every single range.",
    ),
}
"""Every claim of the page by its name."""

"""Is there something to learn from the rewards, and do they hold on episodes that are held out?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gem_baselines.doctor.finding import Check, Finding
from gem_baselines.doctor.run import Evaluation, Played, Run, Sample
from gem_baselines.doctor.statistics import mean_of
from gem_baselines.learning_policy import Floats

__all__ = ["CHECKS"]

_MOST_FLAT = 0.9
_ROUNDING = 1e-9
_PARTED = 4.5
"""Standard errors from which training and evaluation part: by chance seven times in a million."""
_LEAST_APART = 0.05
"""Of the range of the returns: a smaller distance to the evaluation is nothing to look for."""


class _Flat(NamedTuple):
    """Of one sample, the groups in which all earned the same, by what they earned, as shares."""

    update: int
    right: float
    wrong: float
    alike: float

    @property
    def share(self) -> float:
        return self.right + self.wrong + self.alike


def signal(run: Run) -> Iterator[Finding]:
    """Find updates that have nothing to compare: all of a group right, all wrong, or alike."""
    if not run.samples:
        yield from _signal_by_figure(run)
        return
    flat = [_flat(sample) for sample in run.samples]
    late = flat[len(flat) // 2 :]
    if np.mean([each.share for each in late]) <= _MOST_FLAT:
        return
    right = float(np.mean([each.right for each in late]))
    wrong = float(np.mean([each.wrong for each in late]))
    alike = float(np.mean([each.alike for each in late]))
    from_the_first = flat[0].share > _MOST_FLAT
    # A policy that has learnt its task gets all of it right: that is an end, and no fault.
    is_solved = right > _MOST_FLAT / 2 and not from_the_first
    if is_solved:
        advice = "The task is learnt: harder starts would give it something to learn."
    elif right > max(wrong, alike):
        advice = "The task is too easy from the first update on."
    elif wrong > alike:
        advice = "The task is too hard for this policy, or no reward arrives."
    else:
        advice = "Whatever it does is paid alike: look whether rewards arrive where they are due."
    yield Finding(
        "signal",
        "note" if is_solved else "suspect",
        f"There is next to nothing to learn from: of the groups of the last updates {right:.0%} "
        f"are all right, {wrong:.0%} all wrong, and {alike:.0%} earn the same otherwise. {advice}",
        [each.update for each in late],
        {"all_right": right, "all_wrong": wrong, "alike": alike},
    )


def _signal_by_figure(run: Run) -> Iterator[Finding]:
    series = run.figure("flat_share")
    late = series.values[len(series.values) // 2 :]
    if len(late) < 2 or mean_of(late) <= _MOST_FLAT:
        return
    reward = run.figure("reward").values
    is_solved = mean_of(reward[-len(late) :]) > mean_of(reward[: len(late)]) + _LEAST_APART
    yield Finding(
        "signal",
        "note" if is_solved else "suspect",
        f"There is next to nothing to learn from: in {mean_of(late):.0%} of the groups of the last "
        f"{len(late)} lines every episode earns the same. Its log does not tell all right from all "
        "wrong.",
        [int(update) for update in series.updates[len(series.values) // 2 :]],
        {"flat": mean_of(late)},
    )


def _flat(sample: Sample) -> _Flat:
    """Return the shares of groups that leave nothing to compare; a batch without groups is one."""
    groups: dict[tuple[int, ...], list[Played]] = {}
    for episode in sample.learnt:
        groups.setdefault(episode.start, []).append(episode)
    compared = [members for members in groups.values() if len(members) > 1]
    if not compared:
        compared = [sample.learnt]
    kinds = {"right": 0, "wrong": 0, "alike": 0}
    for members in compared:
        if not _is_flat(members):
            continue
        if all(episode.success for episode in members):
            kinds["right"] += 1
        elif not any(episode.success for episode in members):
            kinds["wrong"] += 1
        else:
            kinds["alike"] += 1
    number = len(compared)
    return _Flat(
        sample.update, kinds["right"] / number, kinds["wrong"] / number, kinds["alike"] / number
    )


def _is_flat(members: list[Played]) -> bool:
    """Say whether a group taught nothing: by its advantages, or else by what it earned."""
    known = [episode.advantages for episode in members if episode.advantages is not None]
    if len(known) == len(members) and members:
        return bool(max(np.abs(own).max(initial=0.0) for own in known) < _ROUNDING)
    earned = [math.fsum(episode.rewards) for episode in members]
    return max(earned, default=0.0) - min(earned, default=0.0) < _ROUNDING


def evaluation(run: Run) -> Iterator[Finding]:
    """Find a reward in training that the same policy does not earn on held-out episodes.

    The update after an evaluation plays just the policy that was evaluated. An evaluation plays the
    same starts each time, so that its error is counted as one and the same in all of them.
    """
    by_name = {
        "reward": [each.rewards for each in run.evaluations],
        "success": [each.success for each in run.evaluations],
        "turns": [each.turns for each in run.evaluations],
    }
    for name, held_out in by_name.items():
        found = _parted(run, name, held_out)
        if found is not None:
            yield found
            return


def _parted(run: Run, name: str, held_out: list[Floats]) -> Finding | None:
    series = run.figure(name)
    size = run.settings["episodes"] / run.settings["repeats"]  # independent starts of an update
    apart: list[float] = []
    errors: list[float] = []
    own_errors: list[float] = []
    updates: list[int] = []
    trained: list[float] = []
    for each, values in zip(run.evaluations, held_out, strict=True):
        at = np.flatnonzero(series.updates == each.update + 1)
        if not len(at):
            continue
        variance = float(values.var())
        trained.append(float(series.values[at[0]]))
        apart.append(trained[-1] - float(values.mean()))
        errors.append(variance / max(size, 1.0))
        own_errors.append(math.sqrt(variance / len(values)))
        updates.append(each.update)
    if not apart:
        return None
    number = len(apart)
    error = math.hypot(math.sqrt(math.fsum(errors)) / number, max(own_errors))
    mean = float(np.mean(apart))
    everything = np.concatenate(held_out)
    # A policy that always earns the same has no spread of its own: training says what there is.
    extent = max(np.ptp(everything), np.ptp(np.array(trained)), _ROUNDING)
    z = mean / max(error, 0.01 * extent)
    if abs(z) <= _PARTED or abs(mean) < _LEAST_APART * extent:
        return None
    return Finding(
        "evaluation",
        "wrong",
        f"Training and evaluation part: the same policy has a mean {name} of "
        f"{np.mean(trained):.3f} in training and {np.mean(trained) - mean:.3f} on held-out "
        f"episodes, over {number} evaluations ({z:+.0f} standard errors). They do not play the "
        "same: other arguments, other sampling, or rewards that only training gives.",
        updates,
        {"training": float(np.mean(trained)), "evaluation": float(np.mean(trained)) - mean, "z": z},
    )


def evaluation_figure(run: Run) -> Iterator[Finding]:
    """Find a reward that rises in training while it falls in the run's own evaluations."""
    own = run.figure("reward")
    held_out = run.figure("eval_reward")
    if len(held_out.values) < 4 or len(own.values) < 4:
        return
    half = len(held_out.values) // 2
    fallen = mean_of(held_out.values[half:]) - mean_of(held_out.values[:half])
    middle = held_out.updates[half]
    risen = mean_of(own.values[own.updates >= middle]) - mean_of(own.values[own.updates < middle])
    extent = max(float(np.ptp(own.values)), _ROUNDING)
    if risen > 0.2 * extent and fallen < -0.2 * extent:
        yield Finding(
            "evaluation_figure",
            "suspect",
            f"The reward rises by {risen:.3f} in training and falls by {-fallen:.3f} in its "
            "evaluations: what is learnt does not hold on other episodes.",
            [int(update) for update in held_out.updates[half:]],
            {"training": risen, "evaluation": fallen},
        )


def _lacks_signal(run: Run) -> str:
    if run.settings.get("self_play"):  # equal players earn alike, and learn
        return "fixed opponents: in self-play games may all end alike"
    if run.samples or len(run.figure("flat_share").values):
        return ""
    return "samples of updates, or a share of groups that earn the same"


def _lacks_evaluations(run: Run) -> str:
    if run.settings.get("self_play"):
        return "evaluations against the opponents of the updates"
    if run.kind != "training":
        return "evaluations of the very policy that an update plays"
    pairs: list[Evaluation] = [
        each for each in run.evaluations if (each.update + 1) in run.figure("reward").updates
    ]
    return "" if pairs else "evaluations, with an update after them"


def _lacks_figure(run: Run) -> str:
    return "" if len(run.figure("eval_reward").values) else "a reward in its own evaluations"


CHECKS = (
    Check("signal", "there is something to learn from", signal, _lacks_signal),
    Check("evaluation", "training earns what evaluation does", evaluation, _lacks_evaluations),
    Check(
        "evaluation_figure",
        "the reward holds in the run's own evaluations",
        evaluation_figure,
        _lacks_figure,
    ),
)

"""What policies and estimators give a training, checked: either may be anybody's own.

Each check raises TrainingStopped, in one line that names who gave what.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gem.episode import Episode
from gem.errors import GemError
from gem_baselines.errors import TrainingStopped
from gem_baselines.learning_policy import Floats, LearningPolicy, Per
from gem_baselines.training.advantages import Credit, Values, num_entries

__all__ = ["checked_credit", "checked_learning", "checked_values", "stopping"]


@contextmanager
def stopping(update: int) -> Iterator[None]:
    """Raise as TrainingStopped what is refused while a policy learns from an update.

    The settings were checked before the first one: what is refused now is of what was played, and
    whoever hears of it has to know where the training stands and how to go on.
    """
    try:
        yield
    except TrainingStopped:
        raise
    except GemError as error:
        problem = str(error).rstrip(".")
        raise TrainingStopped(
            f"Update {update} cannot go on: {problem}. Then go on with --resume; where the "
            "experiment is at fault, change it and start anew with --out.",
            update=update,
        ) from error


def checked_values(policy: LearningPolicy, *, update: int) -> Values:
    """Return the values of a policy's critic, which are refused where they fit no episode."""

    def values(episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
        found = policy.values(episodes, per=per)
        giver = f"{type(policy).__name__}.values"
        _check_entries(found, episodes, per, giver=giver, update=update)
        return found

    return values


def checked_credit(
    credit: Credit, episodes: Sequence[Episode], *, estimator: str, update: int
) -> Credit:
    """Return what an estimator gave the episodes of an update."""
    giver = f"the estimator {estimator!r}"
    if not isinstance(credit, Credit):
        raise _stopped(f"{giver} returned {credit!r:.60}, and has to return a Credit", update)
    _check_entries(credit.advantages, episodes, credit.per, giver=giver, update=update)
    if credit.value_targets is not None:
        _check_entries(credit.value_targets, episodes, credit.per, giver=giver, update=update)
    return credit


def checked_learning(learnt: Any, policy: LearningPolicy, *, update: int) -> dict[str, float]:
    """Return the figures that a policy's `update` reported. Each has to be a finite number."""
    giver = f"{type(policy).__name__}.update"
    if not isinstance(learnt, Mapping):
        raise _stopped(
            f"{giver} returned {learnt!r:.60}, and has to return its figures: numbers by name",
            update,
        )
    figures = {}
    for name, value in learnt.items():
        try:
            is_finite = math.isfinite(value)
        except TypeError as error:
            raise _stopped(f"{giver} returned {name}={value!r:.60}, no number", update) from error
        if not is_finite:
            raise TrainingStopped(
                f"Update {update} gave {name}={value}: the policy has diverged. Start anew with "
                "a smaller learning rate; the last checkpoint is from before.",
                update=update,
            )
        figures[name] = float(value)
    return figures


def _check_entries(
    arrays: Sequence[Floats], episodes: Sequence[Episode], per: Per, *, giver: str, update: int
) -> None:
    """Stop the training unless there is an array an episode with an entry a turn, or a token."""
    wanted = [num_entries(episode, per) for episode in episodes]
    try:
        lengths = [len(own) for own in arrays]
    except TypeError as error:
        problem = f"{giver} returned {arrays!r:.60}, and has to return an array an episode"
        raise _stopped(problem, update) from error
    if len(lengths) != len(wanted):
        problem = f"{giver} returned {len(lengths)} arrays for {len(wanted)} episodes"
        raise _stopped(problem, update)
    for length, entries in zip(lengths, wanted, strict=True):
        if length != entries:
            raise _stopped(
                f"{giver} returned {length} numbers for an episode of {entries} {per}s", update
            )
    for own in arrays:
        _check_numbers(own, giver=giver, update=update)


def _check_numbers(own: Floats, *, giver: str, update: int) -> None:
    """Stop the training where one of these is no finite number: all that is learnt would be none.

    The loss would say so too, and that would be said of the policy and its learning rate.
    """
    try:
        numbers = np.asarray(own, np.float64)
    except (TypeError, ValueError, RuntimeError) as error:  # a tensor of torch may raise the last
        problem = f"{giver} returned {own!r:.60}, and has to return numbers"
        raise _stopped(problem, update) from error
    if numbers.ndim != 1:
        dimensions = f"an array of {numbers.ndim} dimensions for an episode"
        raise _stopped(f"{giver} returned {dimensions}, and has to return one number each", update)
    is_odd = ~np.isfinite(numbers)
    if is_odd.any():
        first = numbers[is_odd][0]
        raise _stopped(f"{giver} returned {first}, and has to return finite numbers", update)


def _stopped(problem: str, update: int) -> TrainingStopped:
    return TrainingStopped(
        f"Update {update} cannot go on: {problem}. Mend that and go on with --resume.",
        update=update,
    )

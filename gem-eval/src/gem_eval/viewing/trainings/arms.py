"""Arms: trainings that differ in their seed alone, and what one arm has that another has not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gem_eval.viewing.trainings.training import ViewedTraining

__all__ = ["Arm", "arms_of"]

_ALIKE = frozenset({"seed", "updates", "concurrency", "checkpoint_every", "sample_every"})
_FIRST = ("env", "policy", "estimator")  # whose values say what they are without their names
_MOST_DIFFERENCES = 4
_LONGEST_VALUE = 40
_ABSENT = object()


class Arm(NamedTuple):
    """Trainings of one experiment, one a seed.

    `name` says in what it differs from the other arms. `repeated` counts trainings that are left
    out, because a longer one has the same seed.
    """

    name: str
    trainings: tuple[ViewedTraining, ...]
    repeated: int


def arms_of(trainings: Sequence[ViewedTraining]) -> list[Arm]:
    """Group trainings by what they train, in the order in which they come.

    Besides the seed they may differ in settings that change no figure: how many updates there are,
    when checkpoints and samples are made, and the concurrency.
    """
    groups: dict[str, list[ViewedTraining]] = {}
    for training in trainings:
        groups.setdefault(_key(training.experiment), []).append(training)
    names = _names([members[0] for members in groups.values()])
    arms = []
    for name, members in zip(names, groups.values(), strict=True):
        longest: dict[str, ViewedTraining] = {}
        for training in members:
            known = longest.get(training.seed)
            if known is None or training.done > known.done:
                longest[training.seed] = training
        arms.append(Arm(name, tuple(longest.values()), len(members) - len(longest)))
    return arms


def _key(experiment: Mapping[str, Any]) -> str:
    # What is not set is None, or not there: a record of an earlier version lacks newer settings.
    deciding = {
        name: value
        for name, value in experiment.items()
        if name not in _ALIKE and value is not None
    }
    return json.dumps(deciding, sort_keys=True)


def _names(firsts: Sequence[ViewedTraining]) -> list[str]:
    """Return a name for each arm: the settings in which they differ, or the folder's name."""
    if len(firsts) == 1:
        return [firsts[0].name]
    settings = [_flat(training.experiment) for training in firsts]
    every = dict.fromkeys(key for flat in settings for key in flat)
    differing = [key for key in every if len({flat.get(key, _ABSENT) for flat in settings}) > 1]
    differing.sort(key=lambda key: (key not in _FIRST, [*every].index(key)))
    return [_name(flat, differing) for flat in settings]


def _name(flat: Mapping[str, str], differing: Sequence[str]) -> str:
    parts = []
    for key in differing[:_MOST_DIFFERENCES]:
        value = flat.get(key, "not set")
        if len(value) > _LONGEST_VALUE:
            value = f"{value[: _LONGEST_VALUE - 1]}…"
        parts.append(value if key in _FIRST else f"{key.rpartition('.')[2]} {value}")
    more = len(differing) - _MOST_DIFFERENCES
    if more > 0:
        parts.append(f"and {more} more")
    return ", ".join(parts)


def _flat(experiment: Mapping[str, Any]) -> dict[str, str]:
    """Return settings as texts by name, those inside others by names with dots."""
    flat: dict[str, str] = {}
    for key, value in experiment.items():
        if key in _ALIKE or value is None:  # as for `_key`: what is not set makes no arm
            continue
        if isinstance(value, Mapping):
            flat |= {f"{key}.{name}": _text(inner) for name, inner in value.items()}
        else:
            flat[key] = _text(value)
    return flat


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)

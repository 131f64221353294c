"""Random batches of turns for tests, and estimators as they are defined, by loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

LEAST_STD = 1e-8


class Turn(NamedTuple):
    """A turn of a batch: its number, its group, its episode."""

    number: float
    group: str
    episode: int


@st.composite
def batches(draw: st.DrawFn) -> list[Turn]:
    """Draw episodes of some groups whose turns stand in any order that keeps each episode's."""
    numbers = st.integers(-8, 8).map(lambda eighths: eighths / 8)
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    groups = [draw(st.sampled_from("abc")) for _ in lengths]
    owners = [episode for episode, length in enumerate(lengths) for _ in range(length)]
    return [
        Turn(draw(numbers), groups[episode], episode) for episode in draw(st.permutations(owners))
    ]


def columns(batch: Sequence[Turn]) -> tuple[list[float], list[str], list[int]]:
    """Return a batch as the estimators take it: numbers, groups, episodes."""
    numbers = [turn.number for turn in batch]
    groups = [turn.group for turn in batch]
    episodes = [turn.episode for turn in batch]
    return numbers, groups, episodes


def places_in_episodes(batch: Sequence[Turn]) -> list[int]:
    """Return the index of each turn in its episode."""
    return [
        sum(other.episode == turn.episode for other in batch[:at]) for at, turn in enumerate(batch)
    ]


def rebn_leave_one_out(batch: Sequence[Turn], *, std: bool) -> list[float]:
    """Take each turn against all turns of other episodes."""
    found = []
    for turn in batch:
        others = [other.number for other in batch if other.episode != turn.episode]
        if not others:
            found.append(0.0)
            continue
        difference = turn.number - float(np.mean(others))
        spread = float(np.std(others))
        if not std:
            found.append(difference)
        elif spread < LEAST_STD:
            found.append(0.0)
        else:
            found.append(difference / spread)
    return found


def mt_rloo(batch: Sequence[Turn], ended: str) -> list[float]:
    """Take each turn against other episodes of its group at its index."""
    index = places_in_episodes(batch)
    found = []
    for at, turn in enumerate(batch):
        others = {other.episode: 0.0 for other in batch if other.group == turn.group}
        del others[turn.episode]
        alive = {
            other.episode: other.number
            for place, other in enumerate(batch)
            if other.episode in others and index[place] == index[at]
        }
        compared = others | alive if ended == "zero" else alive
        baseline = sum(compared.values()) / len(compared) if compared else 0.0
        found.append(turn.number - baseline)
    return found


def mt_grpo(
    batch: Sequence[Turn], *, std: bool, later_turns: bool, turn_weight: float
) -> list[float]:
    """Credit turns with their own reward, before the last one, and with the last one."""
    index = places_in_episodes(batch)
    ends = {turn.episode: index[at] for at, turn in enumerate(batch)}
    parts = []
    for at, turn in enumerate(batch):
        is_last = index[at] == ends[turn.episode]
        peers = [
            other.number
            for place, other in enumerate(batch)
            if other.group == turn.group
            and (index[place] == ends[other.episode]) == is_last
            and (is_last or index[place] == index[at])
        ]
        part = turn.number - float(np.mean(peers))
        if std:
            spread = float(np.std(peers))
            part = part / spread if spread >= LEAST_STD else 0.0
        parts.append(part)
    found = []
    for at, turn in enumerate(batch):
        outcome = parts[_place(batch, index, turn.episode, ends[turn.episode])]
        last = ends[turn.episode] - 1 if later_turns else min(index[at], ends[turn.episode] - 1)
        credited = [
            parts[_place(batch, index, turn.episode, each)] for each in range(index[at], last + 1)
        ]
        found.append(turn_weight * sum(credited) + outcome)
    return found


def _place(batch: Sequence[Turn], index: Sequence[int], episode: int, wanted: int) -> int:
    """Return where in the batch an episode's turn of an index stands."""
    [place] = [
        at for at in range(len(batch)) if (batch[at].episode, index[at]) == (episode, wanted)
    ]
    return place

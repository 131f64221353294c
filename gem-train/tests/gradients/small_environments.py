"""Environments so small that every trajectory can be written down, as plain tables.

A policy is a table of logits with a row for each thing that it may see; no episode sees a row
twice. Knows nothing about estimators.
"""

from __future__ import annotations

from typing import NamedTuple

ACTIONS_OF_CHAIN = ("stop", "go", "rush")
STOP_PAYS = (0.5, 0.8, 1.0)
GO_PAYS = 0.3
RUSH_PAYS = 0.7
LARGEST = 4  # of the numbers to guess
GUESSES = 3


class Trajectory(NamedTuple):
    """A possible episode: what was seen, done and earned in each turn.

    `rows` are the rows of the policy's table. `chance` is the probability of all that the
    environment draws, its start included. `is_cut_off` where a limit of turns ended it.
    """

    start: int
    rows: tuple[int, ...]
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    chance: float
    is_cut_off: bool = False


class SmallEnvironment(NamedTuple):
    """All trajectories of an environment, and the shape of a policy's table."""

    name: str
    trajectories: tuple[Trajectory, ...]
    rows: int
    actions: int


def chain() -> SmallEnvironment:
    """Three steps: stop and be paid, go on for a little, or rush, half the time to the end."""
    trajectories: list[Trajectory] = []

    def play(before: Trajectory) -> None:
        turn = len(before.rows)
        is_last = turn == len(STOP_PAYS) - 1
        for action, name in enumerate(ACTIONS_OF_CHAIN):
            pays = {"stop": STOP_PAYS[turn], "go": GO_PAYS, "rush": RUSH_PAYS}[name]
            goes_on = 0.0 if is_last else {"stop": 0.0, "go": 1.0, "rush": 0.5}[name]
            now = before._replace(
                rows=(*before.rows, turn),
                actions=(*before.actions, action),
                rewards=(*before.rewards, pays),
            )
            if goes_on < 1.0:
                chance = before.chance * (1.0 - goes_on)
                trajectories.append(now._replace(chance=chance, is_cut_off=is_last))
            if goes_on > 0.0:
                play(now._replace(chance=before.chance * goes_on))

    play(Trajectory(0, (), (), (), 1.0))
    return SmallEnvironment("chain", tuple(trajectories), rows=3, actions=3)


def tree() -> SmallEnvironment:
    """End with 0.6, or take a turn of 0.4 or -0.2, which decides what a second one pays."""
    branches = {1: (0.4, (0.0, 0.2, 0.5)), 2: (-0.2, (0.3, 0.9, 1.5))}
    trajectories = [Trajectory(0, (0,), (0,), (0.6,), 1.0)]
    for first, (pays, second_pays) in branches.items():
        for second, reward in enumerate(second_pays):
            rows = (0, first)
            actions = (first, second)
            trajectories.append(Trajectory(0, rows, actions, (pays, reward), 1.0, is_cut_off=True))
    return SmallEnvironment("tree", tuple(trajectories), rows=3, actions=3)


def invest() -> SmallEnvironment:
    """Three turns always: the first takes 0.5 now, or makes the second pay 0.8 more."""
    trajectories = []
    for first in (0, 1):
        for second in (0, 1):
            for third in (0, 1):
                rows = (0, 1 + first, 3 + second)
                rewards = (
                    0.0 if first else 0.5,
                    (0.2, 0.4)[second] + (0.8 if first else 0.0),
                    (0.1, 0.6)[third],
                )
                trajectories.append(Trajectory(0, rows, (first, second, third), rewards, 1.0))
    return SmallEnvironment("invest", tuple(trajectories), rows=5, actions=2)


def guess() -> SmallEnvironment:
    """Guess a number from 1 to 4 in three turns: 1 if right, and at the end a part by distance.

    The policy sees the history, and not the secret: that is the start which a group shares.
    """
    rows: dict[tuple[str, ...], int] = {}
    trajectories: list[Trajectory] = []

    def play(secret: int, history: tuple[str, ...], before: Trajectory) -> None:
        row = rows.setdefault(history, len(rows))
        for action in range(LARGEST):
            number = action + 1
            distance = abs(secret - number)
            is_last = len(before.rows) == GUESSES - 1
            pays = 1.0 if distance == 0 else 0.0
            if is_last:
                pays = 1.0 - distance / (LARGEST - 1)
            now = before._replace(
                rows=(*before.rows, row),
                actions=(*before.actions, action),
                rewards=(*before.rewards, pays),
                is_cut_off=is_last and distance > 0,
            )
            if is_last or distance == 0:
                trajectories.append(now)
                continue
            hint = "higher" if secret > number else "lower"
            answer = "repeated" if any(each.startswith(f"{number} ") for each in history) else hint
            play(secret, (*history, f"{number} {answer}"), now)

    for secret in range(1, LARGEST + 1):
        play(secret, (), Trajectory(secret, (), (), (), 1.0 / LARGEST))
    return SmallEnvironment("guess", tuple(trajectories), len(rows), actions=LARGEST)

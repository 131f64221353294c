"""The games that tests of trees share, and random play on them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TypeVar

from gem_envs_games.trees import (
    ConnectFour,
    KuhnPoker,
    LeducPoker,
    LiarsDice,
    Nim,
    Position,
    PrisonersDilemma,
    RockPaperScissors,
    TicTacToe,
)
from gem_envs_games.trees.solving import Policy

ROOTS: dict[str, Position] = {
    "connect_four": ConnectFour(),
    "kuhn_poker": KuhnPoker(),
    "leduc_poker": LeducPoker(),
    "liars_dice": LiarsDice(),
    "nim": Nim(),
    "prisoners_dilemma": PrisonersDilemma(),
    "rock_paper_scissors": RockPaperScissors(rounds=3),
    "tic_tac_toe": TicTacToe(),
}


P = TypeVar("P", bound=Position)


def played(root: P, *moves: str | tuple[str, ...]) -> P:
    """The position after these moves; a tuple has those of several seats at once."""
    position = root
    for move in moves:
        position = position.after(*([move] if isinstance(move, str) else move))
    return position


def random_play(root: P, seed: int) -> Iterator[P]:
    """The positions of one game that is played at random, first and last included."""
    random = Random(seed)
    position = root
    while not position.is_over:
        yield position
        if position.movers:
            actions = [random.choice(position.legal(seat)) for seat in position.movers]
        else:
            actions = [random.choice([outcome for outcome, _ in position.chances()])]
        position = position.after(*actions)
    yield position


def random_policy(seed: int) -> Policy:
    """A policy whose probabilities depend on the seed and the information state alone."""

    def policy(information: str, actions: tuple[str, ...]) -> list[float]:
        random = Random(f"{seed} {information}")
        shares = [random.random() for _ in actions]
        return [share / sum(shares) for share in shares]

    return policy

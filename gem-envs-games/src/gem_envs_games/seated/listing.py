"""The ids of the games of several seats. Imports `gem.specs` and the standard library alone."""

from __future__ import annotations

from typing import Any

from gem.specs import CheckHints, EnvSpec

__all__ = ["ENVS"]


def _spec(
    name: str, target: str, summary: str, *, deals: bool = False, mixes: bool = False, **kwargs: Any
) -> EnvSpec:
    """Return the spec of a game. Where nothing is dealt, every episode has the same start."""
    return EnvSpec(
        id=f"game:{name}-v0",
        target=f"gem_envs_games.seated.{target}:{name}",
        kwargs=kwargs,
        summary=summary,
        blocking=False,
        source="Generated from the seed.",
        licence="Apache-2.0",
        check=CheckHints(fixed_start=not deals, mixes=mixes),
    )


ENVS = (
    _spec(
        "ConnectFour",
        "connect_four",
        "Two seats: get four discs in a line on 6x7.",
        rows=6,
        columns=7,
    ),
    _spec(
        "KuhnPoker",
        "kuhn_poker",
        "Two seats: three cards and one bet.",
        deals=True,
        mixes=True,
    ),
    _spec(
        "LeducPoker",
        "leduc_poker",
        "Two seats: six cards, two rounds of bets.",
        deals=True,
        mixes=True,
    ),
    _spec(
        "LiarsDice",
        "liars_dice",
        "Two seats: bid on two dice, see one.",
        deals=True,
        mixes=True,
    ),
    _spec("Nim", "nim", "Two seats: take the last object of three piles."),
    _spec(
        "PrisonersDilemma",
        "prisoners_dilemma",
        "Two seats at once: cooperate or defect, 5 rounds.",
        mixes=True,
        rounds=5,
    ),
    _spec(
        "RockPaperScissors",
        "rock_paper_scissors",
        "Two seats at once: rock, paper or scissors, 5 rounds.",
        mixes=True,
        rounds=5,
    ),
    _spec("TicTacToe", "tic_tac_toe", "Two seats: get three in a row on 3x3."),
)

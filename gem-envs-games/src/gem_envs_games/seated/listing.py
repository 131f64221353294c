"""The ids of the games of several seats. Imports `gem.specs` and the standard library alone."""

from __future__ import annotations

from typing import Any

from gem.specs import CheckHints, EnvSpec

__all__ = ["ENVS"]


def _spec(name: str, target: str, summary: str, **kwargs: Any) -> EnvSpec:
    """Return the spec of a game without chance, so that every episode has the same start."""
    return EnvSpec(
        id=f"game:{name}-v0",
        target=f"gem_envs_games.seated.{target}:{name}",
        kwargs=kwargs,
        summary=summary,
        blocking=False,
        source="Generated from the seed.",
        licence="Apache-2.0",
        check=CheckHints(fixed_start=True),
    )


ENVS = (
    _spec(
        "ConnectFour",
        "connect_four",
        "Two seats: get four discs in a line on 6x7.",
        rows=6,
        columns=7,
    ),
    _spec("Nim", "nim", "Two seats: take the last object of three piles."),
    _spec("TicTacToe", "tic_tac_toe", "Two seats: get three in a row on 3x3."),
)

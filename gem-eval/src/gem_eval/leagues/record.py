"""What a run that is a league says of itself. Knows nothing about how it is played."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["Forfeits", "LeagueRecord"]

Forfeits = Literal["apart", "lose"]
"""What a game counts that a seat's policy did not play on in: nothing, or that it lost."""


class LeagueRecord(BaseModel):
    """That the line-ups of a run are those of a league.

    `policies` are who plays, in the order given. With `is_sample` not every line-up is played, for
    there are too many. `forfeits` says what a game counts that a policy did not play on in.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    policies: tuple[str, ...]
    is_sample: bool = False
    forfeits: Forfeits = "apart"

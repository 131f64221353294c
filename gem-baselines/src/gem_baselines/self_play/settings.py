"""The settings of self-play: a table `[self_play]` of an experiment, as frozen data."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["SelfPlaySettings"]

_Count = Annotated[int, Field(ge=1)]
_Share = Annotated[float, Field(ge=0, le=1)]
_WATCHED = 4
"""The least `pool_size` of a monitor: the first copy, the newest, the best and the reference."""


class SelfPlaySettings(BaseModel):
    """How the games of a training in self-play are played, and what watches over it.

    - `opponents`: "self" for the learning policy at every seat; "pool" for that, and a share of
      the games against frozen copies.
    - `pool_share`: that share, of the episodes of an update.
    - `pool_size`: the most frozen copies that are kept. The first, from before any update, and the
      newest are always among them; the others lie as evenly in between as can be. A monitor keeps
      two more, so that it needs a pool of 4 at least.
    - `snapshot_every`: updates between two frozen copies.
    - `decay`: of the moving averages that are the baselines of the seats.
    - `monitor`: whether a collapse is looked for, when a copy is due, and undone.
    - `monitor_games`: how many games the policy plays then against the copies, and as many the copy
      that it is compared with: shared out evenly over each copy in each seat.
    - `margin`: what it has to earn less, by game, against the copy and in the seat where it earns
      least, to have fallen.
    - `slow_down`: what its steps are multiplied by where a collapse is undone, for a policy that
      can take smaller ones; 1 for the same steps.
    - `settle_half_life`: updates after which the weight of its entropy is half as large, counted
      from the first collapse that was undone, for a policy that can lower it; None for a weight
      that stays.

    The defaults of the monitor are for games that pay from -1 to 1. Where it looks, copies that
    beat the policy are met more often (`gem_baselines.self_play.opponents`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    opponents: Literal["self", "pool"] = "self"
    pool_share: _Share = 0.5
    pool_size: Annotated[int, Field(ge=2)] = 8
    snapshot_every: _Count = 20
    decay: Annotated[float, Field(ge=0, lt=1)] = 0.95
    monitor: bool = False
    monitor_games: _Count = 512
    margin: Annotated[float, Field(ge=0)] = 0.3
    slow_down: Annotated[float, Field(gt=0, le=1)] = 1.0
    settle_half_life: _Count | None = None

    @model_validator(mode="after")
    def _has_room_for_what_is_kept(self) -> SelfPlaySettings:
        if self.monitor and self.pool_size < _WATCHED:
            raise ValueError(
                f"A monitor was asked for with a pool_size of {self.pool_size}, and it keeps the "
                "first copy, the newest, the best and the one that it compares with. Set pool_size "
                f"to {_WATCHED} or more."
            )
        return self

"""What a game pays, as one frozen object. Knows nothing about any game's rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

__all__ = ["PUBLISHED", "Rewards"]


@dataclass(frozen=True, slots=True)
class Rewards:
    """The constants that a game pays. The defaults are those published with axon-rl/gem.

    `success` is what a solved episode earns in all, and partial credit is a share of it. `step`
    goes with every valid move that does not win, `invalid` with every refused one, `fail` with
    the move that loses or exhausts the turns, `format_error` with an answer that cannot be read.

    >>> Rewards(invalid=-0.05).bounds()
    (-0.1, 1.0)
    """

    success: float = 1.0
    step: float = 0.0
    fail: float = 0.0
    invalid: float = 0.0
    format_error: float = -0.1

    # Read by pydantic where the arguments of an environment are checked.
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "extra": "forbid",
        "strict": True,
        "allow_inf_nan": False,
    }

    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest reward of one step, partial credit included."""
        moves = [self.step, self.step + self.success, self.invalid, self.invalid + self.success]
        ends = [reward + self.fail for reward in moves]
        wins = [0.0, self.success]  # the last of many shares is close to nothing
        possible = [self.format_error, *wins, *moves, *ends]
        return min(possible), max(possible)


PUBLISHED = Rewards()

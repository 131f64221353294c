"""What a league came to, as frozen data: standings, records, and the warning. Computes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from gem_eval.leagues.record import Forfeits

__all__ = ["Circle", "Figure", "Meeting", "Record", "SeatRecord", "Standing", "Standings"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Figure(_Frozen):
    """A figure with its 95% interval. A bound is None where the games set none.

    `has_interval` is False where they are of one seed alone, which shows no spread.
    """

    value: float
    low: float | None
    high: float | None
    has_interval: bool = True


class Record(_Frozen):
    """What came of games for one of those who played: `points` are wins, and half the draws."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def points(self) -> float:
        """What was won, of as many points as there were games."""
        return self.wins + self.draws / 2

    @property
    def share(self) -> float | None:
        """What was won of all there was to win; None without a game."""
        return self.points / self.games if self.games else None


class Meeting(Record):
    """What came of the games of one policy against another, who is `opponent`."""

    opponent: str


class SeatRecord(Record):
    """What came of the games of a policy at one seat. In a game of many it meets several at once.

    `mean_return` is of the games that were played to their end; None where there was none.
    """

    seat: str
    mean_return: float | None = None


class Standing(_Frozen):
    """One policy of a league. `rating` is None where who met whom connects not all of them.

    `forfeits` are the games that ended because it did not answer. `exploitability` is exact, or
    None for the reason that is given: what the best answer to it gains, by seat.
    """

    rank: int
    policy: str
    rating: Figure | None
    record: Record
    forfeits: int
    by_seat: tuple[SeatRecord, ...]
    meetings: tuple[Meeting, ...]
    exploitability: float | None = None
    no_exploitability: str = ""


class Circle(_Frozen):
    """Three policies, each ahead of the next, and the last of the first: with what share."""

    policies: tuple[str, str, str]
    shares: tuple[float, float, float]


class Standings(_Frozen):
    """What a league came to, the best first.

    `model` is what ratings are of: Elo points by Bradley and Terry's model, whose mean is 1500, or
    openskill's, which begin at 25. `first_seat` is what the lower seat is worth in Elo points.
    `cyclic_share`, `p_value`, `circle` and `is_cyclic` are as `gem_eval.leagues.cycles` explains.
    `void` games ended by an error that is nobody's, and count nowhere; `forfeits` count by
    `forfeits_are`. `notes` are for a person to read.
    """

    format: Literal[1] = 1
    env_id: str
    seats: tuple[str, ...]
    model: Literal["Bradley-Terry", "Plackett-Luce"]
    standings: tuple[Standing, ...]
    seeds: int
    games: int
    forfeits: int
    forfeits_are: Forfeits
    void: int
    first_seat: Figure | None = None
    cyclic_share: float | None = None
    p_value: float | None = None
    circle: Circle | None = None
    is_cyclic: bool = False
    notes: tuple[str, ...] = ()

    @property
    def warning(self) -> str:
        """Say why one number cannot rank these policies; "" where it can, for all that is known."""
        return self.warning_by({})

    def warning_by(self, called: Mapping[str, str]) -> str:
        """Return the same, with policies called otherwise where the mapping has their names."""
        if not self.is_cyclic or self.circle is None or self.p_value is None:
            return ""
        names = [called.get(policy, policy) for policy in self.circle.policies]
        following = (*names[1:], names[0])
        links = [
            f"{name} takes {share:.0%} from {other}"
            for name, other, share in zip(names, following, self.circle.shares, strict=True)
        ]
        chance = "< 0.0001" if self.p_value < 0.0001 else f"= {self.p_value:.4f}"
        return (
            f"One number cannot rank these policies: {', '.join(links)} (p {chance}). Read the "
            "table of who beats whom instead of the ratings."
        )

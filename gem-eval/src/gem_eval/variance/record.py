"""What a run that splits noise says of itself. Knows nothing about how it is played."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["NoiseRecord", "Seeds"]

Count = Annotated[int, Field(ge=1)]


class Seeds(NamedTuple):
    """Which seed each of two players has, counted from 0."""

    first: int
    second: int


class NoiseRecord(BaseModel):
    """That each task of a run is played with `agents` seeds of one player and `users` of another.

    Every seed meets every other: the repeat of an episode counts these pairs, the second player's
    seed the fastest. `seats` are the two players' by name, the one whose score counts first; they
    are empty where the environment has one seat. Each episode is graded `judges` times in all.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    agents: Count
    users: Count
    judges: Count
    seats: tuple[str, ...] = ()

    @property
    def repeats(self) -> int:
        """Episodes of each task."""
        return self.agents * self.users

    def seeds_of(self, repeat: int) -> Seeds:
        """Return who has which seed in a repeat.

        >>> NoiseRecord(agents=2, users=3, judges=1).seeds_of(4)
        Seeds(first=1, second=1)
        """
        return Seeds(*divmod(repeat, self.users))

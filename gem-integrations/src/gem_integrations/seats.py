"""Episodes of several seats for trainers: which seat a row is of, and one episode for its rows.

A row of training data is one seat's, as a conversation is: the model plays every seat, and the row
is the part of its own. Knows nothing about any framework.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar, Union

from gem.errors import BadArguments

__all__ = ["SharedEpisodes", "refused_seats", "seat_of"]

Seat = Union[int, str]
T = TypeVar("T")


def seat_of(seat: Seat | None, seats: Sequence[str], *, env_id: str) -> int:
    """Return the number of the seat that a row names, by its number or name.

    Of an environment of one seat a row need not name it. Raises BadArguments on no such seat, and
    where there are several and none is named.
    """
    if seat is None and len(seats) == 1:
        return 0
    if isinstance(seat, str) and seat in seats:
        return seats.index(seat)
    if type(seat) is int and 0 <= seat < len(seats):
        return seat
    named = "names no seat" if seat is None else f"names the seat {seat!r:.40}"
    raise BadArguments(
        f"A row of the data set {named}, and {env_id!r} has the seats {', '.join(seats)}. "
        "`python -m gem_integrations.rows ENV --out FILE` writes a row for each seat.",
        subject="row",
    )


def refused_seats(env_id: str, seats: Sequence[str], framework: str) -> BadArguments:
    """Return the error for several seats and a framework whose loop plays one conversation."""
    wrapper = f'{{"id": "seat_view", "seat": "{seats[0]}", "opponents": "my_module:my_policy"}}'
    return BadArguments(
        f"{env_id!r} was to be played through {framework}, which plays one conversation an "
        f"episode, and it has the seats {', '.join(seats)}. Train one of them with gem.SeatView: "
        f"add {wrapper} to the wrappers.",
        subject="env_id",
    )


class SharedEpisodes(Generic[T]):
    """Episodes that are being played, for the rows of their other seats to take their parts of.

    Rows of one start and different seats that are asked for at the same time are of one episode,
    which is played once. A row of a seat that is taken already has an episode of its own. Only
    while an episode is played does it wait for others: none is of an older model than its rows.
    """

    def __init__(self) -> None:
        self._playing: dict[Hashable, list[_Playing[T]]] = {}

    async def play(self, key: Hashable, seat: int, play: Callable[[], Awaitable[T]]) -> T:
        """Return what `play` returns for an episode that `key` fixes and whose seat is free.

        It is called where no such episode is being played. What it raises is raised for each row.
        """
        shared = self._joined(key, seat, play)
        shared.waiting += 1
        try:
            # Shielded: a row that is cancelled must not take the episode from the others.
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.waiting:
                shared.task.cancel()  # which does nothing to one that has ended

    def _joined(self, key: Hashable, seat: int, play: Callable[[], Awaitable[T]]) -> _Playing[T]:
        """Return an episode whose seat is free: one that is played, or a new one."""
        others = self._playing.setdefault(key, [])
        for shared in others:
            if seat not in shared.taken:
                shared.taken.add(seat)
                return shared
        shared = _Playing(asyncio.ensure_future(play()), {seat})
        others.append(shared)
        shared.task.add_done_callback(lambda _: self._leave(key, shared))
        return shared

    def _leave(self, key: Hashable, shared: _Playing[T]) -> None:
        """Forget an episode that has ended."""
        self._playing[key].remove(shared)
        if not self._playing[key]:
            del self._playing[key]


class _Playing(Generic[T]):
    """An episode that is played. `taken` are the seats whose rows have come, `waiting` how many."""

    def __init__(self, task: asyncio.Future[T], taken: set[int]) -> None:
        self.task = task
        self.taken = taken
        self.waiting = 0

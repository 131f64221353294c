"""Read of a log what credit needs: the rewards of the episodes that are trained in one batch.

Each is read turn by turn, so that no log is in memory whole. Knows nothing about estimators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gem_eval.viewing import rows
from gem_eval.viewing.credit import Played
from gem_eval.viewing.json_window import JsonWindow
from gem_eval.viewing.log_index import LogIndex
from gem_eval.viewing.rows import Place, Row
from gem_eval.viewing.scanning import walk
from gem_eval.viewing.seats import SeatFigures
from gem_eval.viewing.token_columns import CRITIC, generated_count, is_number

__all__ = ["MOST_BYTES", "MOST_EPISODES", "Batch", "read_batch"]

MOST_EPISODES = 512
MOST_BYTES = 32 << 20
"""What a page waits for: of a log with more, a batch is a block of this."""


class Batch(NamedTuple):
    """Episodes that are trained together, and the place of the one that was asked for.

    `of` is how many there would be without a limit; `unreadable` counts those that are no longer
    where they were, or whose rewards are no numbers. `numbers` are those of the turns of the one
    that was asked for, from 1: of several seats they have those of others between them.
    """

    episodes: tuple[Played, ...]
    place: int
    of: int
    unreadable: int
    numbers: tuple[int, ...]

    @property
    def turns(self) -> int:
        """How many turns all of them have."""
        return sum(len(episode.rewards) for episode in self.episodes)


def read_batch(
    log: Path, index: LogIndex, row: Row, *, of_task: bool, seat: SeatFigures | None = None
) -> Batch | None:
    """Return the batch of a try: those of its policy, or of its task. None where it is in none.

    Of several seats it is of the parts of one, `seat`, at which the same policy sat.

    A try that an error ended is in none, and neither is one in whose place another counts. Raises
    OSError and ValueError where it cannot be read itself.
    """
    if not row.counts or row.outcome == "error":
        return None
    with index.reading() as db:
        places, total = rows.batch_of(db, row, of_task=of_task, most=MOST_EPISODES, seat=seat)
    number = None if seat is None else seat.number
    numbers: tuple[int, ...] = ()
    episodes: list[Played] = []
    at = 0
    unreadable = 0
    with log.open("rb") as file:
        for place in _with(row, places):
            if place.line == row.line:
                at = len(episodes)
                played, numbers = _played(file, place, number)
                episodes.append(played)
                continue
            try:
                episodes.append(_played(file, place, number)[0])
            except ValueError:
                unreadable += 1
    return Batch(tuple(episodes), at, total, unreadable, numbers)


def _with(row: Row, places: Sequence[Place]) -> list[Place]:
    """Return the block with a row of those into which so many bytes cut the places.

    It is cut from the first on, so that the episodes of a block have the same one.
    """
    block: list[Place] = []
    size = 0
    for place in places:
        if block and size + place.length > MOST_BYTES:
            if any(each.line == row.line for each in block):
                return block
            block = []
            size = 0
        block.append(place)
        size += place.length
    return block


class _Turns:
    """Collects of turns what credit needs, and forgets the rest.

    Of several seats it takes the turns of one, each with what that seat earned from then to its
    next, as a part of an episode has it.
    """

    def __init__(self, seat: int | None) -> None:
        self._seat = seat
        self._count = 0
        self._owed = 0.0  # before its first turn
        self.numbers: list[int] = []
        self.rewards: list[float] = []
        self.generated_counts: list[int | None] = []
        self.values: list[float | None] = []

    def add(self, turn: Mapping[str, Any], _start: int, _end: int) -> None:
        self._count += 1
        reward = turn["reward"] if self._seat is None else turn["rewards"][self._seat]
        if not is_number(reward):
            raise ValueError(f"a reward is {reward!r:.40}")
        if self._seat is not None and turn.get("seat", 0) != self._seat:
            if self.rewards:
                self.rewards[-1] += float(reward)
            else:
                self._owed += float(reward)
            return
        self.rewards.append(float(reward) + self._owed)
        self._owed = 0.0
        self.numbers.append(self._count)
        self.generated_counts.append(generated_count(turn))
        info = turn.get("info")
        value = info.get(CRITIC) if isinstance(info, Mapping) else None
        self.values.append(float(value) if is_number(value) else None)


def _played(file: BinaryIO, place: Place, seat: int | None) -> tuple[Played, tuple[int, ...]]:
    """Reduce the line that stands at a place. Raises ValueError on what is no episode.

    Return with it the numbers of its turns.
    """
    file.seek(place.start)
    turns = _Turns(seat)
    try:
        record = walk(JsonWindow(file, place.length), turns.add)
        success = record.get("success") if seat is None else record["seats"][seat]["success"]
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not an episode: {error!r:.120}") from error
    played = Played(
        rewards=tuple(turns.rewards),
        generated_counts=_whole(turns.generated_counts),
        values=_whole(turns.values),
        succeeded=success is True,
    )
    return played, tuple(turns.numbers)


def _whole(column: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return a column with an entry for every turn, or None where one is missing."""
    return None if any(each is None for each in column) else tuple(column)

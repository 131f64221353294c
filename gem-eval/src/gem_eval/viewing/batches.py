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
from gem_eval.viewing.token_columns import CRITIC, generated_count, is_number

__all__ = ["MOST_BYTES", "MOST_EPISODES", "Batch", "read_batch"]

MOST_EPISODES = 512
MOST_BYTES = 32 << 20
"""What a page waits for: of a log with more, a batch is a block of this."""


class Batch(NamedTuple):
    """Episodes that are trained together, and the place of the one that was asked for.

    `of` is how many there would be without a limit; `unreadable` counts those that are no longer
    where they were, or whose rewards are no numbers.
    """

    episodes: tuple[Played, ...]
    place: int
    of: int
    unreadable: int

    @property
    def turns(self) -> int:
        """How many turns all of them have."""
        return sum(len(episode.rewards) for episode in self.episodes)


def read_batch(log: Path, index: LogIndex, row: Row, *, of_task: bool) -> Batch | None:
    """Return the batch of a try: those of its policy, or of its task. None where it is in none.

    A try that an error ended is in none, and neither is one in whose place another counts. Raises
    OSError and ValueError where it cannot be read itself.
    """
    if not row.counts or row.outcome == "error":
        return None
    with index.reading() as db:
        places, total = rows.batch_of(db, row, of_task=of_task, most=MOST_EPISODES)
    episodes: list[Played] = []
    at = 0
    unreadable = 0
    with log.open("rb") as file:
        for place in _with(row, places):
            if place.line == row.line:
                at = len(episodes)
                episodes.append(_played(file, place))
                continue
            try:
                episodes.append(_played(file, place))
            except ValueError:
                unreadable += 1
    return Batch(tuple(episodes), at, total, unreadable)


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
    """Collects of turns what credit needs, and forgets the rest."""

    def __init__(self) -> None:
        self.rewards: list[float] = []
        self.generated_counts: list[int | None] = []
        self.values: list[float | None] = []

    def add(self, turn: Mapping[str, Any], _start: int, _end: int) -> None:
        reward = turn["reward"]
        if not is_number(reward):
            raise ValueError(f"a reward is {reward!r:.40}")
        self.rewards.append(float(reward))
        self.generated_counts.append(generated_count(turn))
        info = turn.get("info")
        value = info.get(CRITIC) if isinstance(info, Mapping) else None
        self.values.append(float(value) if is_number(value) else None)


def _played(file: BinaryIO, place: Place) -> Played:
    """Reduce the line that stands at a place. Raises ValueError on what is no episode."""
    file.seek(place.start)
    turns = _Turns()
    try:
        record = walk(JsonWindow(file, place.length), turns.add)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not an episode: {error!r:.120}") from error
    return Played(
        rewards=tuple(turns.rewards),
        generated_counts=_whole(turns.generated_counts),
        values=_whole(turns.values),
        succeeded=record.get("success") is True,
    )


def _whole(column: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return a column with an entry for every turn, or None where one is missing."""
    return None if any(each is None for each in column) else tuple(column)

"""Read the whole lines of a run's log by where they begin, so that none has to be kept.

Knows nothing about what is done with the episodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gem.episode import Episode
from gem.errors import LogError

__all__ = ["Entry", "StoredLog"]

# Python reads NaN, Infinity, 1e999 and a number of 400 digits, and no log of ours holds them. What
# matches may also be text: only then is the episode written again to see, which takes as long as to
# read it.
_MAYBE_NOT_FINITE = re.compile(rb"NaN|Infinity|[0-9.][eE]\+?[0-9]{3}|[0-9]{309}")


class Entry(NamedTuple):
    """An episode and its place: its line, counted from 1, and the bytes from `start` to `end`.

    Of several seats `episode` may be the part of one: then `seat` is its number, and `whole` the
    episode that it is of.
    """

    line: int
    start: int
    end: int
    episode: Episode
    seat: int | None = None
    whole: Episode | None = None

    @property
    def seat_name(self) -> str | None:
        """The name of the seat, None where there is one."""
        return None if self.seat is None else self.episode.seats[0].name


class StoredLog:
    """The log of a run, which another process may be writing. Half a line at its end is not read.

    Raises LogError, naming the line, on a whole one that is no episode, and where the log cannot
    be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise self._unreadable(error) from error
        self.size = path.stat().st_size

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def __enter__(self) -> StoredLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def at(self, start: int, *, line: int) -> Entry:
        """Return the entry that begins at a byte."""
        try:
            self._file.seek(start)
            text = self._file.readline()
        except OSError as error:
            raise self._unreadable(error) from error
        return Entry(line, start, start + len(text), self._episode(text, line))

    def last_tries(self) -> Iterator[Entry]:
        """Yield each episode once: of one that was tried again after an error, the last try.

        Episodes whose last try ended by an error come after all others. Of those only the places
        are kept meanwhile.
        """
        failed: dict[tuple[object, ...], tuple[int, int]] = {}
        for entry in self._entries():
            identity = _identity(entry.episode)
            failed.pop(identity, None)
            if entry.episode.is_error:
                failed[identity] = (entry.start, entry.line)
            else:
                yield entry
        for start, line in failed.values():
            yield self.at(start, line=line)

    def _entries(self) -> Iterator[Entry]:
        start = 0
        line = 0
        while True:
            try:
                # Its own place each time: whoever is given an entry may look at another.
                self._file.seek(start)
                text = self._file.readline()
            except OSError as error:
                raise self._unreadable(error) from error
            if not text.endswith(b"\n"):
                return  # the end, or a line that is being written or was cut off
            line += 1
            yield Entry(line, start, start + len(text), self._episode(text, line))
            start += len(text)

    def _episode(self, text: bytes, line: int) -> Episode:
        try:
            episode = Episode.from_json(text)
            if _MAYBE_NOT_FINITE.search(text):
                episode.to_json()  # raises ValueError where a number is not finite
        except ValueError as error:
            raise LogError(
                f"Line {line} of {self.path} is no episode ({error}). Remove that line to export "
                "the others.",
                path=str(self.path),
            ) from error
        return episode

    def _unreadable(self, error: OSError) -> LogError:
        return LogError(
            f"The episode log {self.path} cannot be read ({error.strerror}). A run that was just "
            "begun has none yet: export it once an episode has finished.",
            path=str(self.path),
        )


def _identity(episode: Episode) -> tuple[object, ...]:
    """Return what two tries of one episode have in common, and two episodes have not."""
    return (episode.policy, episode.env_index, episode.episode_index, episode.repeat)

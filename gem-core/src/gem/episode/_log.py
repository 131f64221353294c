"""A log of episodes: JSON lines, one episode a line, append-only.

Knows nothing about what an episode is, but that it is one line of JSON.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from gem.episode._episode import Episode
from gem.errors import LogError

__all__ = ["EpisodeLog", "begins_as_log", "read_episodes", "read_last_tries"]

_LOG_NAME = "episodes.jsonl"  # in the folder of a run
_CHUNK = 64 * 1024  # bytes that are read at once, from the end on
_BEGINNING = b'{"env_id":'  # of every line: the field that an episode has first


class EpisodeLog:
    """Append episodes to a file, one a line, each safe on disk before `append` returns.

    A half-written last line, left by a crash, is removed on opening; a write that fails is taken
    back. A file that ends in anything else is not a log, and is left as it is. One log writes a
    file at a time; threads may share it. Raises LogError, naming the file, on any of it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        # From where a line goes until its end is known: two threads would write at one place.
        self._appending = threading.Lock()
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise self._error("cannot be opened for writing", error) from error
        try:
            # Locked before it is mended: half a line may be what another run is writing just now.
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._end = self._mended_end()
        except LogError:
            os.close(self._file)
            raise
        except OSError as error:
            os.close(self._file)
            is_busy = isinstance(error, BlockingIOError)
            raise (self._busy() if is_busy else self._error("cannot be read", error)) from error

    def append(self, episode: Episode) -> None:
        """Write one episode and wait until it is on disk."""
        line = episode.to_json().encode("ascii") + b"\n"
        with self._appending:
            # Where this fails `_end` stays where it was: the next line takes the place of this one.
            try:
                self._write(line)
                os.fsync(self._file)
            except OSError as error:
                with suppress(OSError):  # what cannot be taken back now is mended on opening
                    os.ftruncate(self._file, self._end)
                raise self._error("cannot be written", error) from error
            self._end += len(line)

    def close(self) -> None:
        """Release the file. A second call does nothing."""
        with self._appending:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def __enter__(self) -> EpisodeLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, line: bytes) -> None:
        # The system may take a part of it. Its place is given each time, not the file's own: after
        # an error that would be anywhere.
        written = 0
        while written < len(line):
            written += os.pwrite(self._file, line[written:], self._end + written)

    def _mended_end(self) -> int:
        """Return the end of the last whole line, everything after it removed."""
        size = os.fstat(self._file).st_size
        # Read backwards, until it holds the beginning of the last line: a log may be very large.
        rest = b""
        while len(rest) < size and b"\n" not in rest:
            start = max(0, size - len(rest) - _CHUNK)
            rest = os.pread(self._file, size - len(rest) - start, start) + rest
        rest = rest[rest.rfind(b"\n") + 1 :]
        # Cut off between a line and its newline: the episode is whole, and is kept.
        if rest and _is_whole(rest):
            return size + os.pwrite(self._file, b"\n", size)
        if rest:
            self._refuse_unless_begun(rest)
            os.ftruncate(self._file, size - len(rest))
        return size - len(rest)

    def _refuse_unless_begun(self, rest: bytes) -> None:
        """Raise unless a write that was cut off can have left this: nothing else is ours."""
        begun = rest.rstrip(b"\0")[: len(_BEGINNING)]  # a power cut can leave NULs
        if not _BEGINNING.startswith(begun):
            raise LogError(
                f"The file {self.path} was given as an episode log, and ends in what is no "
                "episode. It is unharmed: choose another path.",
                path=str(self.path),
            )

    def _busy(self) -> LogError:
        return LogError(
            f"Episodes were to be written to {self.path}, and it is being written by another run. "
            "Wait until that has ended, or stop it, and start again; or choose another path.",
            path=str(self.path),
        )

    def _error(self, problem: str, error: OSError) -> LogError:
        return LogError(
            f"The episode log {self.path} {problem} ({error.strerror}). What it holds is unharmed. "
            "Look at the disk and at who may write there, or choose another path.",
            path=str(self.path),
        )


def read_episodes(path: str | os.PathLike[str]) -> Iterator[Episode]:
    """Yield the episodes of a log, in the order in which they finished.

    `path` is the log's, or that of the run folder that holds it. A half-written last line is
    ignored. Raises LogError, naming the line, on any other that is not an episode, and where
    there is no log.
    """
    log = _log_path(path)
    try:
        with log.open("rb") as lines:
            yield from _read_lines(lines, log)
    except OSError as error:
        raise LogError(
            f"The episode log {log} cannot be read ({error.strerror}). Check the path: it is "
            f"that of a run folder, or of the `{_LOG_NAME}` in it.",
            path=str(log),
        ) from error


def begins_as_log(path: Path) -> bool:
    """Say whether a file begins as a log does; one that cannot be read is not said to be another.

    An empty file may become a log.
    """
    try:
        with path.open("rb") as file:
            return file.read(len(_BEGINNING)) in (_BEGINNING, b"")
    except OSError:
        return True


def _log_path(run: str | os.PathLike[str]) -> Path:
    """Return the path of a run's episodes: in a folder it has one name, and a file is a log."""
    path = Path(run)
    return path / _LOG_NAME if path.is_dir() else path


def read_last_tries(path: str | os.PathLike[str]) -> Iterator[Episode]:
    """Yield each episode of a log once: of one that was tried again after an error, the last try.

    A log is append-only, so a first try stays in it. Episodes whose last try ended by an error
    come after all others. Raises LogError as `read_episodes` does.
    """
    # An error is kept back until the end of the log: a later line may be the same episode again.
    failed: dict[tuple[object, ...], Episode] = {}
    for episode in read_episodes(path):
        place = _identity(episode)
        failed.pop(place, None)
        if episode.is_error:
            failed[place] = episode
        else:
            yield episode
    yield from failed.values()


def _identity(episode: Episode) -> tuple[object, ...]:
    """Return what two tries of one episode have in common, and two episodes have not."""
    return (
        episode.policy,
        episode.env_id,
        episode.env_index,
        episode.episode_index,
        episode.repeat,
        episode.seed,
    )


def _read_lines(lines: Any, path: Path) -> Iterator[Episode]:
    """Yield the episode of each line. Raises LogError on a whole line that is none."""
    for number, line in enumerate(lines, start=1):
        try:
            episode = Episode.from_json(line)
        except ValueError as error:
            # A last line without its end is one that is being written, or was cut off.
            if not line.endswith(b"\n"):
                return
            raise LogError(
                f"Line {number} of {path} is not an episode ({error}). Remove that line to read "
                "the others.",
                path=str(path),
            ) from error
        yield episode


def _is_whole(line: bytes) -> bool:
    try:
        Episode.from_json(line)
    except ValueError:
        return False
    return True

"""Results: a line for each arm that was trained, in a committed file for each experiment.

Two processes may write at the same time, and each may be killed at any moment: a line is whole or
is not there. Knows nothing about how an arm is trained.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import Any, Protocol

from gem_baselines.training.files import replace_file

__all__ = ["Results", "claimed"]

FOLDER = Path(__file__).parent / "results"
CLAIMS = Path(__file__).parent / ".claims"  # ignored by git: locks, and nothing in them


class Digested(Protocol):
    """What has a line: an arm, which its digest tells from every other."""

    @property
    def digest(self) -> str:
        """What tells it from every other."""
        ...


class Results:
    """The lines of one experiment, by the digest of the arm that each is of."""

    def __init__(self, experiment: str) -> None:
        self.path = FOLDER / f"{experiment}.jsonl"

    def lines(self) -> dict[str, Mapping[str, Any]]:
        """Read all lines that are whole. Of two of one arm it takes the later one."""
        if not self.path.exists():
            return {}
        found = {}
        for text in self.path.read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue  # a process was killed while it wrote this line: the arm is run again
            found[line["digest"]] = line
        return found

    def of(self, arms: Iterable[Digested]) -> list[Mapping[str, Any]]:
        """Return the lines of these arms as they are set now, in their order; others are stale."""
        lines = self.lines()
        return [lines[arm.digest] for arm in arms if arm.digest in lines]

    def add(self, line: Mapping[str, Any]) -> None:
        """Append a line."""
        text = json.dumps(line, separators=(",", ":"))
        with self._locked() as file:
            # What a killed process left of a line is closed off, so that it spoils no other.
            is_open = file.tell() > 0 and _last_byte(file.fileno(), file.tell()) != b"\n"
            file.write((f"\n{text}\n" if is_open else f"{text}\n").encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())

    def keep(self, arms: Sequence[Digested]) -> int:
        """Drop the lines of arms that are no longer set so; return how many those were.

        The file is replaced as a whole, while no other process can add a line.
        """
        if not self.path.exists():
            return 0
        with self._locked():
            lines = self.lines()
            kept = self.of(arms)
            text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in kept)
            replace_file(self.path, text)
        return len(lines) - len(kept)

    @contextmanager
    def _locked(self) -> Iterator[BufferedRandom]:
        """Open the file to append, while no other process writes."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            with self.path.open("ab+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                # `keep` may have put another file in its place before the lock was free: what were
                # written to the old one would be in no file any more.
                if self.path.exists() and os.path.samestat(
                    os.fstat(file.fileno()), self.path.stat()
                ):
                    yield file
                    return


def _last_byte(descriptor: int, size: int) -> bytes:
    return os.pread(descriptor, 1, size - 1)


@contextmanager
def claimed(arm: Digested) -> Iterator[bool]:
    """Keep every other process from an arm meanwhile. Yields whether no other has it already.

    The system releases what a killed process had claimed.
    """
    CLAIMS.mkdir(exist_ok=True)
    path = CLAIMS / arm.digest
    with path.open("w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            # Removed while it is locked: whoever opened it before finds the arm done.
            path.unlink(missing_ok=True)

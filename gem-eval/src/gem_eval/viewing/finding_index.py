"""What the finders find in the episodes of one log, kept in its index and grown beside the pages.

A log is looked at once by each version of the finders. Pages only read what is there.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from gem.episode import Episode
from gem_eval.finding.finder import Finding
from gem_eval.finding.inspecting import Failure, Inspector
from gem_eval.finding.installed import InstalledFinder, installed
from gem_eval.viewing import finding_rows
from gem_eval.viewing.conversation import UNREADABLE
from gem_eval.viewing.log_index import LogIndex
from gem_eval.viewing.scanning import LONGEST_AS_OBJECTS

__all__ = ["FindingIndex", "FindingState", "version_of"]

_LINES_AT_ONCE = 100
_BYTES_AT_ONCE = 4 << 20


class FindingState(NamedTuple):
    """How far the finders are. `line` is the last that they looked at, of those up to `last`.

    `finders` are their ids, none before they were loaded; `left_out` is how many episodes were too
    long, or could not be read. `problems` has a line for each finder that failed.
    """

    line: int = 0
    last: int = 0
    left_out: int = 0
    finders: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether they have looked at all that was read of the log."""
        return self.line >= self.last

    def has_seen(self, line: int) -> bool:
        """Whether they have looked at a line."""
        return line <= self.line


class _Batch(NamedTuple):
    """Tries that nobody looked at yet, and what the index said of the finders before them."""

    known: finding_rows.Known
    tries: list[tuple[int, int, int]]  # line, first byte, bytes


class _Seen(NamedTuple):
    """What was found in the tries of a batch, by line."""

    findings: list[tuple[int, list[Finding]]]
    left_out: int
    failures: tuple[Failure, ...]


class FindingIndex:
    """The findings of one log. `log` is the file that `index` is made of."""

    def __init__(self, log: Path, index: LogIndex) -> None:
        self._log = log
        self._index = index
        self._finders: tuple[InstalledFinder, ...] = ()
        self._version = ""
        self._load_problems: tuple[str, ...] = ()

    @property
    def state(self) -> FindingState:
        """How far the finders are."""
        with self._index.reading() as db:
            known = finding_rows.known_in(db)
            last = finding_rows.last_line(db)
        # Until they are loaded nobody knows whether what is there is theirs; most often it is.
        is_theirs = not self._version or known.version == self._version
        failures = [Failure(*fields) for fields in known.failures] if is_theirs else []
        return FindingState(
            line=known.line if is_theirs else 0,
            last=last,
            left_out=known.left_out if is_theirs else 0,
            finders=tuple(each.finder.id for each in self._finders),
            problems=(*self._load_problems, *map(str, failures)),
        )

    def grow(self, budget_s: float = 0.2) -> bool:
        """Let the finders look on for about so long, and say whether there is more.

        Raises OSError and sqlite3.Error.
        """
        until = time.monotonic() + budget_s
        self._load()
        while True:
            batch = self._next()
            if not batch.tries:
                return False
            self._keep(batch, self._look_at(batch.tries))
            if time.monotonic() > until:
                return True

    def _load(self) -> None:
        """Load the finders of packs, on the thread that uses them: no page waits for an import."""
        found = installed()
        if found.finders != self._finders or not self._version:
            self._finders = found.finders
            self._load_problems = found.problems
            self._version = version_of(found.finders)

    def _next(self) -> _Batch:
        with self._index.reading() as db:
            known = finding_rows.known_in(db)
            after = known.line if known.version == self._version else 0
            tries = finding_rows.tries_after(db, after, _LINES_AT_ONCE)
        chosen: list[tuple[int, int, int]] = []
        size = 0
        for line, start, length in tries:
            chosen.append((line, start, length))
            size += length
            if size > _BYTES_AT_ONCE:
                break
        return _Batch(known, chosen)

    def _look_at(self, tries: Sequence[tuple[int, int, int]]) -> _Seen:
        inspector = Inspector(self._finders)
        findings = []
        left_out = 0
        with self._log.open("rb") as log:
            for line, start, length in tries:
                episode = None
                if length <= LONGEST_AS_OBJECTS:
                    log.seek(start)
                    with suppress(*UNREADABLE):
                        episode = Episode.from_json(log.read(length))
                if episode is None:
                    left_out += 1
                    continue
                findings.append((line, inspector.findings(episode, where=f"line {line:,}")))
        return _Seen(findings, left_out, inspector.failures)

    def _keep(self, batch: _Batch, seen: _Seen) -> None:
        is_anew = batch.known.version != self._version
        before = finding_rows.Known(batch.known.generation) if is_anew else batch.known
        after = before._replace(
            version=self._version,
            line=batch.tries[-1][0],
            left_out=before.left_out + seen.left_out,
            failures=_merged(before.failures, seen.failures),
        )
        with self._index.reading() as db, db:
            db.execute("BEGIN IMMEDIATE")
            if finding_rows.known_in(db) != batch.known:
                # The log was replaced meanwhile, or another viewer was faster.
                return
            if is_anew:
                finding_rows.clear(db)
            for line, findings in seen.findings:
                finding_rows.insert(db, line, findings)
            finding_rows.write_known(db, after)


def _merged(before: Sequence[Sequence[Any]], new: Iterable[Failure]) -> list[list[Any]]:
    """Add failures to those of the batches before, each finder once."""
    failures = {fields[0]: Failure(*fields) for fields in before}
    for failure in new:
        known = failures.setdefault(failure.finder, failure)
        if known is not failure:
            known.times += failure.times
    return [
        [each.finder, each.distribution, each.where, each.error, each.times]
        for each in failures.values()
    ]


def version_of(finders: Sequence[InstalledFinder]) -> str:
    """Return a word that changes with the finders: ids, distributions' versions, rules' files."""
    parts = []
    for finder, distribution in finders:
        try:
            released = version(distribution)
        except PackageNotFoundError:  # a checkout on the path
            released = ""
        parts.append([finder.id, distribution, released, _digest_of_module(finder.rule)])
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _digest_of_module(rule: object) -> str:
    """Hash the file that a rule is written in; whoever edits one sees what it finds then."""
    module = sys.modules.get(str(getattr(rule, "__module__", "")))
    with suppress(OSError, TypeError):
        return blake2b(Path(str(module.__file__)).read_bytes()).hexdigest() if module else ""
    return ""

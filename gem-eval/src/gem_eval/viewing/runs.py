"""The runs that are shown: each a folder, the index of its log, and its figures, kept current."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

from gem.errors import in_one_line
from gem_eval.run_folder import RunFolder
from gem_eval.viewing import finding_rows, rows
from gem_eval.viewing.finding_index import FindingIndex
from gem_eval.viewing.log_index import LogIndex, LogState
from gem_eval.viewing.overview import Overview, overview_of
from gem_eval.viewing.query import Query
from gem_eval.viewing.records import WatchedRecord
from gem_eval.viewing.searching import Search, Searches
from gem_eval.viewing.selection import Selection

__all__ = ["Follower", "Looker", "Progress", "Run", "name_of", "open_runs", "rate_of"]

_QUIET_S = 60  # a run without a new episode for so long is no longer called running
_RATE_OVER_LOOKS = 15  # that found something new
_LOOK_EVERY_S = 1.0
_QUICK = 2000  # lines of a log whose figures take no time
_SHARE_OF_TIME = 0.2  # that figures of a growing run may take
_FAR_BEHIND = 8 << 20  # bytes of a log that nobody has read yet
_LOOK_FOR_S = 0.1  # that finders look at a stretch
_REST_S = 0.05  # between two stretches
_PATIENCE_S = 2  # with a rule that is at work when the viewer ends


class Progress(NamedTuple):
    """How far a run is. `state` is "reading", "running", "stopped" or "finished".

    `rate` is in episodes a second; `quiet_s` is how long ago the last episode ended. `line` is the
    last line of the log that was read.
    """

    state: str
    episodes: int
    planned: int | None
    errors: int
    retried: int
    rate: float | None
    quiet_s: float
    line: int
    read: float


class Run:
    """One run. `name` is its word in addresses."""

    def __init__(self, name: str, folder: RunFolder, cache: Path | None) -> None:
        self.name = name
        self.folder = folder
        self.index = LogIndex(folder.episodes_path, cache)
        self.findings = FindingIndex(folder.episodes_path, self.index)
        self._searches = Searches(folder.episodes_path, self.index)
        self.up = ""  # the address of the page of the training whose evaluation it is
        self.problem = ""
        self.finding_problem = ""
        self._overview: Overview | None = None
        self._overview_took_s = 0.0
        self._overview_at = -1e9
        self._counted: deque[tuple[float, int]] = deque(maxlen=_RATE_OVER_LOOKS)
        self._lock = threading.Lock()
        self._record = WatchedRecord(folder.path / "run.json")
        self._edition = self.edition

    @property
    def env_ids(self) -> list[str]:
        """The environments of the run, in its order."""
        return [spec.id for spec in self.folder.record.settings.envs]

    @property
    def policies(self) -> list[str]:
        """The policies of the run, in its order."""
        return [ref.name for ref in self.folder.record.settings.policies]

    @property
    def state(self) -> LogState:
        """How far its log was read."""
        return self.index.state

    @property
    def edition(self) -> str:
        """A word that is another one where the log was replaced."""
        with self.index.reading() as db:
            return finding_rows.known_in(db).generation

    def renew(self, folder: RunFolder) -> None:
        """Go on with what the record of the run says by now, and forget figures by another one."""
        with self._lock:  # figures that are being worked out are by the record of before
            if folder.record != self.folder.record:
                self.folder = folder
                self._overview = None

    def _reread_record(self) -> None:
        """Read `run.json` where it was written again: the run was made longer, or is another."""
        if self.folder.has_name:  # an evaluation has none, and is renewed with its training
            self._record.read_again(lambda: self.renew(RunFolder.open(self.folder.path)))

    def _forget_replaced(self) -> None:
        """Forget the figures of a log that was replaced, by however many episodes."""
        edition = self.edition
        if edition != self._edition:
            with self._lock:
                self._overview = None
            self._edition = edition

    def refresh(self, budget_s: float = 0.2) -> bool:
        """Read on in the log, and say whether there is more."""
        try:
            self._reread_record()
            is_more = self.index.grow(budget_s)
            self._forget_replaced()
            self.problem = self._record.problem
        except (OSError, sqlite3.Error) as error:
            # The disk, or the index that another viewer holds: what was read stays, and the next
            # look may find more.
            self.problem = in_one_line(error, at_most=300)
            return False
        if is_more:
            # What was written before it was looked at comes as fast as it is read.
            self._counted.clear()
        else:
            self._count()
        return is_more

    def _count(self) -> None:
        """Keep how far the log is by now, for the rate."""
        kept = [*self._counted][-2:]
        if len(kept) == 2 and kept[0][1] == kept[1][1]:
            # A look that found nothing stays until the next look alone: else those that found
            # something, of a run whose episodes take long, would be none of the few that are kept.
            self._counted.pop()
        self._counted.append((time.monotonic(), self.state.lines))

    def search(self, query: Query) -> Search | None:
        """Search on for what a query asks of conversations, None where it asks nothing of them."""
        text = query.conversation_text
        if not text:
            return None
        try:
            return self._searches.search(text)
        except OSError as error:
            self.problem = in_one_line(error, at_most=300)
            return Search(text, 0, 0, {})

    def selection(
        self, db: sqlite3.Connection, query: Query, search: Search | None = None
    ) -> Selection:
        """Return the episodes that a query leaves, by what was found for it so far."""
        return Selection(db, query, self.env_ids, search.lines if search else "[]")

    def look_on(self, budget_s: float = 0.2) -> bool:
        """Let the finders look on, and say whether there is more."""
        state = self.state
        if state.size - state.end > _FAR_BEHIND:
            return False  # to read the log comes first: pages need that more
        try:
            is_more = self.findings.grow(budget_s)
            self.finding_problem = ""
        except (OSError, sqlite3.Error) as error:
            self.finding_problem = in_one_line(error, at_most=300)
            return False
        return is_more

    def refresh_overview(self) -> None:
        """Work the figures out again where there are new episodes, and where time allows."""
        known = self._overview
        if known is not None:
            with self.index.reading() as db:
                tries = rows.count_tries(db)
            waited_s = time.monotonic() - self._overview_at
            if known.tries == tries or waited_s < self._overview_took_s / _SHARE_OF_TIME:
                return
        self.overview(is_fresh=True)

    def overview(self, *, is_fresh: bool = False) -> Overview:
        """Return the figures, those of before where they need not be of the last episode."""
        with self._lock:  # two pages that ask at once need not both work them out
            if self._overview is None or is_fresh:
                start = time.monotonic()
                self._overview = overview_of(self.folder, self.index)
                self._overview_at = time.monotonic()
                self._overview_took_s = self._overview_at - start
            return self._overview

    def quick_overview(self) -> Overview | None:
        """Return the figures where they are known, or made in no time."""
        if self._overview is None and not self._is_reading(self.state):
            return self.overview()
        return self._overview

    @property
    def known_overview(self) -> Overview | None:
        """The figures, as far as they were worked out."""
        return self._overview

    def progress(self) -> Progress:
        """Say how far the run is."""
        state = self.state
        with self.index.reading() as db:
            episodes, errors = rows.count_episodes(db)
            tries = rows.count_tries(db)
        planned = self.folder.record.total
        quiet_s = self._quiet_s()
        return Progress(
            state=self._name_of_state(state, episodes, planned, quiet_s),
            episodes=episodes,
            planned=planned,
            errors=errors,
            retried=tries - episodes,
            rate=rate_of([*self._counted]),
            quiet_s=quiet_s,
            line=state.lines,
            read=state.end / state.size if state.size else 1.0,
        )

    def close(self) -> None:
        """Let go of its index."""
        self.index.close()

    def _name_of_state(
        self, state: LogState, episodes: int, planned: int | None, quiet_s: float
    ) -> str:
        if self._is_reading(state):
            return "reading"
        if planned is None or episodes >= planned or self._is_decided():
            return "finished"
        return "running" if quiet_s < _QUIET_S else "stopped"

    def _is_reading(self, state: LogState) -> bool:
        """Say whether there are no figures yet, and they take time."""
        is_large = state.lines > _QUICK or state.end < state.size
        return self._overview is None and is_large

    def _is_decided(self) -> bool:
        overview = self._overview
        decisions = () if overview is None else overview.summary.decisions
        return bool(decisions) and all(each.verdict != "UNDECIDED" for each in decisions)

    def _quiet_s(self) -> float:
        """Return how long ago the log was written, or the run was begun where it has none."""
        for path in (self.folder.episodes_path, self.folder.path / "run.json"):
            try:
                return max(0.0, time.time() - path.stat().st_mtime)
            except OSError:
                continue
        return float("inf")


def rate_of(counted: Sequence[tuple[float, int]]) -> float | None:
    """Return how much is counted in a second, from times with what was counted by then.

    None where there is less than a second, or where something was taken away meanwhile.

    >>> rate_of([(0.0, 0), (1.0, 30), (2.0, 40)])
    20.0
    """
    if len(counted) < 2 or counted[-1][0] - counted[0][0] < 1:
        return None
    if any(after[1] < before[1] for before, after in pairwise(counted)):
        return None
    return (counted[-1][1] - counted[0][1]) / (counted[-1][0] - counted[0][0])


def open_runs(paths: Sequence[str | Path], cache: Path | None) -> list[Run]:
    """Open run folders for a viewer. Raises RunFolderError."""
    folders = [RunFolder.open(path) for path in dict.fromkeys(map(Path, paths))]
    names: list[str] = []
    for folder in folders:
        names.append(name_of(folder.path, names))
    return [Run(name, folder, cache) for name, folder in zip(names, folders, strict=True)]


def name_of(folder: Path, taken: Sequence[str]) -> str:
    """Return a word for a folder that no other has: letters, digits, dots and dashes."""
    word = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.absolute().name).strip("-.") or "run"
    name = word
    number = 2
    while name in taken:
        name = f"{word}-{number}"
        number += 1
    return name


class Followed(Protocol):
    """What a follower keeps up to date: a run, or a training."""

    problem: str

    def refresh(self, budget_s: float = 0.2) -> bool:
        """Read on, and say whether there is more."""

    def refresh_overview(self) -> None:
        """Work out what takes time, where it is not of the last."""


class Follower:
    """Keeps runs up to date on a thread of its own, so that no page waits for a log."""

    def __init__(self, runs: Sequence[Followed]) -> None:
        self._runs = runs
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="gem-env view", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Stop looking. Figures that are being worked out are waited for."""
        self._is_over.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._is_over.is_set():
            is_more = False
            for run in self._runs:
                try:
                    if run.refresh():
                        is_more = True
                    else:
                        run.refresh_overview()
                except Exception as error:  # noqa: BLE001 - one run must not stop the others
                    run.problem = in_one_line(error, at_most=300)
            if not is_more:
                self._is_over.wait(_LOOK_EVERY_S)


class Looker:
    """Lets the finders look at runs on a thread of its own: a rule that hangs stops only them."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="gem-env view finders", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Stop looking. A rule that takes long is not waited for: it only reads."""
        self._is_over.set()
        self._thread.join(_PATIENCE_S)

    def _look(self) -> None:
        while not self._is_over.is_set():
            is_more = False
            for run in self._runs:
                try:
                    is_more = run.look_on(_LOOK_FOR_S) or is_more
                except Exception as error:  # noqa: BLE001 - one run must not stop the others
                    run.finding_problem = in_one_line(error, at_most=300)
            # Pages are made on threads of the same process, and go first.
            self._is_over.wait(_REST_S if is_more else _LOOK_EVERY_S)

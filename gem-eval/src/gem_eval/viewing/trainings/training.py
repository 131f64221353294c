"""One training that is shown: its figures by update in columns, read on as its files grow."""

from __future__ import annotations

import math
import threading
import time
from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem.errors import in_one_line
from gem_eval.training_folder import GrowingLines, TrainingFiles
from gem_eval.viewing.records import WatchedRecord

__all__ = ["MODES", "EvaluationLine", "Series", "ViewedTraining"]

Floats = NDArray[np.float64]
MODES = ("sampled", "greedy")
"""How actions of an evaluation are chosen: drawn, or the most probable one."""

_MOST_FIGURES = 100  # of a folder that somebody else wrote; a training has about twenty
_NO_FIGURES = frozenset({"update", "total_turns"})  # they are axes
_QUIET_S = 60  # a training without a new line for so long is no longer called running


class Series(NamedTuple):
    """A figure of one training: arrays of one length, of updates, rising, and of values."""

    updates: Floats
    values: Floats


class EvaluationLine(NamedTuple):
    """What an evaluation after an update came to: figures by mode."""

    update: int
    figures: Mapping[str, Mapping[str, float]]


class ViewedTraining:
    """One training. `name` is its word in addresses.

    `editions` counts how often its files were begun to be read, from the first on.
    """

    def __init__(self, name: str, folder: TrainingFiles) -> None:
        self.name = name
        self.folder = folder
        self.problem = ""
        self._lock = threading.Lock()
        self._is_behind = True
        self._record = WatchedRecord(folder.record_path)
        self.editions = 0
        self._begin()

    def _begin(self) -> None:
        self.editions += 1
        self.evaluations: list[EvaluationLine] = []
        self._updates = array("d")
        self._turns = array("d")
        self._figures: dict[str, array[float]] = {}
        self._timed = array("d")
        self._cpu_s = array("d")
        self._metric_lines = GrowingLines(self.folder.metrics_path)
        self._timing_lines = GrowingLines(self.folder.timings_path)
        self._evaluation_lines = GrowingLines(self.folder.evaluations_path)

    @property
    def experiment(self) -> Mapping[str, Any]:
        """The settings, as somebody wrote them: any may be missing, or be of any kind."""
        return self.folder.record.experiment

    @property
    def seed(self) -> str:
        """The seed, as text."""
        return f"{self.experiment.get('seed', '')!s:.40}"

    @property
    def done(self) -> int:
        """The last update whose figures are known."""
        return int(self._updates[-1]) if self._updates else 0

    @property
    def planned(self) -> int | None:
        """How many updates there will be, None where nobody says."""
        planned = self.experiment.get("updates")
        return planned if isinstance(planned, int) and planned >= 0 else None

    @property
    def state(self) -> str:
        """Say whether it is "reading", "finished", "running" or "stopped"."""
        if self._is_behind:
            return "reading"
        if self.planned is not None and self.done >= self.planned:
            return "finished"
        return "running" if self._quiet_s() < _QUIET_S else "stopped"

    @property
    def last_success(self) -> float | None:
        """The success of drawn actions in the last evaluation, None where there is none."""
        if not self.evaluations:
            return None
        return self.evaluations[-1].figures.get(MODES[0], {}).get("success")

    @property
    def bad_lines(self) -> int:
        """How many lines of its files cannot be read."""
        files = (self._metric_lines, self._timing_lines, self._evaluation_lines)
        return sum(lines.bad_lines for lines in files)

    @property
    def figures(self) -> list[str]:
        """The names of its figures, in the order in which they came up."""
        evaluated: dict[str, None] = {}
        for evaluation in self.evaluations[-1:]:
            for mode, figures in evaluation.figures.items():
                evaluated |= dict.fromkeys(f"evaluation.{mode}.{name}" for name in figures)
        return [*self._figures, *evaluated]

    def series(self, figure: str, last: int) -> Series | None:
        """Return a figure by update up to the last, None where it has none of that name."""
        with self._lock:
            found = self._evaluated(figure)
            if figure in self._figures:
                found = Series(np.array(self._updates), np.array(self._figures[figure]))
        if found is None:
            return None
        is_up_to = found.updates <= last
        return Series(found.updates[is_up_to], found.values[is_up_to])

    def along(self, axis: str, updates: Floats) -> Floats:
        """Return where updates stand on an axis: "turns" so far, "cpu" seconds, or "updates"."""
        with self._lock:
            known, values = {
                "turns": (self._updates, self._turns),
                "cpu": (self._timed, self._cpu_s),
            }.get(axis, (None, None))
            if known is None or values is None:
                return updates
            if not known:
                return np.full(len(updates), np.nan)
            found: Floats = np.interp(updates, np.array(known), np.array(values))
        found[updates == 0] = 0.0  # before the first update nothing was spent
        return found

    def refresh(self, budget_s: float = 0.2) -> bool:
        """Read on in its files, and say whether there is more."""
        until = time.monotonic() + budget_s
        with self._lock:
            try:
                self._record.read_again(self._reread_record)
                while is_more := self._read_on():
                    if time.monotonic() > until:
                        break
                self.problem = self._record.problem
            except OSError as error:
                self.problem = in_one_line(error, at_most=300)
                is_more = False
            self._is_behind = is_more
        return is_more

    def _reread_record(self) -> None:
        """Read the record: it was written again, as more updates are planned, or others."""
        self.folder = TrainingFiles.open(self.folder.path)

    def refresh_overview(self) -> None:
        """Do nothing: what a page shows is worked out from the columns."""

    def _read_on(self) -> bool:
        is_more = False
        for lines, add in (
            (self._metric_lines, self._add_metrics),
            (self._timing_lines, self._add_timings),
            (self._evaluation_lines, self._add_evaluation),
        ):
            read = lines.read_on()
            if read is None:
                self._begin()
                return True
            for plain in read[0]:
                add(plain)
            is_more = is_more or read[1]
        return is_more

    def _add_metrics(self, plain: Mapping[str, Any]) -> None:
        update = _update_of(plain)
        if update is None or (self._updates and update <= self._updates[-1]):
            return
        number = len(self._updates)
        self._updates.append(update)
        self._turns.append(_number(plain.get("total_turns")))
        learnt = plain.get("learning")
        named = {name: value for name, value in plain.items() if name not in _NO_FIGURES}
        if isinstance(learnt, dict):
            named |= {f"learning.{name}": value for name, value in learnt.items()}
        for name, value in named.items():
            found = _number(value)
            if math.isnan(found):
                continue
            if name not in self._figures:
                if len(self._figures) == _MOST_FIGURES:
                    continue
                self._figures[name] = array("d", [math.nan] * number)
            self._figures[name].append(found)
        for column in self._figures.values():
            if len(column) == number:  # a figure that this line does not have
                column.append(math.nan)

    def _add_timings(self, plain: Mapping[str, Any]) -> None:
        update = _update_of(plain)
        spent_s = _number(plain.get("cpu_s"))
        if update is None or math.isnan(spent_s) or (self._timed and update <= self._timed[-1]):
            return
        before_s = self._cpu_s[-1] if self._cpu_s else 0.0
        self._timed.append(update)
        self._cpu_s.append(before_s + max(spent_s, 0.0))

    def _add_evaluation(self, plain: Mapping[str, Any]) -> None:
        update = _update_of(plain)
        if update is None or (self.evaluations and update <= self.evaluations[-1].update):
            return
        figures = {}
        for mode in MODES:
            known = plain.get(mode)
            if isinstance(known, dict):
                numbers = {name: _number(value) for name, value in known.items()}
                kept = [item for item in numbers.items() if not math.isnan(item[1])]
                figures[mode] = dict(kept[:_MOST_FIGURES])
        self.evaluations.append(EvaluationLine(int(update), figures))

    def _evaluated(self, figure: str) -> Series | None:
        prefix, _, rest = figure.partition(".")
        mode, _, name = rest.partition(".")
        if prefix != "evaluation":
            return None
        points = [
            (float(evaluation.update), evaluation.figures[mode][name])
            for evaluation in self.evaluations
            if name in evaluation.figures.get(mode, {})
        ]
        if not points:
            return None
        columns = np.array(points)
        return Series(columns[:, 0], columns[:, 1])

    def _quiet_s(self) -> float:
        """Return how long ago the last update was written, or the training begun."""
        for path in (self.folder.metrics_path, self.folder.record_path):
            try:
                return max(0.0, time.time() - path.stat().st_mtime)
            except OSError:
                continue
        return math.inf


def _update_of(plain: Mapping[str, Any]) -> float | None:
    update = plain.get("update")
    if not isinstance(update, int) or isinstance(update, bool) or not 0 <= update < 1 << 53:
        return None
    return float(update)


def _number(value: Any) -> float:
    """Return a finite number as a float, and NaN for whatever else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return math.nan
    try:
        found = float(value)
    except OverflowError:
        return math.nan
    return found if math.isfinite(found) else math.nan

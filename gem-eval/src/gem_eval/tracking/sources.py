"""What trackers are told of: a run, or a training, read on from its folder while it is written.

Knows nothing about trackers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from gem.episode import Episode
from gem_eval.budgets import Amount
from gem_eval.playing import amounts_of
from gem_eval.run_folder import RunFolder
from gem_eval.summary import Outcome, Tries, summarise
from gem_eval.tracking.figures import figures_of, parameters_of, part_of_name, short_text
from gem_eval.training_folder import GrowingLines, TrainingFiles

__all__ = ["Point", "RunSource", "TrackedFolder", "TrainingSource"]


_LARGEST = sys.float_info.max  # of JSON: an int may be larger than any float


class Point(NamedTuple):
    """The figures at a step."""

    step: int
    figures: Mapping[str, float]


class TrackedFolder(Protocol):
    """A folder that grows. `before_first` is a step that is smaller than every one of its own."""

    before_first: int

    @property
    def name(self) -> str:
        """What it is called where trackers list it."""

    def parameters(self) -> dict[str, str]:
        """Return its settings as short texts."""

    def points_from(self, step: int) -> Sequence[Point]:
        """Read on, and return what is to be told of this step and later ones, in their order."""

    def files(self) -> list[Path]:
        """Return what is to be kept with it, once it is finished."""


class RunSource:
    """A run: its summary so far, at the number of tries that have ended.

    `asking` names the policies whose answers count as requests.
    """

    before_first = 0

    def __init__(self, folder: RunFolder, asking: Collection[str]) -> None:
        self._folder = folder
        self._asking = asking
        self._tries = Tries()
        self._ended = 0
        self._spent = Amount()
        branch = folder.record.branch
        self._first_turn = 0 if branch is None else branch.turn
        self._end = 0

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self._folder.path.resolve().name

    def parameters(self) -> dict[str, str]:
        """Return what `run.json` says."""
        return parameters_of(self._folder.record)

    def points_from(self, step: int) -> list[Point]:
        """Read on in the log, and return the newest point alone: it has all that came before."""
        self._read_on()
        if self._ended < max(step, 1):
            return []
        record = self._folder.record
        summary = summarise(
            record.settings,
            self._tries.last,
            run=str(self._folder.path),
            retried=self._tries.retried,
            is_branch=record.branch is not None,
            is_crossed=record.is_crossed,
        )
        return [Point(self._ended, figures_of(summary, self._spent))]

    def files(self) -> list[Path]:
        """Return the summary."""
        return [self._folder.summary_path]

    def _read_on(self) -> None:
        """Count the whole lines that there are now, and none that come meanwhile."""
        try:
            file = self._folder.episodes_path.open("rb")
        except FileNotFoundError:  # the run has just begun
            return
        with file:
            size = os.fstat(file.fileno()).st_size
            file.seek(self._end)
            while self._end < size:
                line = file.readline()
                if not line.endswith(b"\n"):
                    return
                self._add(Episode.from_json(line))
                self._end += len(line)

    def _add(self, episode: Episode) -> None:
        self._tries.add(Outcome.of(episode))
        self._ended += 1
        for policy, amount in amounts_of(episode, self._first_turn).items():
            if policy in self._asking:
                self._spent = self._spent.plus(amount)


class TrainingSource:
    """A training: a point an update, with the figures of the evaluation after it, if there is one.

    What comes before the first update, an evaluation, is at step 0.
    """

    before_first = -1

    def __init__(self, folder: TrainingFiles) -> None:
        self._folder = folder
        self._begin()

    def _begin(self) -> None:
        self._metrics = GrowingLines(self._folder.metrics_path)
        self._evaluations = GrowingLines(self._folder.evaluations_path)
        self._updates: dict[int, Mapping[str, Any]] = {}
        self._evaluated: dict[int, Mapping[str, Any]] = {}

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self._folder.path.resolve().name

    def parameters(self) -> dict[str, str]:
        """Return what `experiment.json` says."""
        record = self._folder.record
        about = {"command": record.command, "created": record.created, "versions": record.versions}
        return {name: short_text(value) for name, value in {**record.experiment, **about}.items()}

    def points_from(self, step: int) -> list[Point]:
        """Read on in metrics and evaluations, and return a point an update.

        The last update waits for its evaluation where one is to come.
        """
        # First the metrics: the evaluation after an update is there before the next update is.
        self._read_on(self._metrics, self._updates)
        self._read_on(self._evaluations, self._evaluated)
        last = max(self._updates, default=0)
        # An evaluation whose update was not read yet comes with it, at the next look.
        evaluated = {update for update in self._evaluated if update <= last}
        steps = sorted({*self._updates, *evaluated})
        return [
            Point(update, self._figures(update))
            for update in steps
            if update >= step and (update < last or not self._awaits_evaluation(update))
        ]

    def files(self) -> list[Path]:
        """Return the figures of the evaluations."""
        return [self._folder.evaluations_path]

    def _read_on(self, lines: GrowingLines, known: dict[int, Mapping[str, Any]]) -> None:
        while (read := lines.read_on()) is not None:
            found, is_more = read
            for line in found:
                update = line.get("update")
                if isinstance(update, int):
                    known[update] = line
            if not is_more:
                return
        # The training went on from an earlier checkpoint. What was read comes again, the same.

    def _awaits_evaluation(self, update: int) -> bool:
        """Say whether an evaluation is due after an update, and not there yet."""
        experiment = self._folder.record.experiment
        every = experiment.get("eval_every")
        if update in self._evaluated or not isinstance(every, int) or every < 1:
            return False
        return update % every == 0 or update == experiment.get("updates")

    def _figures(self, update: int) -> dict[str, float]:
        figures = _numbers("", self._updates.get(update, {}))
        return {**figures, **_numbers("evaluation/", self._evaluated.get(update, {}))}


def _numbers(prefix: str, line: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a line by name, those of objects in it by the names of both."""
    found: dict[str, float] = {}
    for name, value in line.items():
        if isinstance(value, dict):
            found |= _numbers(f"{prefix}{part_of_name(name)}/", value)
        elif isinstance(value, int | float) and name != "update" and abs(value) <= _LARGEST:
            found[f"{prefix}{part_of_name(name)}"] = float(value)
    return found

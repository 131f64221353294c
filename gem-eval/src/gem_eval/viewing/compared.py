"""The comparison of the policies that a viewer shows, worked out beside the pages."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gem.errors import GemError, in_one_line
from gem_eval.comparing.comparison import Comparison, Difference, Flip, compare
from gem_eval.viewing.beside import Beside, read_beside
from gem_eval.viewing.runs import Run

__all__ = ["Answer", "Comparer", "Pair", "difference_of", "pair_of", "run_of"]

_QUICK = 2000  # lines of all logs that are compared in no time
_MOST_KEPT = 32
_LONGEST_PROBLEM = 300  # characters
_SHARE_OF_TIME = 0.2  # that comparisons of growing runs may take


class Answer(NamedTuple):
    """What a comparison came to, or why there is none; neither while it is worked out."""

    comparison: Comparison | None = None
    problem: str = ""

    @property
    def is_there(self) -> bool:
        """Whether it was worked out."""
        return self.comparison is not None or bool(self.problem)


class _Question(NamedTuple):
    runs: tuple[Path, ...]
    baseline: str | None


_Version = tuple[int, str]
"""How many lines a log has, and its edition: another log may have as many."""


class _Kept(NamedTuple):
    answer: Answer
    versions: tuple[_Version, ...]
    at: float
    took_s: float


class Comparer:
    """Compares the policies of runs with one of them, and keeps what came of it."""

    def __init__(self) -> None:
        self._kept: dict[_Question, _Kept] = {}
        self._lock = threading.Lock()
        self._workers: dict[_Question, threading.Thread] = {}

    def answer(self, runs: Sequence[Run], baseline: str | None) -> Answer:
        """Return the comparison with a baseline, that of before where logs have grown since.

        Of large logs it is worked out on a thread, and the answer has nothing until then.
        """
        question = _Question(tuple(run.folder.path for run in runs), baseline)
        versions = tuple((run.state.lines, run.edition) for run in runs)
        with self._lock:
            kept = self._kept.get(question)
            if kept is not None and _editions(kept.versions) != _editions(versions):
                kept = None  # of a log that was replaced, however short a time ago
            if kept is not None and self._is_good(kept, versions):
                return kept.answer
            if sum(lines for lines, _ in versions) > _QUICK:
                self._begin(question, versions)
                return Answer() if kept is None else kept.answer
        return self._work_out(question, versions)

    @staticmethod
    def _is_good(kept: _Kept, versions: tuple[_Version, ...]) -> bool:
        waited_s = time.monotonic() - kept.at
        return kept.versions == versions or waited_s < kept.took_s / _SHARE_OF_TIME

    def _begin(self, question: _Question, versions: tuple[_Version, ...]) -> None:
        worker = self._workers.get(question)
        if worker is None or not worker.is_alive():
            arguments = (question, versions)
            worker = threading.Thread(target=self._work_out, args=arguments, daemon=True)
            self._workers[question] = worker
            worker.start()

    def _work_out(self, question: _Question, versions: tuple[_Version, ...]) -> Answer:
        start = time.monotonic()
        try:
            answer = Answer(compare(question.runs, baseline=question.baseline))
        except GemError as error:
            answer = Answer(problem=str(error))
        except Exception as error:  # noqa: BLE001 - the memory's, say: all that ends the thread is kept
            # Or each page that is loaded again would compare all logs again.
            why = in_one_line(error, at_most=_LONGEST_PROBLEM)
            answer = Answer(problem=f"{why}. Start the viewer again to compare once more.")
        end = time.monotonic()
        with self._lock:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[question] = _Kept(answer, versions, end, end - start)
        return answer


def _editions(versions: tuple[_Version, ...]) -> list[str]:
    return [edition for _, edition in versions]


class Pair(NamedTuple):
    """Two episodes of one task that came out differently: the baseline's, and the candidate's."""

    flip: Flip
    beside: Beside


def difference_of(comparison: Comparison, candidate: str) -> Difference:
    """Return what is known of a candidate; of the first one where none is called so."""
    for difference in comparison.differences:
        if difference.candidate == candidate:
            return difference
    return comparison.differences[0]


def run_of(runs: Sequence[Run], comparison: Comparison, name: str) -> Run:
    """Return the run that a policy of a comparison is of."""
    [side] = [side for side in comparison.sides if side.name == name]
    [run] = [run for run in runs if run.folder.path == Path(side.run)]
    return run


def pair_of(
    runs: Sequence[Run], comparison: Comparison, difference: Difference, number: int
) -> Pair | None:
    """Return a flip, from 1, with both episodes. None where there is none, or a log lags behind.

    Raises OSError and ValueError as `read_beside` does.
    """
    if not 1 <= number <= len(difference.flips):
        return None
    flip = difference.flips[number - 1]
    baseline = run_of(runs, comparison, comparison.baseline)
    candidate = run_of(runs, comparison, difference.candidate)
    found = read_beside((baseline, candidate), (flip.baseline_line, flip.candidate_line))
    return None if found is None else Pair(flip, found)

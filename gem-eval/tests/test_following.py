"""A tracker is told each point once, and made up for what it refused or what a kill cut off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from gem_eval import Evaluation
from gem_eval.run_folder import RunFolder
from gem_eval.tracking.following import LoggedSteps, follow
from gem_eval.tracking.sources import RunSource

Run = Callable[..., Evaluation]


class Listed:
    """A tracker that keeps what it is told, and refuses the points that it is told to."""

    def __init__(self, refused: Sequence[int] = ()) -> None:
        self.begun: list[str | None] = []
        self.points: list[tuple[int, float]] = []
        self.ended: list[bool] = []
        self._refused = list(refused)
        self._calls = 0

    def begin(self, name: str, parameters: Mapping[str, str], run_id: str | None) -> str:
        self.begun.append(run_id)
        return "kept"

    def log(self, figures: Mapping[str, float], step: int) -> None:
        self._calls += 1
        if self._calls in self._refused:
            raise ConnectionError("nobody is there")
        self.points.append((step, figures["episodes"]))

    def end(self, *, is_finished: bool, files: Sequence[Path]) -> None:
        self.ended.append(is_finished)


class Growing:
    """A run whose log grows between two looks of its tracker."""

    def __init__(self, finished: Evaluation, path: Path) -> None:
        path.mkdir()
        for name in ("run.json", "summary.json"):
            (path / name).write_bytes((finished.path / name).read_bytes())
        self.folder = RunFolder.open(path)
        self.lines = finished.folder.episodes_path.read_bytes().splitlines(keepends=True)
        self.problems: list[str] = []

    def follow(self, tracker: Listed, *sizes: float, word: str = "finished") -> bool:
        """Follow it while it has so many lines, one size at a look, and then the word."""
        looks = iter(sizes)
        logged = LoggedSteps(self.folder.tracker_path("listed"))

        def next_word(wait_s: float) -> str | None:
            size = next(looks, None)
            if size is None:
                return word
            whole = b"".join(self.lines[: int(size)])
            half = self.lines[int(size)][:50] if size % 1 else b""
            self.folder.episodes_path.write_bytes(whole + half)
            return None

        try:
            return follow(
                RunSource(self.folder, asking=[]),
                tracker,
                logged,
                every_s=0.0,
                next_word=next_word,
                complain=self.problems.append,
            )
        finally:
            logged.close()


@pytest.fixture
def growing(run: Run, tmp_path: Path) -> Growing:
    return Growing(run("whole", policies="random"), tmp_path / "growing")


def test_a_point_is_logged_where_something_has_ended_since(growing: Growing) -> None:
    tracker = Listed()

    assert growing.follow(tracker, 0, 3, 3, 5.5, 6, 20)

    assert tracker.points == [(3, 3), (5, 5), (6, 6), (20, 20)]
    assert (tracker.begun, tracker.ended, growing.problems) == ([None], [True], [])


def test_a_point_that_was_refused_is_made_up_for(growing: Growing) -> None:
    tracker = Listed(refused=[2])

    assert growing.follow(tracker, 3, 5, 5, 20)

    assert tracker.points == [(3, 3), (5, 5), (20, 20)]
    assert growing.problems == ["ConnectionError: nobody is there"]


def test_a_run_that_lacks_nothing_is_logged_no_second_time(growing: Growing) -> None:
    tracker = Listed()

    assert growing.follow(tracker, 20)
    assert growing.follow(tracker)

    assert (tracker.points, tracker.ended) == ([(20, 20)], [True, True])


def test_a_last_point_that_was_refused_is_said(growing: Growing) -> None:
    tracker = Listed(refused=[2, 3])

    assert not growing.follow(tracker, 3, 20, word="")

    assert tracker.ended == [False]
    assert growing.follow(tracker)
    assert tracker.points == [(3, 3), (20, 20)]
    assert tracker.begun == [None, "kept"]


def test_a_point_that_a_kill_may_have_logged_is_not_logged_again(growing: Growing) -> None:
    tracker = Listed()
    record = growing.folder.tracker_path("listed")
    # Killed after it wrote down what it was about to log, and in the middle of the next line.
    line = '{"run_id": "kept", "step": 5, "is_taken": false}'
    record.write_text(f'{line}\n{{"run_id": "ke', encoding="utf-8")

    assert growing.follow(tracker, 5, 8)
    assert growing.follow(tracker, 20)

    assert tracker.begun == ["kept", "kept"]
    assert tracker.points == [(8, 8), (20, 20)]


def test_a_last_point_that_a_kill_may_have_cut_off_is_logged_once_more(growing: Growing) -> None:
    tracker = Listed()
    record = growing.folder.tracker_path("listed")
    line = '{"run_id": "kept", "step": 20, "is_taken": false}\n'
    record.write_text(line, encoding="utf-8")

    assert growing.follow(tracker, 20, 20)
    assert growing.follow(tracker, 20)

    assert tracker.points == [(20, 20)]


def test_a_file_that_does_not_say_what_was_taken_has_all_of_it(growing: Growing) -> None:
    tracker = Listed()
    record = growing.folder.tracker_path("listed")
    record.write_text('{"run_id": "kept", "step": 20}\n', encoding="utf-8")

    assert growing.follow(tracker, 20)

    assert tracker.points == []

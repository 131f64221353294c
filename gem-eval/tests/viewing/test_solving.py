"""An episode is played again only where both the user and a page of the viewer ask for it."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import gem
from gem import Env, Episode, Step, read_episodes
from gem.testing import registrations_undone
from gem_eval import Evaluation
from gem_eval.viewing.log_index import LogIndex
from gem_eval.viewing.runs import Run

from .conftest import Client, episode
from .reading import words

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

from gem_eval.viewing.solving import Solved, Solver, solve_again

MakeRun = Callable[..., Run]
Evaluate = Callable[..., Evaluation]
OURS = {"sec-fetch-site": "same-origin"}
FIRST = "/runs/run/episodes/1"


class Counting(Env):
    """Wants the number of the turn. Waits at the end for `may_end`."""

    may_end = threading.Event()
    plays = 0

    def reset(self, *_: Any, **__: Any) -> tuple[str, dict[str, Any]]:
        Counting.plays += 1
        self.count = 0
        return "Count.", {}

    def step(self, action: str) -> Step:
        self.count += 1
        if action == "wait":
            self.may_end.wait(60)
        return Step("Go on.", float(action == str(self.count)), self.count == 3, False, {})

    def solve(self) -> str | None:
        return None if self.count == 2 else f"\\boxed{{{self.count + 1}}}"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    Counting.may_end.clear()
    with registrations_undone():
        gem.register("made:Counting-v0", Counting)
        yield
    Counting.may_end.set()


def played(*actions: str) -> Episode:
    """Return an episode of the environment above as a rollout records it."""
    said = iter(actions)
    [found] = gem.run(lambda _: next(said), "made:Counting-v0", episodes=1)
    return found


def asked(run: Run, solver: Solver | None, **headers: str) -> httpx.Response:
    return Client(run, solver=solver).get(f"{FIRST}?solve=yes", headers=headers or OURS)


def finished(run: Run, solver: Solver) -> str:
    """The page once the episode was played again."""
    deadline = time.monotonic() + 60
    while 'http-equiv="refresh"' in (text := asked(run, solver).text):
        assert time.monotonic() < deadline
        time.sleep(0.01)  # the thread that is waited for needs the interpreter more
    return text


def answered(run: Run, solver: Solver) -> Solved:
    """What a solver answers at last about the first episode."""
    deadline = time.monotonic() + 30
    while not (solved := solver.ask(run, 1)).is_over:
        assert time.monotonic() < deadline
    return solved


def test_each_turn_has_what_solve_would_have_answered() -> None:
    solved = solve_again(played("1", "\\boxed{7}", "x"), budget_s=300)

    assert solved.solutions == {1: ("\\boxed{1}", False), 2: ("\\boxed{2}", False)}
    assert solved.problem == ""


def test_the_last_boxed_part_is_what_counts() -> None:
    solved = solve_again(played("so it is \\boxed{1}", "2", "3"), budget_s=300)

    assert solved.solutions[1].is_same


def test_a_box_with_braces_is_no_earlier_box() -> None:
    solved = solve_again(played("\\boxed{1}, no: \\boxed{\\frac{7}{2}}", "2", "3"), budget_s=300)

    assert not solved.solutions[1].is_same


def test_a_turn_that_does_not_come_out_as_it_did_ends_it() -> None:
    first, second, third = played("1", "2", "3").turns
    other = replace(played("1", "2", "3"), turns=(first, replace(second, reward=5.0), third))

    solved = solve_again(other, budget_s=300)

    assert set(solved.solutions) == {1}
    assert solved.problem == "Turn 2 does not come out as it did"


def test_time_is_bounded() -> None:
    solved = solve_again(played("1", "2", "3"), budget_s=0)

    assert solved.problem == "Turn 1 was not reached in 0 s"


def test_an_environment_that_is_not_there_is_told() -> None:
    solved = solve_again(replace(played("1", "2", "3"), env_id="nobody:Has-v0"), budget_s=300)

    assert "nobody:Has-v0" in solved.problem


def test_a_page_shows_it_once_it_was_asked_for(make_run: MakeRun) -> None:
    run = make_run(played("\\boxed{1}", "7", "3"))
    solver = Solver()

    offer = Client(run, solver=solver).get(FIRST).text
    text = words(finished(run, solver))

    assert f'href="{FIRST}?turn=1&amp;solve=yes"' in offer
    assert "The same in 1 of 2 turns; each turn says which." in text
    assert "solve() would have answered the same." in text
    assert "solve() would have answered \\boxed{2} ." in text


def test_nothing_is_offered_without_a_solver_or_an_environment(make_run: MakeRun) -> None:
    run = make_run(played("1", "2", "3"), episode(env_id="nobody:Has-v0", episode_index=1))

    assert 'id="solve"' not in asked(run, None).text
    other = Client(run, solver=Solver()).get("/runs/run/episodes/2").text
    assert 'id="solve"' not in other


@pytest.mark.parametrize("sent_from", ["cross-site", "same-site", "none", ""])
def test_a_page_of_another_site_has_nothing_run(make_run: MakeRun, sent_from: str) -> None:
    run = make_run(played("1", "2", "3"))
    solver = Solver()

    text = asked(run, solver, **{"sec-fetch-site": sent_from}).text

    assert "Play it again and ask" in text
    assert solver.known(run, 1) is None


def test_one_episode_at_a_time_is_played_and_no_page_waits(make_run: MakeRun) -> None:
    Counting.may_end.set()
    run = make_run(
        played("\\boxed{1}", "wait", "3"), replace(played("1", "2", "3"), episode_index=1)
    )
    Counting.may_end.clear()
    solver = Solver()

    first = asked(run, solver).text
    second = solver.ask(run, 2)

    assert "The episode is being played again." in first
    assert second.problem == "Another episode is being played again; ask once more later"
    Counting.may_end.set()
    assert "The same in 1 of 2 turns" in words(finished(run, solver))


def test_a_log_that_changed_meanwhile_is_told(make_run: MakeRun) -> None:
    run = make_run(played("1", "2", "3"))
    solver = Solver()
    log = run.folder.episodes_path
    text = Client(run, solver=solver).get(FIRST).text
    assert 'id="solve"' in text
    log.write_bytes(b"x" * log.stat().st_size)

    solver.ask(run, 1)
    deadline = time.monotonic() + 60
    while not (solved := solver.known(run, 1)) or not solved.is_over:
        assert time.monotonic() < deadline
        time.sleep(0.01)  # as above

    assert solved.problem != ""


class LockedForThreads:
    """An index that only the main thread may read, as where another process locks the file."""

    def __init__(self, index: LogIndex) -> None:
        self._index = index
        self.refused = 0

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        if threading.current_thread() is not threading.main_thread():
            self.refused += 1
            raise sqlite3.OperationalError("database is locked")
        return self._index.reading()


def test_an_index_that_cannot_be_read_is_told_and_asked_once(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(played("1", "2", "3"))
    index = LockedForThreads(run.index)
    monkeypatch.setattr(run, "index", index)
    solver = Solver()

    solved = answered(run, solver)

    assert solved.problem == "OperationalError: database is locked"
    assert solver.ask(run, 1) == solved
    assert index.refused == 1


class OvertakenIndex:
    """An index at whose nth reading by the main thread something else happens first."""

    def __init__(self, index: LogIndex, nth: int, happens: Callable[[], None]) -> None:
        self._index = index
        self._left = nth
        self._happens = happens

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        if threading.current_thread() is threading.main_thread():
            self._left -= 1
            if self._left == 0:
                self._happens()
        return self._index.reading()


@pytest.mark.parametrize("nth", [1, 2])
def test_an_episode_that_another_page_had_played_meanwhile_is_not_played_again(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    run = make_run(played("1", "2", "3"))
    solver = Solver()

    others = threading.enumerate()

    def ask_and_wait() -> None:
        answered(run, solver)
        for thread in threading.enumerate():
            if thread not in others:
                thread.join(30)

    monkeypatch.setattr(run, "index", OvertakenIndex(run.index, nth, ask_and_wait))
    before = Counting.plays

    solver.ask(run, 1)
    ask_and_wait()

    assert Counting.plays == before + 1


def test_what_the_solver_played_is_the_same(run: Evaluate, tmp_path: Path) -> None:
    run(policies="solver", episodes=1)
    [solved_by_itself] = read_episodes(tmp_path / "run")

    solved = solve_again(solved_by_itself, budget_s=300)

    assert len(solved.solutions) == len(solved_by_itself.turns)
    assert all(solution.is_same for solution in solved.solutions.values())

"""What an environment's own `solve()` says in each turn of an episode, by playing that again.

It runs environments, and so only where whoever started the viewer said so, and a page of the viewer
itself asks. Knows nothing about pages.
"""

from __future__ import annotations

import threading
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from gem import Action, Episode, make
from gem.errors import in_one_line
from gem.rollouts import resolve
from gem.specs import WrapperRef
from gem_eval.viewing import finding_rows, rows
from gem_eval.viewing.runs import Run
from gem_eval.viewing.scanning import LONGEST_AS_OBJECTS
from gem_eval.viewing.text import answer_pieces

__all__ = ["Solution", "Solved", "Solver", "solve_again"]

_BUDGET_S = 10.0
_MOST_KEPT = 32


class Solution(NamedTuple):
    """What `solve()` says before a turn. `is_same` says whether the policy answered just that."""

    text: str
    is_same: bool


class Solved(NamedTuple):
    """What is known of an episode: `solutions` by turn, from 1, where `solve()` knows one.

    `problem` says why not all turns were looked at, and is empty where they were. `is_over` is
    false while they are.
    """

    solutions: dict[int, Solution]
    problem: str = ""
    is_over: bool = True


class _Work(NamedTuple):
    key: tuple[str, str, int]
    since: float
    thread: threading.Thread


class Solver:
    """Plays one episode at a time again, on a thread, and keeps what came of it."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, int], Solved] = {}
        self._work: _Work | None = None
        self._lock = threading.Lock()

    def known(self, run: Run, line: int) -> Solved | None:
        """Return what is known of an episode, None where nobody has asked for it."""
        key = self._key(run, line)
        with self._lock:
            return self._known_of(key)

    def ask(self, run: Run, line: int) -> Solved:
        """Return what is known of an episode, and begin to play it again where that is nothing."""
        key = self._key(run, line)
        with self._lock:
            # Looked up and begun under one lock: what ends in between is not played a second time.
            found = self._known_of(key)
            if found is not None:
                return found
            if self._work is not None and self._work.thread.is_alive():
                # One at a time: a step that hangs holds a thread, and never more than one.
                return Solved({}, "Another episode is being played again; ask once more later")
            arguments = (run, line, key)
            thread = threading.Thread(target=self._solve, args=arguments, daemon=True)
            self._work = _Work(key, time.monotonic(), thread)
            thread.start()
        return Solved({}, is_over=False)

    def _known_of(self, key: tuple[str, str, int]) -> Solved | None:
        """Return what `known` does. The lock is held."""
        found = self._kept.get(key)
        if found is not None:
            return found
        work = self._work
        if work is None or work.key != key or not work.thread.is_alive():
            return None
        if time.monotonic() - work.since > 2 * _BUDGET_S:
            return Solved({}, f"A step takes longer than {2 * _BUDGET_S:.0f} s")
        return Solved({}, is_over=False)

    def _solve(self, run: Run, line: int, key: tuple[str, str, int]) -> None:
        try:
            solved = solve_again(_episode_of(run, line), budget_s=_BUDGET_S)
        except Exception as error:  # noqa: BLE001 - sqlite's, say: all that ends the thread is kept
            # Or each page that is loaded again would run the environment again.
            solved = Solved({}, in_one_line(error, at_most=300))
        with self._lock:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = solved

    @staticmethod
    def _key(run: Run, line: int) -> tuple[str, str, int]:
        with run.index.reading() as db:
            return (run.name, finding_rows.known_in(db).generation, line)


def _episode_of(run: Run, line: int) -> Episode:
    with run.index.reading() as db:
        row = rows.row_at(db, line)
    if row is None or row.length > LONGEST_AS_OBJECTS:
        raise ValueError("The episode is too long to be played again here")
    path: Path = run.folder.episodes_path
    with path.open("rb") as log:
        log.seek(row.start)
        return Episode.from_json(log.read(row.length))


def solve_again(episode: Episode, *, budget_s: float) -> Solved:
    """Take the turns of an episode again, and ask `solve()` before each.

    It ends where a turn does not come out as it did: what follows is another episode. Tools are not
    called, their recorded results are taken. Never raises what an environment raises.
    """
    until = time.monotonic() + budget_s
    solutions: dict[int, Solution] = {}
    try:
        refs = tuple(WrapperRef.model_validate(ref) for ref in episode.wrappers)
        update = {"kwargs": dict(episode.env_kwargs), "wrappers": refs}
        with closing(make(resolve(episode.env_id).model_copy(update=update))) as env:
            options = {} if episode.task is None else {"task": episode.task}
            env.reset(seed=episode.seed, **options)
            for number, turn in enumerate(episode.played_turns, start=1):
                if time.monotonic() > until:
                    return Solved(solutions, f"Turn {number} was not reached in {budget_s:.0f} s")
                text = env.solve()
                if text is not None:
                    solutions[number] = Solution(str(text), _said(turn.action) == _said(str(text)))
                action = Action(
                    turn.action, tool_calls=turn.tool_calls, tool_results=turn.tool_results
                )
                if turn.answered(env.step(action)).outcome() != turn.outcome():
                    solutions.pop(number, None)  # perhaps the state was another one before it
                    return Solved(solutions, f"Turn {number} does not come out as it did")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an environment may raise anything
        return Solved(solutions, in_one_line(error, at_most=300))
    return Solved(solutions)


def _said(text: str) -> str:
    """Return what an answer comes to: its last boxed part, or all of it, without outer blanks."""
    boxed = [piece.text for piece in answer_pieces(text) if piece.kind == "boxed"]
    return (boxed[0] if boxed else text).strip()

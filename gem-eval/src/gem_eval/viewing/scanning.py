"""Reduce a line of a log to what an index keeps of it, one turn at a time.

An episode may have 100,000 turns: they are never all in memory as objects. Knows nothing about
where the line stands in a file.
"""

from __future__ import annotations

import io
import json
import math
from array import array
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NamedTuple, get_args

from gem.content import normalise_text
from gem.episode import FORMAT, StopReason
from gem_eval.viewing.json_window import JsonWindow
from gem_eval.viewing.seats import TurnsOfSeat, seats_as_json
from gem_eval.viewing.text import cut, first_line

__all__ = [
    "LONGEST_AS_OBJECTS",
    "TURNS_AT_ONCE",
    "LongTurns",
    "Scanned",
    "scan",
    "scan_file",
    "walk",
]

LONGEST_AS_OBJECTS = 2 << 20
"""How many bytes the line of an episode that is read as a whole may have: as objects it takes many
times as much memory."""

TURNS_AT_ONCE = 50
"""How many turns a page of an episode shows."""

# What `Episode.is_error` goes by. Core does not export it, and here no episode is rebuilt.
_FORMATS = (FORMAT, 2)  # the second is of several seats
_ERRORS = frozenset({"env_error", "step_timeout", "worker_lost", "policy_error"})
_MOST_POINTS = 400  # of the line that shows the return so far
_LAST_WORDS = 160
_ERROR = 300
_INT64 = 1 << 63


class LongTurns(NamedTuple):
    """Where the turns of a long episode stand in its line, so that a page reads only its own.

    `record` is the episode without its turns, as JSON. `blocks` has the first and the last byte
    of every `TURNS_AT_ONCE` turns, and the returns so far before them, one a seat; `curve` some of
    the turns, counted from 1, each with the returns so far.
    """

    record: str
    blocks: list[tuple[int, int, list[float]]]
    curve: list[tuple[int, list[float]]]


class Scanned(NamedTuple):
    """What an index keeps of a try. Text is cut, and any database can hold it.

    `seats` is what `gem_eval.viewing.seats` keeps of several, None where there is one.
    """

    outcome: str
    env_index: int
    policy: str
    episode_index: int
    repeat: int
    seed: str
    task: int | None
    total_return: float
    turns: int
    stop_reason: str
    duration_s: float
    last_words: str
    error: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    policy_s: float
    environment_s: float
    answers: int
    cut_answers: int
    seats: str | None
    long_turns: LongTurns | None


def scan(line: bytes) -> Scanned:
    """Reduce a line. Raises ValueError on one that is no episode."""
    return scan_file(io.BytesIO(line), len(line))


def scan_file(file: BinaryIO, length: int) -> Scanned:
    """Reduce the line of so many bytes at which a file stands. Raises ValueError likewise."""
    try:
        figures = _Figures()
        record = walk(JsonWindow(file, length), figures.add)
        return _scanned(record, figures)
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not an episode: {error!r:.120}") from error


def _scanned(record: Mapping[str, Any], figures: _Figures) -> Scanned:
    if record["format"] not in _FORMATS:
        known = " and ".join(map(str, _FORMATS))
        raise ValueError(f"format {record['format']!r:.40}, and this version reads {known}")
    stop_reason = record["stop_reason"]
    if stop_reason not in get_args(StopReason):
        raise ValueError(f"unknown stop reason {stop_reason!r:.40}")
    return Scanned(
        outcome=_outcome(record),
        env_index=_natural(record["env_index"]),
        policy=_text(record["policy"]),
        episode_index=_natural(record["episode_index"]),
        repeat=_natural(record["repeat"]),
        seed=_text(str(int(record["seed"]))),
        task=_count(record["task"]),
        total_return=float(record["total_reward"]),
        turns=figures.count,
        stop_reason=stop_reason,
        duration_s=float(record["duration_s"]),
        last_words=figures.last_words(),
        error=_error(record),
        prompt_tokens=_count(figures.prompt_tokens),
        completion_tokens=_count(figures.completion_tokens),
        policy_s=figures.policy_s,
        environment_s=figures.environment_s,
        answers=figures.answers,
        cut_answers=figures.cut_answers,
        seats=seats_as_json(record, figures.by_seat),
        long_turns=figures.long_turns(record),
    )


def _outcome(record: Mapping[str, Any]) -> str:
    if record["stop_reason"] in _ERRORS:
        return "error"
    return "succeeded" if record["success"] else "failed"


def _error(record: Mapping[str, Any]) -> str | None:
    """Return the first line of an error. One without words is called by how it ended."""
    if record["stop_reason"] not in _ERRORS:
        return None
    return first_line(_text(record["error"] or ""), _ERROR) or str(record["stop_reason"])


def _natural(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _INT64:
        raise TypeError(f"{value!r:.40} is no count")
    return value


def _count(value: Any) -> int | None:
    return None if value is None else _natural(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return normalise_text(value)


class _Figures:
    """The sums over the turns of one episode, and where they stand."""

    def __init__(self) -> None:
        self.count = 0
        self.prompt_tokens: int | None = None
        self.completion_tokens: int | None = None
        self.policy_s = 0.0
        self.environment_s = 0.0
        self.answers = 0
        self.cut_answers = 0
        self._last: Mapping[str, Any] = {}
        self.by_seat: dict[int, TurnsOfSeat] = {}
        self._seats = 1
        self._rewards = array("d")  # of each turn one a seat
        self._spans: list[tuple[int, int]] = []  # of each block, in bytes

    def add(self, turn: Mapping[str, Any], start: int, end: int) -> None:
        """Count a turn that stands between two bytes of the line."""
        if self.count % TURNS_AT_ONCE == 0:
            self._spans.append((start, end))
        else:
            self._spans[-1] = (self._spans[-1][0], end)
        self.count += 1
        self._last = turn
        rewards = turn.get("rewards") or [turn["reward"]]
        if self.count == 1:
            self._seats = len(rewards)
        if len(rewards) != self._seats:
            raise TypeError(f"{len(rewards)} rewards where there are {self._seats} seats")
        self._rewards.extend(map(float, rewards))
        self.policy_s += turn.get("policy_s", 0.0)
        self.environment_s += turn.get("step_s", 0.0)
        reason = turn.get("finish_reason")
        self.answers += reason is not None
        self.cut_answers += reason == "length"
        usage = turn.get("usage")
        if usage is not None:
            prompt, completion = usage
            self.prompt_tokens = (self.prompt_tokens or 0) + _natural(prompt)
            self.completion_tokens = (self.completion_tokens or 0) + _natural(completion)
        seat = turn.get("seat", 0)
        self.by_seat.setdefault(seat, TurnsOfSeat()).add(usage)

    def last_words(self) -> str:
        """Return what the policy said last, or which tool it called."""
        said = cut(_text(self._last.get("action", "")), _LAST_WORDS)
        if said or not self._last.get("tool_calls"):
            return said
        return cut(f"{_text(self._last['tool_calls'][-1]['name'])}(…)", _LAST_WORDS)

    def long_turns(self, record: Mapping[str, Any]) -> LongTurns | None:
        """Return where the turns stand, of an episode with more than a page shows."""
        if self.count <= TURNS_AT_ONCE:
            return None
        blocks = []
        so_far = [0.0] * self._seats
        at_once = TURNS_AT_ONCE * self._seats
        for number, (start, end) in enumerate(self._spans):
            blocks.append((start, end, so_far))
            of_block = self._rewards[number * at_once : (number + 1) * at_once]
            so_far = [
                total + math.fsum(of_block[seat :: self._seats])
                for seat, total in enumerate(so_far)
            ]
        return LongTurns(json.dumps(record), blocks, self._curve())

    def _curve(self) -> list[tuple[int, list[float]]]:
        step = max(1, math.ceil(self.count / _MOST_POINTS))
        curve = []
        so_far = [0.0] * self._seats
        for number in range(1, self.count + 1):
            for seat in range(self._seats):
                so_far[seat] += self._rewards[(number - 1) * self._seats + seat]
            if number % step == 0 or number == self.count:
                curve.append((number, list(so_far)))
        return curve


AddTurn = Callable[[Mapping[str, Any], int, int], None]


def walk(window: JsonWindow, add: AddTurn) -> dict[str, Any]:
    """Return the fields of an episode without `turns`, each of which is added.

    `add` gets a turn, and between which bytes of the line it stands. Raises ValueError on what is
    no JSON object, and what `add` does.
    """
    record: dict[str, Any] = {}
    window.take("{")
    while True:
        name = window.value()
        window.take(":")
        if name == "turns":
            _walk_turns(window, add)
        else:
            record[name] = window.value()
        if not window.takes(","):
            break
    window.take("}")
    if window.next_mark():
        raise ValueError("something stands behind the episode")
    return record


def _walk_turns(window: JsonWindow, add: AddTurn) -> None:
    window.take("[")
    if window.takes("]"):
        return
    while True:
        start = window.place
        turn = window.value()
        add(turn, start, window.place)
        if not window.takes(","):
            break
    window.take("]")

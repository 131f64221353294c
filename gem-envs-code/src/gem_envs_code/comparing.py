"""Whether an answer is what was expected. Knows nothing about where answers come from.

Answers are hostile: each comparison takes time in proportion to their length, and calls no
method of theirs.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, Literal, get_args

__all__ = ["COMPARISONS", "Comparison", "Uncomparable", "as_json", "same_text", "same_value"]

Comparison = Literal["tokens", "exact"]
"""How the output of a program is compared: word by word, or character by character but for
empty lines and line ends at its end."""

COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_LONGEST_NUMBER = 400
_DEEPEST = 100


class Uncomparable(ValueError):
    """A value that JSON has none for."""


def same_text(
    output: str, expected: str, comparison: Comparison = "tokens", tolerance: float | None = None
) -> bool:
    r"""Say whether a program's output is right.

    With a tolerance, numbers among the words may differ by that much, absolutely or relative to
    the expected one.

    >>> same_text("1 2\n", "1\n2"), same_text("1 2\n", "1 2", "exact")
    (True, True)
    >>> same_text("0.333", "0.3333333", tolerance=1e-3)
    True
    """
    if comparison == "exact":
        return _trimmed(output) == _trimmed(expected)
    words = output.split()
    expected_words = expected.split()
    if words == expected_words or tolerance is None:
        return words == expected_words
    return len(words) == len(expected_words) and all(
        word == want or _near_words(word, want, tolerance)
        for word, want in zip(words, expected_words, strict=True)
    )


def _trimmed(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n")


def _near_words(word: str, want: str, tolerance: float) -> bool:
    return _is_number(word) and _is_number(want) and _near(float(word), float(want), tolerance)


def _is_number(word: str) -> bool:
    return len(word) <= _LONGEST_NUMBER and _NUMBER.fullmatch(word) is not None


def _near(number: float, expected: float, tolerance: float) -> bool:
    return math.isclose(number, expected, rel_tol=0.0, abs_tol=tolerance * max(1.0, abs(expected)))


def same_value(answer: Any, expected: Any, tolerance: float | None = None) -> bool:
    """Say whether two JSON values are equal as Python compares them, with a tolerance for floats.

    >>> same_value([1, 2.0], [1.0, 2]), same_value("1", 1)
    (True, False)
    """
    if isinstance(answer, list) and isinstance(expected, list):
        return len(answer) == len(expected) and all(
            same_value(item, expected_item, tolerance)
            for item, expected_item in zip(answer, expected, strict=True)
        )
    if isinstance(answer, dict) and isinstance(expected, dict):
        return answer.keys() == expected.keys() and all(
            same_value(value, expected[key], tolerance) for key, value in answer.items()
        )
    if tolerance is not None and _is_float(answer, expected):
        try:
            return _near(answer, expected, tolerance)
        except OverflowError:  # an integer that no float holds
            return False
    return bool(answer == expected)


def _is_float(answer: Any, expected: Any) -> bool:
    numbers = (int, float)
    return (
        isinstance(answer, numbers)
        and isinstance(expected, numbers)
        and (isinstance(answer, float) or isinstance(expected, float))
    )


def as_json(content: Any, depth: int = 0) -> Any:
    """Return the JSON value that a value which crossed stands for: a tuple is a list there.

    Keys become text, and none of them is hashed before: numbers can be made that collide.
    Raises Uncomparable on a set, bytes and the like.
    """
    if depth > _DEEPEST:
        raise Uncomparable("it is nested too deep")
    if isinstance(content, list):
        return [as_json(item, depth + 1) for item in content]
    if isinstance(content, dict):
        [(kind, inner)] = content.items() if len(content) == 1 else [("", None)]
        if kind not in _AS_JSON:
            raise Uncomparable(f"JSON has no {kind or 'such value'}")
        return _AS_JSON[kind](inner, depth)
    return content


def _object(pairs: Any, depth: int) -> dict[str, Any]:
    plain = {_key(key): as_json(value, depth + 1) for key, value in pairs}
    if len(plain) < len(pairs):
        raise Uncomparable("two of its keys are the same text")
    return plain


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, (bool, int, float, type(None))):
        return json.dumps(key)
    raise Uncomparable("JSON's keys are text")


_AS_JSON: dict[str, Callable[[Any, int], Any]] = {
    "tuple": as_json,
    "deque": as_json,
    "dict": _object,
    "int": lambda digits, depth: int(digits, 16),
}

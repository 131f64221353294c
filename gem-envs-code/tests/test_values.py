from __future__ import annotations

import collections
import decimal
import fractions
import math
from typing import Any

import pytest

from gem_envs_code.inside.values import CannotCrossError, decoded, encoded


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(10**30),
        pytest.param(10**5000, id="long"),
        1.5,
        -0.0,
        math.inf,
        "text \ud800 é",
        [],
        [1, [2]],
        (),
        (1, (2,)),
        {"a": 1, 2: [3], (4, 5): {6}},
        {"tuple": [1]},
        {1, "a"},
        frozenset({1}),
        b"\x00\xff",
        bytearray(b"ab"),
        1 + 2j,
        range(1, 10, 3),
        collections.deque([1, 2]),
        decimal.Decimal("1.10"),
        fractions.Fraction(1, 3),
        int,
        [str, dict],
    ],
)
def test_plain_values_cross_unchanged(value: Any) -> None:
    crossed = decoded(encoded(value))

    assert crossed == value
    assert type(crossed) is type(value)


def test_not_a_number_crosses() -> None:
    assert math.isnan(decoded(encoded(math.nan)))


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class LiarText(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__

    def __str__(self) -> str:
        return "another"


class Point(collections.namedtuple("Point", "x y")):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = tuple.__hash__


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Liar(3), 3),
        (LiarText("a"), "a"),
        (Point(1, 2), (1, 2)),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.OrderedDict(a=1), {"a": 1}),
    ],
)
def test_subclasses_cross_as_what_they_extend(value: Any, plain: Any) -> None:
    crossed = decoded(encoded(value))

    assert type(crossed) is type(plain)
    assert plain == crossed
    assert [Liar] != [type(crossed)]


@pytest.mark.parametrize(
    "view",
    [
        {"b": 1, "a": 2, "zz": 3}.keys(),
        {"b": 2, "a": 1, "zz": 1}.values(),
        {"b": 1, "a": [2], "zz": 3}.items(),
        collections.Counter("bab").items(),
    ],
)
def test_views_of_a_dictionary_cross_in_its_order(view: Any) -> None:
    crossed = decoded(encoded(view))

    assert type(crossed) is type(view)
    assert list(crossed) == list(view)


@pytest.mark.parametrize(
    "value", [object(), len, lambda: 0, iter([]), (n for n in [1]), [object()], Liar, math]
)
def test_what_is_more_than_data_cannot_cross(value: Any) -> None:
    with pytest.raises(CannotCrossError):
        encoded(value)


def test_a_list_that_holds_itself_cannot_cross() -> None:
    value: list[Any] = []
    value.append(value)

    with pytest.raises(CannotCrossError):
        encoded(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1",
        "{}",
        '{"tuple": 1}',
        '{"a": 1, "b": 2}',
        '{"eval": "1"}',
        '{"type": "object"}',
        '{"type": []}',
        '{"int": "x"}',
        '{"int": 3}',
        '{"set": [[1]]}',
        '{"keys": [[1]]}',
        '{"values": 1}',
        '{"items": [1]}',
        '{"dict": [1]}',
        '{"bytes": "x"}',
        '{"complex": ["a", 1]}',
        '{"range": [0, 1, 0]}',
        '{"decimal": "x"}',
        '{"fractions": "1/0"}',
        "[" * 100_000,
        "1" * 5000,
    ],
)
def test_anything_else_that_comes_is_an_error_of_one_kind(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json's own is one
        decoded(text)

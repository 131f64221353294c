"""What `quick` makes is what the class makes: equal, of its class, whole, and frozen."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from gem._python.fast_dataclass import quick


@dataclass(frozen=True, slots=True)
class Point:
    """A point with a name, and notes of its own."""

    x: int
    name: str = "here"
    notes: dict[str, int] = field(default_factory=dict)


quick_point = quick(Point)


def test_it_equals_what_the_class_makes() -> None:
    assert quick_point(1) == Point(1)
    assert quick_point(1, name="there", notes={"a": 1}) == Point(1, "there", {"a": 1})
    assert type(quick_point(1)) is Point


def test_a_default_that_is_made_is_made_for_each() -> None:
    assert quick_point(1).notes is not quick_point(1).notes


def test_it_is_frozen() -> None:
    point = quick_point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x


def test_it_refuses_what_the_class_refuses() -> None:
    with pytest.raises(TypeError, match="'y'"):
        quick_point(1, y=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'x'"):
        quick_point()  # type: ignore[call-arg]


def test_it_is_copied_and_pickled_as_any_other() -> None:
    assert replace(quick_point(1), x=2) == Point(2)
    assert pickle.loads(pickle.dumps(quick_point(1))) == Point(1)  # noqa: S301 - its own

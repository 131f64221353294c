"""What a callable takes is read from its signature, whatever kind of callable it is."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import pytest
from annotated_types import Ge
from pydantic import Field

from gem._python.arguments import checked
from gem._python.signatures import parameters
from gem.errors import BadArguments

from .values import LIVE, fit, game

if TYPE_CHECKING:
    from somewhere import Nowhere  # type: ignore[import-not-found]
    from typing_extensions import Unpack


class NoInit:
    pass


class Init:
    def __init__(self, size: int = 1) -> None:
        self.size = size


class Inherits(Init):
    pass


class Open:
    def __init__(self, size: int = 1, **rest: Any) -> None:
        """Take anything more."""


class Called:
    size: str = "not the parameter"

    def __call__(self, size: int = 1) -> None:
        """Take one argument."""

    def method(self, size: int = 1) -> None:
        """Take one argument."""


@functools.lru_cache
def cached(size: int = 1) -> None:
    """Take one argument."""


class Unhashable(Called):
    __hash__ = None  # type: ignore[assignment]


def partly(other: str, size: int = 1) -> None:
    """Take two arguments."""


@functools.wraps(partly)
def wraps(*args: Any, **kwargs: Any) -> None:
    """Take what `partly` takes."""


@pytest.mark.parametrize(
    "target",
    [
        Init,
        Inherits,
        Called(),
        Called().method,
        Unhashable(),
        cached,
        functools.partial(partly, "a"),
        functools.partial(functools.partial(partly, other="a")),
    ],
)
def test_every_kind_of_callable_is_checked(target: Any) -> None:
    assert checked(target, {"size": 2}, subject="a") == {"size": 2}
    for _ in range(2):
        with pytest.raises(BadArguments, match="size='2' does not fit"):
            checked(target, {"size": "2"}, subject="a")
    with pytest.raises(BadArguments, match="it takes no 'colour'"):
        checked(target, {"colour": 2}, subject="a")


def test_a_decorated_target_is_checked_as_what_it_wraps() -> None:
    with pytest.raises(BadArguments, match=r"size='2' does not fit.*'other' is missing"):
        checked(wraps, {"size": "2"}, subject="a")


def test_a_class_without_init_takes_nothing() -> None:
    assert parameters(NoInit) == ()
    with pytest.raises(BadArguments, match="It takes no arguments"):
        checked(NoInit, {"a": 1}, subject="a")


def test_a_target_with_open_arguments_takes_any_name() -> None:
    assert checked(Open, {"size": 1, "b": LIVE}, subject="a") == {"size": 1, "b": LIVE}
    with pytest.raises(BadArguments, match="size='1'"):
        checked(Open, {"size": "1", "b": 2}, subject="a")


def test_a_built_in_whose_signature_is_unknown_takes_anything() -> None:
    assert checked(max, {"key": LIVE}, subject="a") == {"key": LIVE}


def test_the_first_parameters_can_be_skipped() -> None:
    assert [str(each) for each in parameters(game, skip=1)] == [
        "colour: Literal['red', 'blue'] = 'red'",
        "ratio: float | None = None",
    ]
    assert [each.name for each in parameters(Open, skip=1)] == []
    assert checked(game, {"colour": "red"}, subject="a", skip=1) == {"colour": "red"}


def test_parameters_show_names_types_and_defaults() -> None:
    def target(bare, kind: type, *, live: Any = LIVE) -> None:  # type: ignore[no-untyped-def]
        """Take some of each."""

    assert [str(each) for each in parameters(target)][:2] == [
        "bare",
        "kind: type",
    ]
    live = parameters(target)[2]
    assert (live.name, live.type, live.default, live.is_required) == ("live", "Any", LIVE, False)


def test_one_unknown_annotation_does_not_switch_the_others_off() -> None:
    def target(where: Nowhere, size: int) -> None: ...

    with pytest.raises(BadArguments, match="size='1' does not fit"):
        checked(target, {"where": LIVE, "size": "1"}, subject="a")
    assert checked(target, {"where": LIVE, "size": 1}, subject="a")["where"] is LIVE


def test_a_callable_is_read_again_after_another_of_the_same_kind_is_gone() -> None:
    for hint, value in ((int, 1), (str, "a")):
        assert fit(hint, value) == value


class Seats(TypedDict, total=False):
    """A group of arguments that several targets take."""

    rows: int | None
    is_open: Annotated[bool, Field(default=True)]
    width: Annotated[int, Field(ge=1)]


class Hall(TypedDict):
    name: str


def seated(*, stage: str = "round", **seats: Unpack[Seats]) -> Any:
    return stage, seats


def hired(**hall: Unpack[Hall]) -> Any:
    return hall


def test_a_group_of_arguments_is_taken_by_name() -> None:
    assert checked(seated, {"rows": 3, "stage": "flat"}, subject="it") == {
        "rows": 3,
        "stage": "flat",
    }


def test_a_group_of_arguments_is_listed_with_its_types_and_defaults() -> None:
    assert [str(each) for each in parameters(seated)] == [
        "stage: str = 'round'",
        "rows: int | None = None",
        "is_open: bool = True",
        "width: int (ge=1) = None",
    ]


def test_an_annotated_parameter_is_shown_by_its_type_and_bounds() -> None:
    def target(
        length: Annotated[int, Field(ge=2, le=64)] = 6,
        width: Annotated[int, Ge(2)] = 6,
        word: Annotated[str, "as typed"] = "",
    ) -> None:
        """Take each."""

    assert [str(each) for each in parameters(target)] == [
        "length: int (ge=2, le=64) = 6",
        "width: int (ge=2) = 6",
        "word: str = ''",
    ]


@pytest.mark.parametrize(
    ("kwargs", "problem"),
    [
        ({"rows": "3"}, "rows='3' does not fit"),
        ({"width": 0}, "width=0 does not fit"),
        ({"colour": "red"}, "it takes no 'colour'"),
    ],
)
def test_what_does_not_fit_a_group_of_arguments_is_named(
    kwargs: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadArguments, match=problem):
        checked(seated, kwargs, subject="it")


def test_a_group_may_have_arguments_that_must_be_given() -> None:
    with pytest.raises(BadArguments, match="'name' is missing"):
        checked(hired, {}, subject="it")

"""Arguments: JSON's rules, every problem in one error, and a record that stays small."""

from __future__ import annotations

import enum
import functools
import json
from collections import UserDict, UserList
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypedDict, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from gem.arguments import checked, is_opaque, parameters, recorded, refuse_opaque
from gem.errors import BadArguments, OpaqueError

if TYPE_CHECKING:
    from somewhere import Nowhere  # type: ignore[import-not-found]
    from typing_extensions import Unpack


class Suit(enum.Enum):
    HEARTS = "hearts"


class Deck(BaseModel):
    size: int
    jokers: bool = False


@dataclass
class Table:
    rows: tuple[int, ...]


class Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]: ...


class Live:
    """An object that JSON knows nothing of."""


@dataclass
class Holder:
    """A dataclass that pydantic cannot describe."""

    live: Live


def takes(hint: Any) -> Callable[..., Any]:
    def target(value: Any) -> Any:
        return value

    target.__annotations__["value"] = hint
    return target


def fit(hint: Any, value: Any) -> Any:
    return checked(takes(hint), {"value": value}, subject="demo:A")["value"]


# what fits

LIVE, DECK, TABLE = Live(), Deck(size=1), Table((1,))


@pytest.mark.parametrize(
    ("hint", "value", "fitted"),
    [
        (int, 5, 5),
        (float, 5, 5.0),
        (float, 5.5, 5.5),
        (bool, True, True),
        (str, "a", "a"),
        (int | None, None, None),
        (Union[int, str], "5", "5"),
        (Union[int, str], 5, 5),
        (int | None, 5, 5),
        (Literal["a", 2], 2, 2),
        (list[int], [1, 2], [1, 2]),
        (list[int], (1, 2), [1, 2]),
        (tuple[int, int], [1, 2], (1, 2)),
        (tuple[int, ...], [], ()),
        (set[int], [1, 1], {1}),
        (frozenset[str], ["a"], frozenset("a")),
        (dict[str, float], {"a": 1}, {"a": 1}),
        (Mapping[str, Any], {"a": [1]}, {"a": [1]}),
        (Suit, "hearts", Suit.HEARTS),
        (Suit, Suit.HEARTS, Suit.HEARTS),
        (Path, "a/b", Path("a/b")),
        (Deck, {"size": 3}, Deck(size=3)),
        (Deck, DECK, DECK),
        (Deck | None, {"size": 3}, Deck(size=3)),
        (Table, {"rows": [1, 2]}, Table((1, 2))),
        (Table, TABLE, TABLE),
        (list[Table], [{"rows": [1]}], [Table((1,))]),
        (list[Deck], [{"size": 1}], [DECK]),
        (dict[str, Deck], {"a": {"size": 1}}, {"a": DECK}),
        (Annotated[int, Field(ge=1)], 1, 1),
        (Live, LIVE, LIVE),
        (Union[str, Live], LIVE, LIVE),
        (Tokenizer, LIVE, LIVE),
        (Union[str, Tokenizer, None], LIVE, LIVE),
        (Callable[[int], int], abs, abs),
        (Holder, LIVE, LIVE),
        (Any, LIVE, LIVE),
        (object, LIVE, LIVE),
        ("Nowhere", LIVE, LIVE),
        ("not python", LIVE, LIVE),
    ],
)
def test_what_fits_by_the_rules_of_json_is_taken(hint: Any, value: Any, fitted: Any) -> None:
    taken = fit(hint, value)
    assert taken == fitted
    assert type(taken) is type(fitted)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, "1"),
        (int, True),
        (int, 1.0),
        (int, 1.5),
        (int, None),
        (float, "1.0"),
        (float, True),
        (bool, 1),
        (bool, "true"),
        (str, 1),
        (str, b"a"),
        (int | None, "1"),
        (Union[int, None], True),
        (Literal["a", "b"], "c"),
        (list[int], ["1"]),
        (list[int], [True]),
        (list[int], "12"),
        (list[int], {1: 2}),
        (tuple[int, int], [1]),
        (tuple[int, int], [1, "2"]),
        (dict[str, int], {"a": "1"}),
        (dict[str, int], []),
        (Suit, "spades"),
        (Deck, {"size": "3"}),
        (Deck, {"size": True}),
        (Deck | None, {"size": "3"}),
        (Deck, {}),
        (Table, {"rows": ["1"]}),
        (Annotated[int, Field(ge=1)], 0),
        (Live, "text"),
        (Live, None),
        (Union[str, Live], 5),
        (int, float("nan")),
        (int, LIVE),
        (Callable[[int], int], 5),
    ],
)
def test_what_does_not_fit_is_refused_by_name(hint: Any, value: Any) -> None:
    with pytest.raises(BadArguments, match=r"value=.* does not fit"):
        fit(hint, value)


def test_the_complaint_is_about_what_json_s_rules_do_not_allow() -> None:
    with pytest.raises(BadArguments, match="valid integer") as caught:
        fit(tuple[int, int], [1, "2"])
    assert "tuple" not in str(caught.value.problems)


def test_an_object_that_is_wanted_is_asked_for() -> None:
    with pytest.raises(BadArguments, match="instance of Live"):
        fit(Union[list[int], Live], {"a": 1})


@pytest.mark.parametrize("hint", [list[dict[str, int]], Sequence[dict[str, int]], Iterable[Any]])
def test_a_container_is_passed_on_and_not_copied(hint: Any) -> None:
    rows = [{"a": 1}]
    assert fit(hint, rows) is rows


def test_an_iterator_is_not_consumed() -> None:
    rows = iter([1, 2])
    assert fit(Iterator[int], rows) is rows
    assert fit(Iterable[int], rows) is rows
    assert list(rows) == [1, 2]


# one error for everything


def game(size: int, *, colour: Literal["red", "blue"] = "red", ratio: float | None = None) -> None:
    """Take one required argument and two with defaults."""


def test_every_problem_is_in_one_error_with_what_is_allowed() -> None:
    with pytest.raises(BadArguments) as caught:
        checked(game, {"colour": "green", "ratio": "x", "sizes": 3}, subject="demo:Game")
    assert caught.value.subject == "demo:Game"
    assert caught.value.problems == (
        "colour='green' does not fit (Input should be 'red' or 'blue')",
        "ratio='x' does not fit (Input should be a valid number)",
        "it takes no 'sizes'",
        "'size' is missing",
    )
    assert str(caught.value) == (
        f"demo:Game cannot be made with these arguments: {'; '.join(caught.value.problems)}. "
        "It takes size: int, colour: Literal['red', 'blue'] = 'red', ratio: float | None = None."
    )


def test_an_error_shows_the_subjects_own_defaults() -> None:
    def target(size: int, depth: int = 1) -> None: ...

    with pytest.raises(BadArguments, match="It takes size: int = 3, depth: int = 1"):
        checked(target, {"sise": 4}, subject="demo:It", defaults={"size": 3})


def test_a_target_without_arguments_says_so() -> None:
    with pytest.raises(BadArguments, match="It takes no arguments"):
        checked(lambda: None, {"a": 1}, subject="demo:A")


def test_a_huge_value_does_not_make_a_huge_error() -> None:
    def target(a: int, b: int, c: list[int], d: Any = "x" * 10**6) -> None: ...

    wrong = {"a": "x" * 10**6, "b": list(range(10**5)), "c": ["x\n"] * 1000}
    with pytest.raises(BadArguments) as caught:
        checked(target, wrong, subject="demo:A")
    assert len(str(caught.value)) < 700
    assert "\n" not in str(caught.value)


def test_an_argument_whose_text_fails_is_still_complained_about() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(BadArguments, match="value=<Silent instance at"):
        fit(int, Silent())


# signatures of every kind


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


# the record

Json = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), Json, max_size=3))
def test_json_data_is_recorded_as_it_is(kwargs: dict[str, Any]) -> None:
    assert recorded(kwargs) == kwargs
    assert json.loads(json.dumps(recorded(kwargs))) == kwargs


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, (2,)), [1, [2]]),
        (Suit.HEARTS, "hearts"),
        (Path("a/b"), "a/b"),
        (Deck(size=2), {"size": 2, "jokers": False}),
        (Table((1, 2)), {"rows": [1, 2]}),
        ({"a": {"b": (Suit.HEARTS,)}}, {"a": {"b": ["hearts"]}}),
    ],
)
def test_what_has_a_plain_form_is_recorded_in_it(value: Any, plain: Any) -> None:
    assert recorded({"a": value}) == {"a": plain}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (LIVE, f"{__name__}.Live"),
        (Live, "builtins.type"),
        (abs, "builtins.builtin_function_or_method"),
        ([1, [LIVE]], "builtins.list"),
        ({"a": LIVE}, "builtins.dict"),
        ({1: 2}, "builtins.dict"),
        ({1, 2}, "builtins.set"),
        (float("nan"), "builtins.float"),
        (float("inf"), "builtins.float"),
        (10**5000, "builtins.int"),
        (b"a", "builtins.bytes"),
        (Table, "builtins.type"),
        ("x" * 70_000, "builtins.str"),
        ({"x" * 70_000: 1}, "builtins.dict"),
        ([[]] * 40_000, "builtins.list"),
        ([1.5] * 10_000, "builtins.list"),
    ],
    ids=lambda value: str(value)[:30] if not isinstance(value, int) else "long",
)
def test_a_live_or_large_object_is_recorded_as_its_type(value: Any, kind: str) -> None:
    assert recorded({"a": value, "b": 1}) == {"a": {"$opaque": kind}, "b": 1}


def test_a_container_inside_itself_is_opaque() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert is_opaque(recorded({"a": loop})["a"])


def test_recording_does_not_consume_an_iterator() -> None:
    rows = iter([1, 2])
    assert is_opaque(recorded({"a": rows})["a"])
    assert list(rows) == [1, 2]


def test_a_large_table_is_not_walked_to_its_end() -> None:
    class Rows(list[Any]):
        read = 0

        def __iter__(self) -> Iterator[Any]:
            for row in super().__iter__():
                self.read += 1
                yield row

    rows = Rows([{"question": "?", "answer": 4}] * 200_000)
    assert is_opaque(recorded({"data": rows})["data"])
    assert 0 < rows.read < 5000


def test_opaque_arguments_are_refused_by_name() -> None:
    refuse_opaque({"a": 1, "b": {"x": 1}}, subject="demo:A")
    with pytest.raises(OpaqueError, match=r"made with a live .*Live as 'tokenizer'") as caught:
        refuse_opaque(recorded({"a": 1, "tokenizer": LIVE}), subject="demo:A")
    assert caught.value.argument == "tokenizer"


def test_containers_of_a_configuration_fit_as_lists_and_dictionaries() -> None:
    def target(sizes: tuple[int, ...], by_name: dict[str, list[int]]) -> None: ...

    given = {"sizes": UserList([1, 2]), "by_name": UserDict({"a": UserList([3])})}
    assert checked(target, given, subject="demo:A") == {"sizes": (1, 2), "by_name": {"a": [3]}}


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
    assert [str(each) for each in parameters(seated)][:3] == [
        "stage: str = 'round'",
        "rows: int | None = None",
        "is_open: bool = True",
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

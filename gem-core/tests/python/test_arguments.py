"""Arguments: JSON's rules, and every problem in one error."""

from __future__ import annotations

from collections import UserDict, UserList
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union

import pytest
from pydantic import BaseModel, Field

from gem._python.arguments import checked
from gem.errors import BadArguments

from .values import DECK, LIVE, TABLE, Deck, Holder, Live, Suit, Table, Tokenizer, fit, game


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


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"size": 1, "joker": True}, "'joker': Extra inputs are not permitted"),
        ({"size": "x"}, "'size': Input should be a valid integer"),
        ({"size": 1, "piles": {"left": "x"}}, "'left': Input should be a valid integer"),
        ({}, "'size': Field required"),
        ([{"size": "3"}], "'size': Input should be a valid integer"),
    ],
)
def test_an_error_names_the_field_that_does_not_fit(value: Any, reason: str) -> None:
    class Deck(BaseModel, extra="forbid"):
        size: int
        piles: Mapping[str, int] = {}

    def target(deck: Any = None) -> None: ...

    target.__annotations__["deck"] = list[Deck] if isinstance(value, list) else Deck | None
    with pytest.raises(BadArguments) as caught:
        checked(target, {"deck": value}, subject="demo:A")
    assert f"does not fit ({reason}" in caught.value.problems[0]


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


def test_containers_of_a_configuration_fit_as_lists_and_dictionaries() -> None:
    def target(sizes: tuple[int, ...], by_name: dict[str, list[int]]) -> None: ...

    given = {"sizes": UserList([1, 2]), "by_name": UserDict({"a": UserList([3])})}
    assert checked(target, given, subject="demo:A") == {"sizes": (1, 2), "by_name": {"a": [3]}}

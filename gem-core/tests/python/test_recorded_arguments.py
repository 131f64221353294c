"""The record of arguments is JSON data, and stays small."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem._python.recorded_arguments import is_opaque, recorded, refuse_opaque
from gem.errors import OpaqueError

from .values import LIVE, Deck, Live, Suit, Table

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
        (LIVE, f"{Live.__module__}.Live"),
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

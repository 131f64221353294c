"""Snapshots as text: what goes in comes out, and anything else is refused with one error."""

from __future__ import annotations

import base64
import contextlib
import enum
import json
import math
import random
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gem.content import Action, ImagePart, Message, TextPart, ToolCall
from gem.env._snapshot import Snapshot, decode, encode
from gem.errors import SnapshotError

Text = st.text(st.characters(), max_size=8)
Scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**1000, 2**2000)
    | st.floats(allow_nan=False)
    | Text
    | st.binary(max_size=8)
)
Hashable = st.recursive(
    Scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5
)
Values = st.recursive(
    Scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(Text | st.just("$"), inner, max_size=3)
        | st.dictionaries(Hashable, inner, max_size=3)
        | st.sets(Hashable, max_size=3)
        | st.frozensets(Hashable, max_size=3)
        | st.lists(inner, max_size=3).map(deque)
        | st.lists(inner, max_size=3).map(lambda items: deque(items, maxlen=5))
    ),
    max_leaves=12,
)
Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | Text,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(Text | st.sampled_from(["$", "v"]), inner, max_size=3)
        | st.fixed_dictionaries(
            {
                "$": st.sampled_from(
                    [
                        *("int", "float", "tuple", "dict", "set", "frozenset", "deque"),
                        *("bytes", "rng", "action", "message", "part"),
                    ]
                )
                | inner,
                "v": inner,
            }
        )
    ),
    max_leaves=12,
)


def through_text(value: Any) -> Any:
    text = Snapshot(None, encode([("value", value)])).to_json()
    assert text.isascii()
    assert "\n" not in text
    return decode(Snapshot.from_json(text).state["value"])


def text_of(value: Any) -> str:
    """Spell types out as well: True is not 1 here, nor is a list a tuple."""
    return Snapshot(None, encode([("value", value)])).to_json()


# what is saved


@given(Values)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    back = through_text(value)
    assert back == value
    assert text_of(back) == text_of(value)


@pytest.mark.parametrize("number", [math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308])
def test_every_float_comes_back(number: float) -> None:
    assert repr(through_text(number)) == repr(number)


def test_not_a_number_comes_back() -> None:
    assert math.isnan(through_text(math.nan))


def test_a_long_number_comes_back() -> None:
    assert through_text([10**5000, -(10**5000)]) == [10**5000, -(10**5000)]


def test_a_deque_keeps_its_limit() -> None:
    assert through_text(deque([1, 2], maxlen=3)).maxlen == 3
    assert through_text(deque([1, 2])).maxlen is None


def test_a_dictionary_keeps_its_order() -> None:
    assert list(through_text({"b": 1, "a": 2})) == ["b", "a"]
    assert list(through_text({2: "x", 1: "y"})) == [2, 1]


def test_a_set_is_written_the_same_however_it_was_built() -> None:
    assert encode([("s", {8, 0})]) == encode([("s", {0, 8})])


def test_a_generator_continues_where_it_was() -> None:
    rng = random.Random(5)
    rng.gauss(0, 1)  # leaves half of a pair behind
    twin = through_text(rng)
    assert [twin.random(), twin.gauss(0, 1), twin.getrandbits(70)] == [
        rng.random(),
        rng.gauss(0, 1),
        rng.getrandbits(70),
    ]


MESSAGE = Message(
    "assistant",
    (TextPart("\ud800a"), ImagePart(b"\x00\xff", "image/gif")),
    (ToolCall("1", "f", {"x": [1]}),),
    "9",
)


@pytest.mark.parametrize(
    "value",
    [
        MESSAGE,
        Message("user", "hello"),
        TextPart("a"),
        ImagePart(b"\x00"),
        Action("go", tool_calls=[ToolCall("1", "f", {"x": {}})]),
        [MESSAGE, MESSAGE],
    ],
)
def test_content_comes_back_as_it_was(value: Any) -> None:
    assert through_text(value) == value
    assert type(through_text(value)) is type(value)


def test_an_action_keeps_its_calls_and_without_them_is_text() -> None:
    action = Action("go", tool_calls=[ToolCall("1", "f")])
    assert through_text(action).tool_calls == action.tool_calls
    assert type(through_text(Action("go"))) is str


def test_decoded_data_is_independent_of_what_was_encoded() -> None:
    board = [[1], [2]]
    state = encode([("board", board)])
    board[0].append(9)
    assert decode(state["board"]) == [[1], [2]]


# what is refused


class Colour(enum.Enum):
    RED = 1


class Size(enum.IntEnum):
    BIG = 1


class Point(NamedTuple):
    x: int


@dataclass
class Card:
    suit: str


class MyList(list[int]):
    pass


@pytest.mark.parametrize(
    "value",
    [
        Colour.RED,
        Size.BIG,
        Point(1),
        Card("hearts"),
        MyList(),
        Counter("a"),
        OrderedDict(),
        Decimal(1),
        1j,
        bytearray(),
        range(3),
        object(),
        print,
        random.SystemRandom(),
    ],
)
def test_anything_else_is_refused_by_name(value: Any) -> None:
    with pytest.raises(
        SnapshotError, match=f"'hand': it holds a .*{type(value).__name__}"
    ) as caught:
        encode([("fine", 1), ("hand", [{"deep": (value,)}])])
    assert caught.value.attribute == "hand"


SHARED: list[int] = []
QUEUE: deque[int] = deque()


@pytest.mark.parametrize(
    "attributes",
    [
        [("a", SHARED), ("b", SHARED)],
        [("a", [SHARED, SHARED])],
        [("a", (SHARED,)), ("b", {"x": SHARED})],
        [("a", QUEUE), ("b", (QUEUE,))],
        [("a", r := random.Random(1)), ("b", r)],
        [("a", s := {1}), ("b", [s])],
        [("a", m := {"x": 1}), ("b", m)],
    ],
)
def test_a_container_in_two_places_is_refused(attributes: list[tuple[str, Any]]) -> None:
    with pytest.raises(SnapshotError, match="also held elsewhere"):
        encode(attributes)


def test_what_cannot_change_may_be_in_two_places() -> None:
    pair, text = (1, (2,)), "x" * 50
    assert decode(encode([("a", pair), ("b", [pair, text, text])])["b"]) == [pair, text, text]


def test_a_container_inside_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(SnapshotError, match="also held elsewhere"):
        encode([("loop", loop)])


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = (value,)
    return value


def test_depth_has_a_limit() -> None:
    assert through_text(nested(64)) == nested(64)
    with pytest.raises(SnapshotError, match="nested more than 64 deep"):
        encode([("deep", nested(65))])
    with pytest.raises(SnapshotError, match="nested more than 64 deep"):
        encode([("deep", nested(100_000))])


# reading


@settings(max_examples=400)
@given(Json)
def test_any_json_is_read_or_refused(plain: Any) -> None:
    with contextlib.suppress(SnapshotError):
        decode(plain)


RNG = encode([("r", random.Random(1))])["r"]["v"]


@pytest.mark.parametrize(
    ("tag", "plain"),
    [
        ("int", 5),
        ("int", "five"),
        ("float", "five"),
        ("float", None),
        ("tuple", "ab"),
        ("tuple", {"a": 1}),
        ("dict", [[1]]),
        ("dict", [[[], 1]]),
        ("dict", 5),
        ("set", [[]]),
        ("set", "ab"),
        ("frozenset", [{}]),
        ("deque", []),
        ("deque", [-1, []]),
        ("deque", [10**30, []]),
        ("deque", ["a", []]),
        ("deque", [None, "ab"]),
        ("bytes", "é"),
        ("bytes", "a"),
        ("bytes", "a*b="),
        ("bytes", 5),
        ("rng", "x"),
        ("rng", []),
        ("rng", [1, RNG[1], None]),
        ("rng", [3, "AAAA", None]),
        ("rng", [3, base64.b64encode(b"\xff" * 2500).decode(), None]),
        ("rng", [3, RNG[1], "soon"]),
        ("rng", [3, RNG[1], ""]),
        ("rng", [3, RNG[1], []]),
        ("action", "go"),
        ("action", {"role": "assistant"}),
        ("action", {"role": "assistant", "content": "", "tool_calls": [{}]}),
        ("message", []),
        ("message", {"role": "king", "content": ""}),
        ("message", {"role": [], "content": ""}),
        ("message", {"role": "user", "content": 5}),
        ("message", {"role": "user", "content": [5]}),
        ("message", {"role": "user", "content": ["text"]}),
        ("message", {"role": "user", "content": [{"text": 5}]}),
        ("message", {"role": "user", "content": "", "call_id": 5}),
        ("part", []),
        ("part", {}),
        ("part", {"parts": "ab"}),
        ("part", {"parts": []}),
        ("part", {"parts": [{"image": "*", "media_type": "image/png"}]}),
        ("part", {"parts": [{"image": "AAAA"}]}),
        ("pickle", "x"),
        ([], "x"),
        (None, "x"),
    ],
)
def test_a_malformed_value_is_refused(tag: Any, plain: Any) -> None:
    with pytest.raises(SnapshotError, match="cannot be read"):
        decode([{"deep": {"$": tag, "v": plain}}])


def test_a_tag_without_a_value_is_refused() -> None:
    with pytest.raises(SnapshotError, match="cannot be read"):
        decode({"$": "tuple"})


def test_an_unknown_tag_is_named() -> None:
    with pytest.raises(SnapshotError, match="unknown tag 'matrix'"):
        decode({"$": "matrix", "v": []})


def test_nesting_without_end_is_refused() -> None:
    plain: Any = []
    for _ in range(100_000):
        plain = [plain]
    with pytest.raises(SnapshotError, match="cannot be read"):
        decode(plain)


# the whole


FULL = Snapshot({"id": "demo:A"}, {"x": 1}, Snapshot(None, {"y": [2]}))


def test_a_snapshot_comes_back_from_its_text() -> None:
    assert Snapshot.from_json(FULL.to_json()) == FULL
    assert Snapshot.from_json(FULL.to_json().encode()) == FULL


def test_the_text_says_its_format() -> None:
    assert json.loads(FULL.to_json()) == {
        "format": 1,
        "spec": {"id": "demo:A"},
        "state": {"x": 1},
        "inner": {"format": 1, "spec": None, "state": {"y": [2]}, "inner": None},
    }


def changed(**fields: Any) -> str:
    return json.dumps({**json.loads(FULL.to_json()), **fields})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "5",
        "null",
        '"format"',
        "{}",
        b"\xff\xfe\xff",
        "[" * 100_000,
        '{"inner":' * 50_000,
        '{"format": 1, "spec": null, "state": {}, "inner": ' * 20_000 + "null" + "}" * 20_000,
        "9" * 100_000,
        changed(format=2),
        changed(format="1"),
        changed(format=True),
        changed(format=None),
        changed(spec=[]),
        changed(spec="demo:A"),
        changed(state=[]),
        changed(state=[["x", 1]]),
        changed(state=None),
        changed(inner=5),
        changed(inner=""),
        changed(inner={}),
        changed(inner=[FULL.to_json()]),
    ],
    ids=lambda text: str(text[:40]),
)
def test_text_that_is_no_snapshot_is_refused(text: Any) -> None:
    with pytest.raises(SnapshotError, match="This text is not a snapshot"):
        Snapshot.from_json(text)


@pytest.mark.parametrize("thing", [None, 5, ["{}"]])
def test_what_is_no_text_is_refused(thing: Any) -> None:
    with pytest.raises(SnapshotError, match="This text is not a snapshot"):
        Snapshot.from_json(thing)


@given(st.text(st.characters(), max_size=30) | st.binary(max_size=30) | Json.map(json.dumps))
def test_any_text_is_refused_with_one_error(text: Any) -> None:
    with pytest.raises(SnapshotError):
        Snapshot.from_json(text)


@pytest.mark.parametrize(
    "state", [{"x": math.nan}, {"x": {1}}, {"x": 10**5000}, {"x": nested(10**5)}]
)
def test_a_snapshot_of_other_data_has_no_text(state: Any) -> None:
    with pytest.raises(SnapshotError, match="not plain data"):
        Snapshot(None, state).to_json()

"""Messages: plain data as it is, our own classes too, and all else apart."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from gem.content import Action, ImagePart, Message, TextPart, ToolCall, ToolResult
from gem.hosting import Failure
from gem.hosting._messages import (
    FOREIGN,
    loads,
    pack_action,
    pack_foreign,
    pack_plain,
    unpack_action,
)

CALL = ToolCall("1", "search", {"query": "x"})

PLAIN = [
    ("text", 1.5, True, None, {"a": [1, {2}]}, b"bytes", 2**80),
    Message("user", (TextPart("a"), ImagePart(b"png")), (CALL,), "1"),
    [ToolResult("1", "found")],
    Failure("env_error", "it broke"),
    "\ud800",
]


@pytest.mark.parametrize("message", PLAIN)
def test_plain_data_and_our_own_classes_come_back_equal(message: Any) -> None:
    packed = pack_plain(message)

    assert packed is not None
    assert loads(packed) == message


def test_an_action_keeps_its_calls() -> None:
    packed = pack_plain(Action("x", tool_calls=[CALL]))

    assert packed is not None
    assert loads(packed).tool_calls == (CALL,)


@pytest.mark.parametrize("message", [1j, {"f": len}, Exception("x"), type("Own", (str,), {})("x")])
def test_other_objects_are_not_plain(message: Any) -> None:
    assert pack_plain([message]) is None


def test_what_is_nested_too_deep_is_not_plain() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]

    assert pack_plain(nested) is None


def test_a_foreign_answer_becomes_bytes() -> None:
    kind, packed = pack_foreign((0, 1j), 1000)

    assert (kind, loads(packed)) == (FOREIGN, (0, 1j))


def test_an_answer_has_a_largest_size() -> None:
    with pytest.raises(ValueError, match=r"an answer of 1,\d+ bytes, and 1,000 may pass"):
        pack_foreign((0, "x" * 1000), 1000)


def through(action: Any) -> Any:
    return unpack_action(loads(pack_plain(pack_action(action)) or b""))


@pytest.mark.parametrize("action", ["x", Action("x"), Action("x", tool_calls=[CALL])])
def test_an_action_is_packed_with_its_kind_and_calls(action: str) -> None:
    back = through(action)

    assert (back, type(back)) == (action, type(action))
    assert getattr(back, "tool_calls", None) == getattr(action, "tool_calls", None)


def test_another_kind_of_text_becomes_an_action() -> None:
    back = through(type("Own", (str,), {})("x"))

    assert (back, type(back)) == ("x", Action)


def test_an_action_leaves_behind_what_is_of_this_process_alone() -> None:
    action = Action("x", tool_calls=[CALL])
    action.lock = threading.Lock()  # type: ignore[attr-defined]

    assert vars(through(action)) == {"tool_calls": (CALL,)}


@pytest.mark.parametrize("action", [1, None, ("x", ()), ["x"]])
def test_plain_data_that_is_no_text_is_left_for_the_environment_to_refuse(action: Any) -> None:
    assert through(action) == action


def test_any_other_object_is_refused_by_the_packing() -> None:
    assert pack_plain(pack_action(object())) is None

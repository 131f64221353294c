"""Turns as records: what a step answered is kept, and what no record could hold is refused."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from gem.content import Message, ToolCall, ToolResult
from gem.env._step import Step
from gem.episode import Turn, answer_of, plain_info

from .records import TURN, changed


def test_info_is_recorded_as_json_and_what_cannot_be_as_its_type() -> None:
    deep: list[Any] = []
    for _ in range(500):
        deep = [deep]
    info = {
        "deep": deep,
        "suffix": "apart",
        "reward_parts": {"apart": 1.0},
        "ok": (1, 2),
        "nan": float("nan"),
        "thing": object(),
        "text": "t",
        "number": -(10**3999) + 1,
        "far too long": 10**3999,
        "as far below 0": -(10**3999),
        "tool_results": ("apart",),
    }
    assert plain_info(info) == {
        "deep": {"$opaque": "builtins.list"},
        "ok": [1, 2],
        "nan": {"$opaque": "builtins.float"},
        "thing": {"$opaque": "builtins.object"},
        "text": "t",
        "number": -(10**3999) + 1,
        "far too long": {"$opaque": "builtins.int"},
        "as far below 0": {"$opaque": "builtins.int"},
    }
    changed(turns=(replace(TURN, info=plain_info(info)),)).to_json()  # as a log writes it


CALL = ToolCall("c1", "add", {"a": 2, "b": [3]})
HERMES = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": [3]}}\n</tool_call>'
MISTRAL = '[TOOL_CALLS] [{"name": "add", "arguments": {"a": 2, "b": [3]}}]'
GLM = "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>2</arg_value>\n</tool_call>"
QUOTED = 'Not <tool_call>{"name": "add", "arguments": {"a": 9}}</tool_call>.'


@pytest.mark.parametrize(
    ("action", "beside"),
    [
        (f"I add.\n{HERMES}", "I add."),
        (f"I add.\n{MISTRAL}", "I add."),
        (f"I add.\n{GLM}", "I add."),  # of arguments without types
        (f"{QUOTED}\n{MISTRAL}", QUOTED),  # one call is quoted, and the other was made
        ("I add <tool_call>", "I add <tool_call>"),
        ('<tool_call>{"name": "sub"}</tool_call>', '<tool_call>{"name": "sub"}</tool_call>'),
    ],
)
def test_a_message_of_tokens_has_its_calls_once(action: str, beside: str) -> None:
    turn = replace(TURN, action=action, tool_calls=(CALL,), token_ids=(1,), mask=(1,))
    assert turn.message() == Message("assistant", beside, (CALL,))


def test_a_message_that_no_tokens_made_is_the_answer_as_it_was() -> None:
    turn = replace(TURN, action=HERMES, tool_calls=(CALL,), token_ids=None)
    assert turn.message().content == HERMES


RESULT = ToolResult("c1", "found", is_error=False)
ANSWERS = [  # a step, and what is recorded of it beside what every turn begins with
    (Step("x", 1, False, False, {}), {"reward": 1.0}),
    (Step("x", 1.0, True, False, {}), {"reward": 1.0, "terminated": True}),
    (Step("x", 1.0, False, True, {}), {"reward": 1.0, "truncated": True}),
    (
        Step("x", 0.5, False, False, {"reward_parts": {"hit": 1}, "suffix": "s", "n": 2}),
        {"reward": 0.5, "reward_parts": {"hit": 1.0}, "info": {"n": 2}},
    ),
    (Step("x", 1.0, False, False, MappingProxyType({"n": 2})), {"reward": 1.0, "info": {"n": 2}}),  # type: ignore[arg-type]
    (
        Step("x", 0.0, False, False, {"tool_results": [RESULT]}),
        {"reward": 0.0, "tool_results": (RESULT,)},
    ),
]


@pytest.mark.parametrize(("step", "recorded"), ANSWERS)
def test_a_turn_records_what_a_step_answered(step: Step, recorded: dict[str, Any]) -> None:
    before = Turn("Go.", "b", 0.0, terminated=False, truncated=False)

    assert answer_of(step) == recorded
    assert before.answered(step) == replace(before, **recorded)


def test_an_answer_takes_the_place_of_all_that_a_turn_held_of_another() -> None:
    held = replace(TURN, terminated=True, truncated=True)
    nothing: dict[str, Any] = {"reward_parts": {}, "info": {}, "tool_results": ()}

    answered = held.answered(Step("x", 2.0, False, False, {}))

    assert answered == replace(held, reward=2.0, terminated=False, truncated=False, **nothing)


@pytest.mark.parametrize(
    ("reward", "info", "problem"),
    [
        ("1", {}, r"reward '1', and it must be a number"),
        (1.0, ["n"], r"the info \['n'\], and it must be a dict"),
        (float("inf"), {}, "reward inf, and it must be finite"),
        (1.0, {"reward_parts": {"hit": float("nan")}}, "must be finite"),
        (1.0, {"tool_results": ["found"]}, "tool_results holds 'found'"),
        (1.0, {"tool_results": [ToolResult("c1", b"found", is_error=False)]}, "of text"),  # type: ignore[arg-type]
    ],
)
def test_what_no_record_could_hold_is_refused(
    reward: Any, info: dict[str, Any], problem: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=problem):
        answer_of(Step("x", reward, True, False, info))

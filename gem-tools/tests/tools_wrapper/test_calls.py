"""Calls are answered, in every format, and only what calls no tool reaches the environment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gem import Step
from gem.content import Message, observation_text
from gem_tools.wrapper import Tools

from .ledger import Desk, add, begun, called, fail, made, moves, results, search


def test_two_tools_in_one_action_are_answered_in_its_order() -> None:
    env = begun(add, search)

    step = env.step(called(("search", {"query": "gem"}), ("add", {"a": 1, "b": 2})))

    assert step.observation == (
        Message("tool", "Nothing on gem.", call_id="c0"),
        Message("tool", "3", call_id="c1"),
    )
    assert (step.reward, step.terminated, step.truncated) == (0.0, False, False)
    assert moves(env) == []


def test_an_action_without_a_call_reaches_the_environment_as_it_is() -> None:
    env = begun(add)

    step = env.step("move")

    assert (moves(env), step.observation) == (["move"], "Moved.")
    assert step.info["tools"] == {"uses": 0, "errors": 0}


@pytest.mark.parametrize(
    ("form", "action"),
    [
        ("hermes", '<tool_call>{"name": "search", "arguments": {"query": "gem"}}</tool_call>'),
        ("tags", "<search>gem</search>"),
        ("fences", "```search\ngem\n```"),
        ("pythonic", '[search(query="gem")]'),
    ],
)
def test_calls_in_a_text_are_answered_by_a_text(form: str, action: str) -> None:
    env = begun(search, format=form)

    step = env.step(action)

    assert step.observation == "<tool_response>\nNothing on gem.\n</tool_response>"
    assert moves(env) == []


def test_several_results_come_one_after_another_in_the_tag_that_was_asked_for() -> None:
    env = begun(search, format="tags", result_tag="information")

    step = env.step("<search>a</search> and <search>b</search>")

    assert step.observation == (
        "<information>\nNothing on a.\n</information>\n<information>\nNothing on b.\n</information>"
    )


def test_calls_beside_the_text_count_in_every_format() -> None:
    env = begun(search, format="tags")

    step = env.step(called(("search", {"query": "gem"})))

    assert step.observation == (Message("tool", "Nothing on gem.", call_id="c0"),)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (("fail", {"why": "no page"}), "fail failed: ValueError: no page"),
        (("add", {"a": 1}), "add cannot be called with these arguments: 'b' is missing. It"),
        (("add", {"$malformed": "{"}), "The arguments of add are not a JSON object."),
        (("add", '{"a": 1, "b": 2}'), "The arguments of add are text, and must be a JSON object."),
        (("add", [1, 2]), "The arguments of add are a list, and must be a JSON object."),
        (("sub", {}), "There is no tool 'sub'. There is 'add', 'fail'."),
    ],
)
def test_a_call_that_comes_to_nothing_is_an_observation(call: tuple[str, Any], why: str) -> None:
    env = begun(add, fail)

    step = env.step(called(call))

    [(text, is_error)] = results(step)
    assert text.startswith(why)
    assert (is_error, step.terminated, step.truncated) == (True, False, False)
    assert moves(env) == []


@pytest.mark.parametrize("action", ["<search>gem", "<search>a</search><search>"])
def test_a_malformed_call_never_reaches_the_environment(action: str) -> None:
    env = begun(search, format="tags")

    step = env.step(action)

    assert "<search> is not closed by </search>." in observation_text(step.observation)
    assert moves(env) == []


@pytest.mark.parametrize("action", [r"\boxed{<search>a</search>}", "<search>a</search> <answer>7"])
def test_a_call_in_or_beside_a_final_answer_is_a_call(action: str) -> None:
    env = begun(search, format="tags")

    env.step(action)

    assert (made, moves(env)) == (["a"], [])


def test_a_call_that_was_only_thought_is_no_call() -> None:
    env = begun(search, format="tags")

    env.step("<think><search>a</search></think>end")

    assert (made, len(moves(env))) == ([], 1)


def test_awaiting_a_step_answers_alike() -> None:
    ask = called(("add", {"a": 1, "b": 2}), ("search", {"query": "a"}))

    async def awaited() -> Step:
        env = begun(add, search)
        try:
            return await env.astep(ask)
        finally:
            await env.aclose()

    assert asyncio.run(awaited()) == begun(add, search).step(ask)


def test_calls_of_the_environment_s_own_tools_reach_it_and_do_not_mix() -> None:
    env = Tools(Desk(), [add])
    env.reset()

    assert env.step(called(("search", {"query": "a"}))).observation == "looked up"
    step = env.step(called(("search", {"query": "a"}), ("add", {"a": 1, "b": 1})))
    assert results(step) == [("Not made: call search in an answer of its own.", True), ("2", False)]

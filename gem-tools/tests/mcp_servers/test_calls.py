"""Calls of tools that a server offers, over both transports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import gem
from gem.content import observation_text
from gem.tools import ToolContext, answer

from .conftest import Offered

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("demo_guess")]

Raw = Callable[..., Offered]


def test_a_policy_calls_the_tools_of_a_server(own: Offered) -> None:
    like = {"id": "mcp", **own.where, "allow": ["add", "shout"]}
    env = gem.make("demo:Guess", wrappers=[with_tools(like)])
    env.reset(seed=0)
    calls = [
        gem.ToolCall("c1", "add", {"a": 1, "b": 2}),
        gem.ToolCall("c2", "shout", {"text": "hear"}),
        gem.ToolCall("c3", "pid"),
    ]

    step = env.step(gem.Action("", tool_calls=calls))

    assert observation_text(step.observation) == (
        "3\nHEAR\nThere is no tool 'pid'. There is 'add', 'shout'."
    )


def test_results_are_text_and_errors_are_results(own: Offered) -> None:
    assert own.call("add", a=1, b=2).content == "3"
    assert own.call("add", a="one").is_error
    assert own.call("fail", why="so").is_error
    assert own.call("picture").content == "[image: image/png, 402 bytes]"


def test_a_call_that_hangs_costs_itself_alone(own: Offered) -> None:
    async def both() -> list[gem.ToolResult]:
        hung = answer(own.tools["hang"], {}, ToolContext(timeout_s=1.0))
        fine = answer(own.tools["shout"], {"text": "a"}, ToolContext(timeout_s=30.0))
        return list(await asyncio.gather(hung, fine))

    hung, fine = asyncio.run(both())

    assert (hung.meta["error"], fine.content) == ("timeout", "A")
    assert own.call("shout", text="b").content == "B"


def test_calls_from_any_loop_share_one_connection(own: Offered) -> None:
    async def pids() -> set[str]:
        calls = [answer(own.tools["pid"], {}, ToolContext(timeout_s=30)) for _ in range(20)]
        return {result.content for result in await asyncio.gather(*calls)}

    assert asyncio.run(pids()) | asyncio.run(pids()) == {own.call("pid").content}


def test_the_schemas_are_handed_on_in_the_openai_form(own: Offered) -> None:
    function = own.tools["add"].schema()["function"]

    assert (function["name"], function["description"]) == ("add", "Add two integers.")
    assert function["parameters"]["required"] == ["a", "b"]


def test_a_server_sees_no_variable_but_path_and_what_it_is_given(
    raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "s3cret")

    given = raw(env={"KEY": "$SECRET"}).do("variables").content.split()

    assert set(given) - {"LC_CTYPE"} == {"PATH", "KEY"}  # Python itself may set LC_CTYPE


def test_tools_of_several_servers_are_told_apart_by_a_prefix(own: Offered, raw: Raw) -> None:
    near = raw(prefix="near_")

    env = gem.make("demo:Guess", wrappers=[with_tools(near.toolset, own.toolset)])

    names = [schema["function"]["name"] for schema in env.tools]
    assert names == ["near_do", *own.tools]


def test_one_server_serves_all_who_name_it(raw: Raw) -> None:
    one = raw()
    other = raw(prefix="my_", allow=["do"])

    assert one.do("pid").content == other.call("my_do", what="pid").content


def with_tools(*tools: Any) -> dict[str, Any]:
    return {"id": "tools", "tools": list(tools)}

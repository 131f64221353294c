"""Tools at the import paths of gem-llm, and its wrappers: as its users make and call them."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import BadArguments

pytestmark = pytest.mark.usefixtures("demo_guess")


def published(path: str, name: str) -> Any:
    return getattr(importlib.import_module(path), name)


def python_tool(**arguments: Any) -> Any:
    return published("gem.tools.python_code_tool", "PythonCodeTool")(**arguments)


# gem.tools.python_code_tool, gem.utils.sandbox


@pytest.mark.usefixtures("bwrap")
@pytest.mark.parametrize(
    ("action", "printed", "call"),
    [
        ("So <python>print(1+1)</python> tail", "2\n", "So <python>print(1+1)</python>"),
        ("```python\nprint(3)\n```", "3\n", "```python\nprint(3)\n```"),
        ("```\npython\nprint(3)\n```", "3\n", "```\npython\nprint(3)\n```"),
        (
            "```python\nprint(3)\n``` <python>print(4)</python>",
            "3\n",
            "```python\nprint(3)\n```",
        ),
        ("<python>1</python>", "", "<python>1</python>"),
    ],
)
def test_the_first_program_is_run(action: str, printed: str, call: str) -> None:
    assert python_tool().execute_action(action) == (
        True,
        False,
        f"Code execution result: {printed}\n",
        call,
    )


@pytest.mark.parametrize("action", ["no program", "<python>print(1)", "```python\nprint(1)"])
def test_an_action_without_a_program_is_no_call(action: str) -> None:
    assert python_tool().execute_action(action) == (False, True, "", action)


@pytest.mark.usefixtures("bwrap")
def test_a_program_that_fails_shows_why() -> None:
    whole = python_tool().execute_action("<python>print(1); 1/0</python>")
    last = python_tool(keep_error_last_line=True).execute_action("<python>1/0</python>")

    assert whole[:2] == (True, True)
    assert whole[2].startswith("Code execution result: 1\n\nTraceback")
    assert last[2] == "Code execution result: ZeroDivisionError: division by zero\n"


@pytest.mark.usefixtures("bwrap")
def test_a_program_is_run_by_itself() -> None:
    run_python = published("gem.utils.sandbox", "run_python")

    assert run_python("print(input())", "none", stdin="7\n") == (True, "7\n", "")
    assert run_python("import os; os._exit(3)") == (False, "", "")
    succeeded, _, stderr = run_python("while True: pass", "none", timeout=0.3)
    assert (succeeded, stderr) == (False, "[the program ran past its deadline]")


def test_a_subclass_may_replace_what_a_policy_is_told_and_how_it_is_read() -> None:
    class Tool(published("gem.tools.python_code_tool", "PythonCodeTool")):  # type: ignore[misc]
        def __init__(self, timeout: int = 5, sandbox_type: str = "none") -> None:
            super().__init__(timeout, sandbox_type, False)

        def instruction_string(self) -> str:
            return "Write <code>."

    tool = Tool()
    assert (tool.timeout, tool.sandbox_type, tool.tool_type) == (5, "none", "python_code")
    assert tool.instruction_string() == "Write <code>."


# The wrappers


@pytest.mark.usefixtures("bwrap")
def test_with_the_switch_python_is_told_paid_and_bounded_as_published() -> None:
    env = gem.make("demo:Guess", wrappers=["python_tool"], compat=True)
    observation, info = env.reset(seed=0)
    assert "<python>" in str(observation)
    assert info["tool_use_counter"] == info["prev_ep_tool_use_counter"] == 0

    rewards = [env.step("<python>print(5)</python>").reward]
    rewards.append(env.step("<python>1/0</python>").reward)
    assert rewards == pytest.approx([0.3, 0.05])
    steps = [env.step("<python>print(5)</python>") for _ in range(4)]
    assert "Please output final answer directly" in str(steps[2].observation)
    assert "tool_type" not in steps[3].info
    assert steps[3].info["tool_success_counter"] == 4


@pytest.mark.usefixtures("bwrap")
def test_a_form_without_rewards_pays_nothing() -> None:
    env = gem.make("demo:Guess", wrappers=["python_tool_no_int_reward"], compat=True)
    env.reset(seed=0)

    assert env.step("<python>print(5)</python>").reward == 0.0


def test_without_the_switch_nothing_changes() -> None:
    kept = gem.make("demo:Guess", wrappers=["python_tool"])

    assert "tool_use_counter" not in kept.reset(seed=0)[1]
    assert kept.tools


# gem.tools.search_tool


def search_tool(**arguments: Any) -> Any:
    return published("gem.tools.search_tool", "SearchTool")(**arguments)


def test_a_search_is_answered_as_published(
    index_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = '\n\n<information>Doc 1(Title: "Orrery") A model of the planets.</information>\n\n'
    monkeypatch.setenv("SEARCH_URL", index_folder)

    tool = search_tool()
    assert tool.execute_action("So <search> planets </search> and") == (
        True,
        False,
        answer,
        "So <search> planets </search>",
    )
    assert tool.execute_action("planets <search>") == (False, True, "", "")
    assert "<search>" in tool.instruction_string()
    tool.close()


def test_a_server_that_is_not_there_is_an_answer() -> None:
    pytest.importorskip("httpx", reason="the extra `http` is not installed")
    tool = search_tool(search_url="http://127.0.0.1:9/retrieve", timeout=0.5)

    is_call, failed, answer, _ = tool.execute_action("<search>x</search>")
    assert (is_call, failed) == (True, True)
    assert "[SearchTool Error: " in answer
    tool.close()


def test_a_tool_that_never_searched_is_closed_like_any(tmp_path: Path) -> None:
    search_tool(search_url=str(tmp_path / "nothing")).close()


def test_a_search_needs_somewhere_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEARCH_URL", raising=False)

    with pytest.raises(BadArguments, match="SEARCH_URL is not set"):
        search_tool()


def test_with_the_switch_a_search_pays_as_published(index_folder: str) -> None:
    for id, reward in (("search_tool", 0.3), ("search_tool_no_int_reward", 0.0)):
        wrapper = {"id": id, "search_url": index_folder}
        env = gem.make("demo:Guess", wrappers=[wrapper], compat=True)
        env.reset(seed=0)
        assert env.step("<search>planets</search>").reward == reward


# gem.tools.mcp_tool, gem.tools.mcp_server

TIME = {"command": sys.executable, "args": ["-m", "gem.tools.mcp_server.time_mcp"]}


def call(name: str, **arguments: Any) -> str:
    return (
        f"<tool_call><tool_name>{name}</tool_name>"
        f"<arguments>{json.dumps(arguments)}</arguments></tool_call>"
    )


@pytest.fixture(scope="module")
def time_tool() -> Iterator[Any]:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    tool = published("gem.tools.mcp_tool", "MCPTool").from_local_command(TIME)
    yield tool
    tool.close()


def test_the_tools_of_a_server_are_told(time_tool: Any) -> None:
    names = [tool["name"] for tool in time_tool.get_available_tools()]

    assert sorted(names) == [
        "convert_time",
        "current_time",
        "days_in_month",
        "get_timestamp",
        "get_week_year",
        "relative_time",
    ]
    assert all(name in time_tool.instruction_string() for name in names)


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        (
            "convert_time",
            {
                "sourceTimezone": "UTC",
                "targetTimezone": "Asia/Tokyo",
                "time": "2025-01-01 10:00:00",
            },
            "2025-01-01 19:00:00",
        ),
        ("days_in_month", {"date": "2024-02-10"}, "29"),
        ("get_timestamp", {"time": "2025-01-01 10:00:00"}, "1735725600000"),
        ("get_week_year", {"date": "2025-01-08"}, "week: 2, isoWeek: 2"),
        ("relative_time", {"time": "2000-01-01 10:00:00"}, "years ago"),
        ("relative_time", {"time": "9000-01-01 10:00:00"}, "in "),
        ("current_time", {"format": "YYYY"}, "20"),
    ],
)
def test_a_call_is_made(time_tool: Any, name: str, arguments: Any, answer: str) -> None:
    is_call, failed, said, made = time_tool.execute_action(f"So {call(name, **arguments)} tail")

    assert (is_call, failed) == (True, False)
    assert said.startswith("\n<tool_response>\n")
    assert answer in said
    assert made == f"So {call(name, **arguments)}"


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (call("nothing"), "There is no tool 'nothing'"),
        (
            "<tool_call><tool_name>get_timestamp</tool_name><arguments>[</arguments></tool_call>",
            "cannot be read",
        ),
        (call("get_timestamp", time="now"), "<tool_response>"),
    ],
)
def test_a_call_that_goes_wrong_is_an_answer(time_tool: Any, action: str, why: str) -> None:
    is_call, failed, answer, _ = time_tool.execute_action(action)

    assert (is_call, failed) == (True, True)
    assert why in answer


@pytest.mark.parametrize("action", ["no call", "<tool_call>", '<tool_call>{"name": 1}</tool_call>'])
def test_an_action_without_a_call_in_this_form_is_none(time_tool: Any, action: str) -> None:
    assert time_tool.execute_action(action) == (False, True, "", "")


def test_a_configuration_names_servers(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    mcp_tool = published("gem.tools.mcp_tool", "MCPTool")
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"here": TIME, "there": TIME}}))

    tool = mcp_tool.from_config_file(str(file), validate_on_init=False)
    assert {schema["name"].partition("_")[0] for schema in tool.get_available_tools()} == {
        "here",
        "there",
    }
    tool.close()
    mcp_tool.from_url("http://127.0.0.1:9/mcp", auth="secret", validate_on_init=False)
    mcp_tool.from_multi_server({"a": "http://127.0.0.1:9/mcp"}, validate_on_init=False)


@pytest.mark.parametrize(
    ("config", "more", "why"),
    [
        ({"mcpServers": {}}, {}, "names no server"),
        ({"mcpServers": {"a": {}}}, {}, "a command, or a url"),
        ({"mcpServers": {"a": "http://127.0.0.1:9/url"}}, {}, "a command, or a url"),
        ([TIME], {}, "names no server"),
        ("http://127.0.0.1:9/mcp", {"log_handler": print}, "given log_handler"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(config: Any, more: Any, why: str) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    with pytest.raises(BadArguments, match=why):
        published("gem.tools.mcp_tool", "MCPTool")(config, validate_on_init=False, **more)


@pytest.mark.parametrize("text", ["{", "5", None])
def test_a_file_that_holds_no_configuration_is_refused(tmp_path: Path, text: str | None) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    file = tmp_path / "servers.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(BadArguments, match=r"servers\.json"):
        published("gem.tools.mcp_tool", "MCPTool").from_config_file(str(file))


def test_a_call_of_a_server_that_is_not_there_is_an_answer() -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    mcp_tool = published("gem.tools.mcp_tool", "MCPTool")
    tool = mcp_tool("http://127.0.0.1:9/mcp", validate_on_init=False)

    is_call, failed, answer, _ = tool.execute_action(call("now"))
    assert (is_call, failed) == (True, True)
    assert "could not be connected to" in answer


def test_a_class_takes_what_the_published_one_took() -> None:
    arguments = {
        ("gem.tools.python_code_tool", "PythonCodeTool"): "timeout sandbox_type "
        "keep_error_last_line",
        ("gem.tools.search_tool", "SearchTool"): "num_workers search_url topk timeout",
        ("gem.tools.mcp_tool", "MCPTool"): "config auth headers log_handler progress_handler "
        "sampling_handler max_retries delay_between_retries execution_timeout validate_on_init "
        "num_workers",
        ("gem.utils.sandbox", "run_python"): "code sandbox_type stdin timeout",
    }
    for place, names in arguments.items():
        assert list(inspect.signature(published(*place)).parameters) == names.split()

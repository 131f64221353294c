"""The wrapper `tools`: calls are answered, and only what calls none reaches the environment."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import gem
from gem import Step, replay
from gem.content import Message, observation_text
from gem.errors import BadArguments, SnapshotError
from gem.testing import registrations_undone
from gem_tools.wrapper import Tools

made: list[str] = []


@gem.tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    made.append(f"{a}+{b}")
    return a + b


@gem.tool
async def search(query: str) -> str:
    """Search."""
    made.append(query)
    return f"Nothing on {query}."


@gem.tool
def fail(why: str) -> None:
    raise ValueError(why)


@gem.tool
def told(context: gem.ToolContext) -> str:
    return f"{context.seed}"


class Notebook(gem.Tool):
    """Keeps lines for each episode."""

    name = "note"
    parameters = {"type": "object", "properties": {"line": {"type": "string"}}}  # noqa: RUF012
    keeps_sessions = True

    def __init__(self, *, can_fork: bool = False) -> None:
        self.can_fork = can_fork
        self.lines: dict[str, list[str]] = {}

    async def call(self, arguments: Mapping[str, Any], context: gem.ToolContext) -> gem.ToolResult:
        lines = self.lines.setdefault(context.session, [])
        lines.append(arguments["line"])
        return gem.ToolResult(context.call_id, " ".join(lines))

    def fork_session(self, session: str, twin: str) -> None:
        if not self.can_fork:
            super().fork_session(session, twin)
        self.lines[twin] = [*self.lines[session]]

    def end_session(self, session: str) -> None:
        del self.lines[session]


class Ledger(gem.Env):
    """Takes any action but "end" for a move; `moves` is what reached it."""

    reward_range = (0.0, 1.0)

    def __init__(self, max_turns: int = 5) -> None:
        self.max_turns: int = max_turns

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.moves: list[str] = []
        return "Begin.", {"suffix": "Your move."}

    def step(self, action: str) -> gem.Step:
        self.moves.append(str(action))
        done = action == "end"
        return gem.Step("Moved.", float(done), done, self.turn + 1 >= self.max_turns, {})


@pytest.fixture(autouse=True)
def _ledger() -> Iterator[None]:
    with registrations_undone():
        gem.register("demo:Ledger", Ledger)
        yield


@pytest.fixture(autouse=True)
def _nothing_made() -> None:
    made.clear()


def begun(*tools: Any, **options: Any) -> gem.Env:
    layer = {"id": "tools", "tools": list(tools), **options}
    env = gem.make("demo:Ledger", wrappers=[layer])
    env.reset(seed=0)
    return env


def called(*calls: tuple[str, Any]) -> gem.Action:
    return gem.Action(
        "I look.",
        tool_calls=[gem.ToolCall(f"c{n}", *call) for n, call in enumerate(calls)],
    )


def moves(env: gem.Env) -> Any:
    return env.unwrapped.moves  # type: ignore[attr-defined]


def results(step: Step) -> list[tuple[str, bool]]:
    return [(result.content, result.is_error) for result in step.info["tool_results"]]


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


def test_the_calls_of_one_action_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3)

    @gem.tool
    def meet() -> int:
        return meeting.wait(30)

    step = begun(meet).step(called(*[("meet", {})] * 3))

    assert {text for text, _ in results(step)} == {"0", "1", "2"}


def test_a_tool_s_own_bound_is_kept_and_results_stay_in_order() -> None:
    running = [0]
    most = [0]

    @gem.tool(max_concurrent=1)
    async def alone(number: int) -> int:
        running[0] += 1
        most[0] = max(most[0], running[0])
        await asyncio.sleep(0)
        running[0] -= 1
        return number

    step = begun(alone).step(called(*[("alone", {"number": n}) for n in range(5)]))

    assert [text for text, _ in results(step)] == ["0", "1", "2", "3", "4"]
    assert most == [1]


def test_a_call_that_hangs_costs_only_itself() -> None:
    freed = threading.Event()

    @gem.tool
    def hang() -> None:
        freed.wait(60)

    # What needs no thread is done by when any deadline is looked at.
    step = begun(hang, search, timeout_s=0.05).step(
        called(("hang", {}), ("search", {"query": "gem"}))
    )
    freed.set()

    assert results(step) == [
        ("hang was stopped after 0.05 s.", True),
        ("Nothing on gem.", False),
    ]


def test_calls_over_the_limit_are_refused_and_insisting_ends_the_episode() -> None:
    env = begun(search, max_tool_uses=1)
    ask = called(("search", {"query": "a"}), ("search", {"query": "b"}))

    first = env.step(ask)
    second = env.step(ask)

    refusal = "Not made: all 1 calls of this episode are used. Answer without one."
    assert results(first) == [("Nothing on a.", False), (refusal, True)]
    assert (first.truncated, second.truncated, second.terminated) == (False, True, False)
    assert (made, moves(env)) == (["a"], [])


def test_after_a_refusal_the_environment_goes_on() -> None:
    env = begun(search, max_tool_uses=0)

    env.step(called(("search", {"query": "a"})))
    step = env.step("end")

    assert (step.terminated, moves(env)) == (True, ["end"])


def test_most_of_very_many_calls_are_refused_in_few_words() -> None:
    env = begun(search, format="tags", max_tool_uses=None)

    step = env.step("<search>a</search>" * 1000)

    text = observation_text(step.observation)
    assert (len(made), len(results(step))) == (16, 1000)
    assert text.count("Nothing on a.") == 16
    assert "984 more: Not made: 16 calls are made at once." in text


def test_rewards_add_up_and_are_named() -> None:
    env = begun(add, fail, tool_reward=0.5, tool_success_reward=0.25, tool_error_reward=-0.125)

    step = env.step(called(("add", {"a": 1, "b": 1}), ("fail", {"why": ""}), ("sub", {})))

    assert step.info["reward_parts"] == {"tool": 1.5, "tool_success": 0.25, "tool_error": -0.25}
    assert step.reward == 1.5
    assert env.reward_range == (0.0, 12.0)


def test_what_happened_is_counted() -> None:
    env = begun(add, fail)
    env.step(called(("add", {"a": 1, "b": 1}), ("fail", {"why": ""})))

    step = env.step("move")

    assert step.info["tools"] == {"uses": 2, "errors": 1}


def test_a_reset_begins_to_count_anew() -> None:
    env = begun(search, max_tool_uses=1)
    env.step(called(("search", {"query": "a"})))

    env.reset()
    step = env.step(called(("search", {"query": "b"})))

    assert results(step) == [("Nothing on b.", False)]


def test_schemas_of_the_environment_and_of_the_tools_are_shown() -> None:
    assert begun(add, search).tools == (add.schema(), search.schema())


def test_awaiting_a_step_answers_alike() -> None:
    ask = called(("add", {"a": 1, "b": 2}), ("search", {"query": "a"}))

    async def awaited() -> Step:
        env = begun(add, search)
        try:
            return await env.astep(ask)
        finally:
            await env.aclose()

    assert asyncio.run(awaited()) == begun(add, search).step(ask)


def test_a_seed_is_fixed_by_the_episode_and_the_call() -> None:
    ask = called(("told", {}), ("told", {}))
    env = begun(told)
    other = begun(told)

    first = env.step(ask)
    again = other.step(ask)
    later = env.step(ask)

    assert results(first) == results(again)
    assert len({text for text, _ in results(first) + results(later)}) == 4


def test_a_snapshot_keeps_what_was_counted() -> None:
    env = begun(search, max_tool_uses=1)
    env.step(called(("search", {"query": "a"})))
    before = env.snapshot()
    other = begun(search, max_tool_uses=1)

    with pytest.raises(SnapshotError):
        other.restore(gem.make("demo:Ledger").snapshot())
    other.restore(before)
    step = other.step(called(("search", {"query": "b"})))

    assert results(step)[0][1]


def test_a_fork_counts_for_itself() -> None:
    env = begun(search, max_tool_uses=1)

    twin = env.fork()
    env.step(called(("search", {"query": "a"})))
    step = twin.step(called(("search", {"query": "b"})))

    assert results(step) == [("Nothing on b.", False)]


def test_a_tool_that_can_copies_its_session_with_the_episode() -> None:
    notebook = Notebook(can_fork=True)
    env = begun(notebook)
    env.step(called(("note", {"line": "one"})))

    twin = env.fork()
    env.step(called(("note", {"line": "two"})))
    step = twin.step(called(("note", {"line": "three"})))

    assert results(step) == [("one three", False)]
    twin.close()
    env.close()
    assert notebook.lines == {}


def test_a_tool_that_cannot_copy_its_session_says_so_and_nothing_changes() -> None:
    env = begun(Notebook())
    env.fork().close()
    env.step(called(("note", {"line": "one"})))

    with pytest.raises(SnapshotError, match="'note', which keeps a state of its own"):
        env.fork()
    with pytest.raises(SnapshotError, match="the tool 'note' keeps a state of its own"):
        env.snapshot()
    step = env.step(called(("note", {"line": "two"})))

    assert results(step) == [("one two", False)]
    env.close()


def test_a_session_ends_with_its_episode() -> None:
    notebook = Notebook()
    env = begun(notebook)
    env.step(called(("note", {"line": "one"})))

    env.reset()
    step = env.step(called(("note", {"line": "two"})))
    env.close()

    assert results(step) == [("two", False)]
    assert notebook.lines == {}


async def _asking(request: gem.Request) -> gem.Action | str:
    return called(("add", {"a": 1, "b": request.turn})) if request.turn < 2 else "end"


async def _all(episodes: Any) -> list[gem.Episode]:
    return [episode async for episode in episodes]


def test_an_episode_records_calls_and_results_and_replays_without_calling() -> None:
    layer = {"id": "tools", "tools": [f"{__name__}:add"], "max_tool_uses": 1}
    run = gem.rollout(_asking, "demo:Ledger", episodes=1, wrappers=[layer])
    [episode] = asyncio.run(_all(run))
    before = len(made)

    again = gem.Episode.from_json(episode.to_json())

    assert [turn.tool_calls[0].name for turn in again.turns[:2]] == ["add", "add"]
    assert [turn.tool_results[0].content[:8] for turn in again.turns[:2]] == ["1", "Not made"]
    assert (replay(again).state, len(made)) == ("same", before)
    assert json.loads(episode.to_json())["turns"][0]["info"]["tools"]["uses"] == 1


class Desk(gem.Env):
    """Has a tool of its own, which it answers itself."""

    tools = (search.schema(),)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "", {}

    def step(self, action: str) -> Step:
        return Step("looked up", 0.0, False, False, {})


def test_calls_of_the_environment_s_own_tools_reach_it_and_do_not_mix() -> None:
    env = Tools(Desk(), [add])
    env.reset()

    assert env.step(called(("search", {"query": "a"}))).observation == "looked up"
    step = env.step(called(("search", {"query": "a"}), ("add", {"a": 1, "b": 1})))
    assert results(step) == [("Not made: call search in an answer of its own.", True), ("2", False)]


@pytest.mark.parametrize(
    ("tools", "options", "why"),
    [
        ([add, add], {}, "two tools with the name 'add'"),
        ([add], {"format": "tags"}, "'add' cannot be called in the format 'tags'"),
        ([add], {"format": "xml"}, "format="),
        ([3], {}, r"tools=\[3\] does not fit"),
        ("search", {}, "Give a list of tools|tools='search' does not fit"),
    ],
)
def test_tools_that_cannot_work_are_refused_at_once(tools: Any, options: Any, why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        gem.make("demo:Ledger", wrappers=[{"id": "tools", "tools": tools, **options}])


def test_limits_leave_room_for_calls() -> None:
    assert begun(add, max_tool_uses=3).max_turns == 10
    assert begun(add, max_tool_uses=None).max_turns is None
    assert begun(add).single_turn is False


@pytest.mark.parametrize(
    ("tools", "options", "why"),
    [
        ({"id": "search"}, {}, "which is one tool. Give a list of tools."),
        ([add], {"format": "xml"}, "format='xml'. There are: openai, tags, fences, hermes, "),
    ],
)
def test_a_stack_that_is_built_by_hand_is_checked_alike(tools: Any, options: Any, why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        Tools(Desk(), tools, **options)

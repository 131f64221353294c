from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import gem
from gem.content import Action, ImagePart, Message, TextPart, ToolCall, ToolResult
from gem.episode import ForeignEpisode, ForeignTurn
from gem.episode._foreign_replay import ForeignReport, replay_foreign
from gem.errors import BadArguments
from gem.testing.envs import Guess

TOOL = {"type": "function", "function": {"name": "add"}}


class Doors(gem.Env):
    """Two doors, of which the second ends the episode; what it shows is of every kind."""

    num_tasks = 2
    tools: tuple[Mapping[str, Any], ...] = ()

    def reset(self, seed: int | None = None, task: int | None = None) -> Any:
        shown = (Message("system", "Be brief."), Message("user", (TextPart("A"), ImagePart(b""))))
        return shown, {"suffix": f"Task {task}."}

    def step(self, action: str) -> gem.Step:
        assert isinstance(action, Action)
        if action == "break":
            raise RuntimeError("broken")
        if action == "nothing":
            return gem.Step("", None)  # type: ignore[arg-type]
        if action.tool_calls:
            content = "".join(result.content for result in action.tool_results) or "live"
            return gem.Step((Message("tool", content),), 0.0)
        if action == "?":
            return gem.Step("What?", 0.0, info={"action_error": "format"})
        return gem.Step("Open.", 1.0, action == "2", info={"suffix": "\ud800"})


def turn(action: str, step: int = 2, **recorded: Any) -> ForeignTurn:
    return ForeignTurn(step, Action(action), **recorded)


def episode(*turns: ForeignTurn, **facts: Any) -> ForeignEpisode:
    return ForeignEpisode("someone", turns, **facts)


def replayed(foreign: ForeignEpisode, env: gem.Env | None = None, **options: Any) -> ForeignReport:
    given = {"seed": 3, "task": None, **options}
    return replay_foreign(foreign, Doors() if env is None else env, **given)


def test_what_is_on_record_and_comes_out_is_the_same() -> None:
    first = turn("1", 2, reward=1.0, terminated=False, truncated=False, observation="Open.\n\ufffd")
    last = turn("2", 3, reward=1, terminated=True, observation="Open.")

    report = replayed(
        episode(first, last, observation="A\n[image]\nTask 1.", total_reward=2.0, success=True),
        task=1,
    )

    assert (report.state, report.difference, report.num_compared) == ("same", None, 10)
    assert (report.turns_taken, report.total_reward, report.success) == (2, 2.0, True)


@pytest.mark.parametrize(
    "shown",
    [
        "Be brief.\nA\n[image]\nTask None.",
        "Be brief.\nA\n[image]",
        "A\n[image]\nTask None.",
        "A\n[image]",
    ],
)
def test_a_system_prompt_and_a_suffix_may_be_absent(shown: str) -> None:
    assert replayed(episode(turn("2"), observation=shown)).state == "same"


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ({"reward": 0.5}, (2, "reward", 0.5, 1.0)),
        ({"observation": "Shut."}, (2, "observation", "Shut.", "Open.\n\ufffd")),
        ({"truncated": True}, (2, "truncated", True, False)),
        ({"terminated": True}, (2, "terminated", True, False)),
    ],
)
def test_the_first_difference_has_the_logs_own_step(
    recorded: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    report = replayed(episode(turn("1", **recorded), turn("2", 3, reward=9.0)))

    assert (report.state, report.difference) == ("different", expected)
    assert report.turns_taken == 2  # they go on to what they reach


def test_a_difference_before_the_first_action_has_no_step() -> None:
    difference = replayed(episode(turn("2"), observation="B")).difference

    assert difference is not None
    assert (difference.step, difference.field, difference.recorded) == (None, "observation", "B")


@pytest.mark.parametrize(
    ("facts", "field"), [({"success": False}, "success"), ({"total_reward": 0.5}, "total_reward")]
)
def test_how_it_ended_is_compared(facts: dict[str, Any], field: str) -> None:
    difference = replayed(episode(turn("2"), **facts)).difference

    assert difference is not None
    assert difference.field == field


def test_a_log_that_says_nothing_is_played() -> None:
    report = replayed(episode(turn("2")))

    assert (report.state, report.success) == ("played", True)


def test_actions_after_the_end_are_left() -> None:
    report = replayed(episode(turn("2"), turn("Done.", 7)))

    assert [left.step for left in report.turns_left] == [7]


def test_too_few_actions_are_partial() -> None:
    report = replayed(episode(turn("1", reward=1.0)))

    assert (report.state, report.is_over, report.success) == ("partial", False, None)
    assert report.turns_left == ()


def test_an_episode_that_an_error_ended_is_partial() -> None:
    assert replayed(episode(stop_reason="env_error")).state == "partial"


@pytest.mark.parametrize(("stop", "success"), [("max_turns", True), ("model_length", False)])
def test_a_limit_of_the_run_is_an_end(stop: Any, success: bool) -> None:
    report = replayed(episode(turn("1", reward=1.0), stop_reason=stop, success=success))

    assert (report.state, report.success) == ("same", success)


@pytest.mark.parametrize("action", ["break", "nothing"])
def test_an_environment_that_fails_is_a_difference(action: str) -> None:
    report = replayed(episode(turn(action), turn("2", 3)))

    assert report.state == "different"
    assert report.difference is not None
    assert (report.difference.step, report.difference.field) == (2, "exception")
    assert report.turns_left == ()


def test_a_task_that_there_is_not_is_an_error() -> None:
    with pytest.raises(BadArguments):
        replayed(episode(turn("2")), env=Guess(), task=1)


@pytest.mark.parametrize(("live", "state"), [(False, "partial"), (True, "different")])
def test_tools_answer_as_recorded_unless_live(live: bool, state: str) -> None:
    call = ToolCall("c", "add")
    action = Action("", tool_calls=[call], tool_results=[ToolResult("c", "5")])
    foreign = episode(ForeignTurn(2, action, observation="5"))

    assert replayed(foreign, live_tools=live).state == state


def test_actions_that_cannot_be_read_are_counted() -> None:
    report = replayed(episode(turn("?"), turn("2")))

    assert (report.num_unread, report.misfit) == (1, "")


def test_actions_that_none_can_be_read_of_do_not_fit() -> None:
    misfit = replayed(episode(turn("?"))).misfit

    assert misfit == "the environment could read none of its actions"


@pytest.mark.parametrize(
    ("tools", "names", "misfit"),
    [
        ((), ["bash"], "its actions call 'bash', and this environment has no tools"),
        ((TOOL,), ["bash"], "its actions call 'bash', and this environment has the tools 'add'"),
        ((TOOL,), ["bash", "add"], ""),
        (
            (),
            ["d", "c", "b", "a"],
            "its actions call 'a', 'b', 'c' and 1 more, and this environment has no tools",
        ),
    ],
)
def test_calls_fit_where_one_is_of_a_tool_that_there_is(
    tools: tuple[Mapping[str, Any], ...], names: list[str], misfit: str
) -> None:
    env = Doors()
    env.tools = tools
    action = Action("", tool_calls=[ToolCall(name, name) for name in names])

    assert replayed(episode(ForeignTurn(2, action)), env=env).misfit == misfit

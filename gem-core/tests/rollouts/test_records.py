"""What the policy is shown, and what of an episode is recorded."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.content import Action, ToolCall, ToolResult, observation_text
from gem.conversation import Reply, Request
from gem.episode._replay import replay

from .envs import FAULTS, _answer, nested
from .running import Solve, fingerprints, run, run_one


def test_a_list_that_the_environment_changes_later_is_recorded_as_it_was() -> None:
    episode = run_one(lambda request: "go", "demo:Growing")
    shown = [observation_text(turn.observation) for turn in episode.turns]
    assert shown == ["first", "first\nnext"]
    assert replay(episode).state == "same"


def test_lone_surrogates_never_reach_the_environment_or_the_record() -> None:
    episode = run_one(lambda request: "a\ud800b", max_turns=1)
    assert episode.turns[0].action == "a\ufffdb"


def test_a_reply_with_tokens_and_tool_calls_is_recorded() -> None:
    call = ToolCall("c", "search", {"query": "x"})
    message = gem.Message("assistant", "H", (call,))
    reply = Reply(message, (1, 2), (-0.1, -0.2), "stop", gem.Usage(5, 2))
    turn = run_one(lambda request: reply, max_turns=1).turns[0]
    assert turn.token_ids == (1, 2)
    assert turn.logprobs == (-0.1, -0.2)
    assert turn.tool_calls == (call,)
    assert turn.usage == gem.Usage(5, 2)


def test_reasoning_is_recorded_and_neither_played_nor_shown() -> None:
    prompts = []

    def thinking(request: Request) -> Reply:
        prompts.append(str(list(request.messages)))
        return Reply(gem.Message("assistant", "neither"), reasoning="secret\ud800")

    episode = run_one(thinking, max_turns=2)

    assert [turn.reasoning for turn in episode.turns] == ["secret\ufffd"] * 2
    assert [turn.action for turn in episode.turns] == ["neither"] * 2
    assert "secret" not in prompts[1]


def test_a_plain_action_with_calls_keeps_them() -> None:
    call = ToolCall("c", "search")
    turn = run_one(lambda request: Action("H", tool_calls=[call]), max_turns=1).turns[0]
    assert turn.tool_calls == (call,)


def test_info_that_is_nested_too_deep_becomes_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAULTS, "deep", lambda: _answer(info={"tree": nested(200), "x": [1]}))
    info = run_one(lambda request: "deep", max_turns=1).turns[0].info
    assert info == {"tree": {"$opaque": "builtins.list"}, "x": [1]}


def test_tool_results_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ToolResult("c", "found")
    monkeypatch.setitem(FAULTS, "use", lambda: _answer(info={"tool_results": [result]}))
    assert run_one(lambda request: "use", max_turns=1).turns[0].tool_results == (result,)


def test_the_policy_sees_the_whole_conversation() -> None:
    seen: list[list[str]] = []

    def policy(request: Request) -> str:
        seen.append([message.text for message in request.messages])
        return "neither"

    run(policy, "demo:Coin", max_turns=2)
    assert seen[0] == ["One of HT?\nfirst"]
    assert seen[1][:2] == ["One of HT?\nfirst", "neither"]
    assert seen[1][2].endswith("\nnext")


class Finished(gem.Wrapper):
    """Renders a prompt of its own."""

    rewrites_history = True
    prompt_is_finished = True

    def on_reset(self, observation: Any, info: dict[str, Any]) -> Any:
        return f"<{observation}>", info


def test_a_finished_prompt_travels_as_it_is() -> None:
    seen: list[Request] = []

    def policy(request: Request) -> str:
        seen.append(request)
        return "neither"

    run(policy, "demo:Coin", max_turns=1, wrappers=[Finished])
    assert (seen[0].prompt, seen[0].messages) == ("<One of HT?>", ())


def test_the_wrappers_are_part_of_the_record() -> None:
    episode = run_one(lambda request: "neither", max_turns=1, wrappers=[Finished])
    assert episode.wrappers == ({"id": f"{__name__}:Finished", "kwargs": {}},)


def test_the_task_reaches_the_environment() -> None:
    episodes = run(lambda request: str(request.task), "demo:Dice", episodes="all")
    assert {(f"Task {e.task}", str(e.task)) for e in episodes} == {
        (e.turns[0].observation, e.turns[0].action) for e in episodes
    }


LISTENER = """
    from gem.hooks import hookimpl

    heard = []

    @hookimpl
    def gem_episode_finished(episode):
        heard.append(episode)
"""


def test_a_listener_hears_of_every_episode(install: Callable[..., Path]) -> None:
    hooks = ("rollout_listener.hooks",)
    install("rollout-listener", hooks=hooks, files={"hooks.py": LISTENER})
    episodes = run(Solve(), "demo:Coin", episodes=3)
    heard = importlib.import_module("rollout_listener.hooks").heard
    assert fingerprints(heard) == fingerprints(episodes)


def test_versions_name_core() -> None:
    assert run_one(Solve()).versions == {"gem-core": gem.__version__}


def test_durations_are_recorded() -> None:
    before = time.perf_counter()
    episode = run_one(Solve())
    assert 0 < episode.duration_s <= time.perf_counter() - before
    assert episode.turns[0].step_s > 0

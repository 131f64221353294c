"""Replay: what reproduces is said to, and the first difference is shown."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

import gem
from gem.content import ToolResult
from gem.conversation import Request
from gem.env import Env
from gem.env._step import Step
from gem.episode import Episode
from gem.episode._differences import Difference
from gem.episode._replay import replay
from gem.specs import EnvSpec


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


class Walk(Env):
    """Walk a line of chance; `drift` stands for a later version that behaves otherwise."""

    num_tasks = 5
    drift = ""

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[str, dict[str, Any]]:
        self.place = self.pick_task(task)
        return f"At {self.place}{'!' * (self.drift == 'reset')}", {"suffix": "Go."}

    def step(self, action: str) -> Step:
        if self.drift == "exit":
            raise SystemExit(3)
        if self.drift == "unprintable":
            raise Unprintable
        if action == "raise" or self.drift == "raise":
            raise ValueError("boom")
        self.place += self.rng.choice([-1, 1]) + (self.drift == "observation")
        done = self.turn == 3
        reward = 0.5 + (self.drift == "reward")
        info: dict[str, Any] = {
            "suffix": "Go on." if self.drift != "suffix" else "Stop.",
            "reward_parts": {"part": 0.5 + (self.drift == "reward_parts")},
        }
        if self.drift == "tool_results":
            info["tool_results"] = [ToolResult("c", "found")]
        if self.drift == "success":
            info["success"] = True
        terminated = done != (self.drift == "terminated")
        return Step(f"At {self.place}", reward, terminated, self.drift == "truncated", info)

    def close(self) -> None:
        if self.drift == "close":
            raise OSError("stuck")
        if self.drift == "close_unprintable":
            raise Unprintable


@pytest.fixture(autouse=True)
def _envs() -> None:
    spec = EnvSpec(id="demo:Walk", target=f"{__name__}:Walk", blocking=False)
    gem.register(spec, Walk)


def played(policy: Any = lambda request: "go", **options: Any) -> Episode:
    async def collect() -> list[Episode]:
        return [episode async for episode in gem.rollout(policy, "demo:Walk", **options)]

    (episode,) = asyncio.run(collect())
    return episode


def test_the_same_environment_replays_the_same() -> None:
    report = replay(played())
    assert (report.state, report.difference, report.turns_compared) == ("same", None, 4)
    assert report.versions == {}


def test_a_run_that_stopped_at_its_own_limit_replays_the_same() -> None:
    assert replay(played(max_turns=2)).state == "same"


@pytest.mark.parametrize(
    "drift",
    ["reward", "reward_parts", "terminated", "truncated", "observation", "suffix", "tool_results"],
)
def test_the_first_difference_is_shown(drift: str, monkeypatch: pytest.MonkeyPatch) -> None:
    episode = played()
    monkeypatch.setattr(Walk, "drift", drift)
    report = replay(episode)
    assert report.state == "different"
    assert report.difference is not None
    assert report.difference.field == drift
    assert report.difference.recorded != report.difference.replayed


def test_a_different_start_is_a_difference_at_turn_0(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = played()
    monkeypatch.setattr(Walk, "drift", "reset")
    difference = replay(episode).difference
    assert isinstance(difference, Difference)
    assert (difference.turn, difference.field) == (0, "observation")


def test_an_environment_that_now_raises_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = played()
    monkeypatch.setattr(Walk, "drift", "raise")
    difference = replay(episode).difference
    assert difference == Difference(0, "exception", None, "ValueError: boom")


def test_an_environment_that_now_exits_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = played()
    monkeypatch.setattr(Walk, "drift", "exit")
    assert replay(episode).difference == Difference(0, "exception", None, "SystemExit: 3")


def test_an_error_whose_own_text_fails_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = played()
    monkeypatch.setattr(Walk, "drift", "unprintable")
    text = "Unprintable: (its text cannot be shown)"
    assert replay(episode).difference == Difference(0, "exception", None, text)


def test_a_close_whose_errors_text_fails_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = played()
    monkeypatch.setattr(Walk, "drift", "close_unprintable")
    with pytest.warns(RuntimeWarning, match="its text cannot be shown"):
        assert replay(episode).state == "same"


def test_a_close_that_fails_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = played()
    monkeypatch.setattr(Walk, "drift", "close")
    with pytest.warns(RuntimeWarning, match="stuck"):
        assert replay(episode).state == "same"


def test_a_different_last_observation_is_a_difference() -> None:
    episode = replace(played(), final_observation="elsewhere")
    difference = replay(episode).difference
    assert difference is not None
    assert (difference.turn, difference.field) == (4, "observation")


def test_another_success_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = replace(played(), success=False)
    monkeypatch.setattr(Walk, "drift", "success")
    assert replay(episode).difference == Difference(3, "success", False, True)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"stop_reason": "model_length", "success": False}, "stop_reason"),
        ({"stop_reason": "max_turns"}, "stop_reason"),
        ({"stop_reason": "truncated"}, "stop_reason"),
        ({"terminated": False, "truncated": True}, "terminated"),
    ],
)
def test_an_end_that_the_last_turn_does_not_have_is_a_difference(
    change: dict[str, Any], field: str
) -> None:
    episode = played()
    difference = replay(replace(episode, **change)).difference

    assert difference is not None
    assert (difference.turn, difference.field) == (3, field)
    assert difference.recorded == change[field]
    assert difference.replayed == getattr(episode, field)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"stop_reason": "terminated", "terminated": True}, ("stop_reason", "terminated", None)),
        ({"stop_reason": "truncated"}, ("stop_reason", "truncated", None)),
        ({"truncated": False}, ("truncated", False, True)),
    ],
)
def test_an_end_by_the_environment_is_in_its_last_turn(
    change: dict[str, Any], expected: tuple[str, Any, Any]
) -> None:
    episode = played(max_turns=2)

    assert replay(episode).state == "same"
    assert replay(replace(episode, **change)).difference == Difference(1, *expected)


def test_a_limit_of_the_environments_own_is_no_end_of_its_task() -> None:
    episode = played(wrappers=[{"id": "time_limit", "max_turns": 2}])

    assert (episode.stop_reason, replay(episode).state) == ("truncated", "same")
    assert replay(replace(episode, stop_reason="max_turns")).state == "different"


def test_another_return_than_its_rewards_is_a_difference() -> None:
    difference = replay(replace(played(), total_reward=7.0)).difference
    assert difference == Difference(3, "total_reward", 7.0, 2.0)


def test_an_error_is_compared_up_to_its_turn_and_counted_apart() -> None:
    def policy(request: Request) -> str:
        return "raise" if request.turn == 2 else "go"

    report = replay(played(policy))
    assert (report.state, report.turns_compared) == ("partial", 2)


def test_a_policys_error_is_compared_up_to_its_turn() -> None:
    def policy(request: Request) -> Any:
        return 7 if request.turn == 2 else "go"

    report = replay(played(policy))
    assert (report.state, report.turns_compared) == ("partial", 2)


def test_an_error_before_the_first_turn_compares_nothing() -> None:
    report = replay(played(lambda request: 7))
    assert (report.state, report.turns_compared) == ("partial", 0)


def test_changed_versions_are_reported() -> None:
    report = replay(replace(played(), versions={"gem-core": "0.0.1", "gone": "1"}))
    assert report.versions == {"gem-core": ("0.0.1", gem.__version__), "gone": ("1", None)}


class Asking(Env):
    """A stand-in for a layer with a tool: it asks outside, unless it is told what was answered."""

    asked = 0

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "", {}

    def step(self, action: str) -> Step:
        assert isinstance(action, gem.Action)
        results = action.tool_results or (ToolResult("c", f"answer {Asking.asked}"),)
        Asking.asked += not action.tool_results
        return Step("", 0.0, True, False, {"tool_results": results})


@pytest.mark.parametrize(("live_tools", "state"), [(False, "same"), (True, "different")])
def test_tools_are_not_called_again_unless_live(
    live_tools: bool, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Asking, "asked", 0)
    gem.register(EnvSpec(id="demo:Asking", target=f"{__name__}:Asking", blocking=False), Asking)
    [episode] = asyncio.run(_all(gem.rollout(lambda request: "", "demo:Asking", episodes=1)))

    assert replay(episode, live_tools=live_tools).state == state
    assert Asking.asked == 1 + live_tools


async def _all(episodes: Any) -> list[Episode]:
    return [episode async for episode in episodes]

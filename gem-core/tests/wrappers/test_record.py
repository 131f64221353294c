"""`record`: finished episodes, on disk, ready to be replayed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.content import Action, ToolCall, ToolResult
from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.episode import Episode
from gem.episode._log import EpisodeLog, read_episodes
from gem.episode._replay import replay
from gem.errors import LogError
from gem.testing.envs import Coin, Guess
from gem.wrappers._record import Record

MakeEnv = Callable[..., Env]


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(tmp_path / "episodes.jsonl")


@pytest.fixture
def guess_id() -> str:
    return gem.register("wrapped:Guess", Guess, highest=15, max_turns=4).id


def recorded(log: str) -> list[Episode]:
    return list(read_episodes(log))


def solve(env: Env, seed: int | None = None) -> list[Step]:
    """Play one episode as well as can be."""
    env.reset(seed=seed)
    steps = [env.step(env.solve() or "")]
    while not (steps[-1].terminated or steps[-1].truncated):
        steps.append(env.step(env.solve() or ""))
    return steps


def test_a_finished_episode_is_on_disk_before_step_returns(guess_id: str, log: str) -> None:
    env = gem.make(guess_id, wrappers=[{"id": "record", "path": log}])

    steps = solve(env, seed=3)

    (episode,) = recorded(log)
    assert [turn.reward for turn in episode.turns] == [step.reward for step in steps]
    assert (episode.env_id, episode.seed, episode.stop_reason) == (guess_id, 3, "terminated")
    assert (episode.success, episode.total_reward) == (True, 1.0)
    assert episode.policy == "by hand"


def test_a_turn_holds_what_was_seen_before_its_action(say: MakeEnv, log: str) -> None:
    env = Record(say(["one", "two", "end"]), log, policy="me")
    env.reset(seed=0)
    env.step("a")
    env.step("b")

    (episode,) = recorded(log)
    seen = [(turn.observation, turn.suffix, turn.action) for turn in episode.turns]
    assert seen == [("one", "s0", "a"), ("two", "s1", "b")]
    assert (episode.final_observation, episode.policy) == ("end", "me")


def test_tool_calls_results_and_reward_parts_are_recorded(say: MakeEnv, log: str) -> None:
    result = ToolResult("c", "42")

    class Parts(Wrapper):
        def on_step(self, action: str, step: Step) -> Step:
            info = {"reward_parts": {"style": 1}, "tool_results": [result], "odd": object()}
            return step._replace(info=info)

    env = Record(Parts(say(["one", "end"])), log)
    env.reset(seed=0)
    call = ToolCall("c", "find", {"q": 1})
    env.step(Action("a", tool_calls=[call]))

    (turn,) = recorded(log)[0].turns
    assert (turn.tool_calls, turn.tool_results) == ((call,), (result,))
    assert turn.reward_parts == {"style": 1.0}
    assert turn.info["odd"] == {"$opaque": "builtins.object"}


def test_every_recorded_episode_replays(guess_id: str, log: str) -> None:
    env = gem.make(guess_id, seed=9, wrappers=[{"id": "record", "path": log}])

    for _ in range(3):
        solve(env)

    episodes = recorded(log)
    assert [episode.episode_index for episode in episodes] == [0, 1, 2]
    assert [replay(episode).state for episode in episodes] == ["same", "same", "same"]


def test_the_first_unseeded_reset_uses_the_seed_that_make_was_given(
    guess_id: str, log: str
) -> None:
    solve(gem.make(guess_id, seed=9, wrappers=[{"id": "record", "path": log}]))

    assert recorded(log)[0].seed == 9


def test_later_unseeded_resets_follow_from_the_first_seed(guess_id: str, tmp_path: Path) -> None:
    logs = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    for log in logs:
        env = gem.make(guess_id, seed=9, wrappers=[{"id": "record", "path": log}])
        solve(env)
        solve(env)

    first, second = map(recorded, logs)
    assert first[1].seed == second[1].seed
    assert first[0].seed != first[1].seed


def test_the_task_that_was_asked_for_is_recorded_and_one_that_was_drawn_is_not(
    log: str,
) -> None:
    coin_id = gem.register("wrapped:Coin", Coin).id
    env = gem.make(coin_id, wrappers=[{"id": "record", "path": log}])
    env.reset(seed=0, task=1)
    env.step("heads")
    env.reset(seed=0, options={"task": 1})  # as Gymnasium has it
    env.step("heads")
    env.reset(seed=0)
    env.step("heads")

    episodes = recorded(log)
    assert [episode.task for episode in episodes] == [1, 1, None]
    assert [replay(episode).state for episode in episodes] == ["same", "same", "same"]


def test_the_stack_inside_is_recorded_and_the_recorder_is_not(guess_id: str, log: str) -> None:
    layers: list[Any] = [{"id": "time_limit", "max_turns": 1}, {"id": "record", "path": log}]
    env = gem.make(guess_id, wrappers=[*layers, "episode_tracking"])
    env.reset(seed=0)
    env.step("\\boxed{1}")

    (episode,) = recorded(log)
    assert episode.wrappers == ({"id": "time_limit", "kwargs": {"max_turns": 1}},)
    assert (episode.stop_reason, episode.truncated) == ("truncated", True)


def test_without_a_word_on_success_the_return_decides(say: MakeEnv, log: str) -> None:
    env = Record(say(["one", "end"]), log)
    env.reset(seed=0)
    env.step("a")

    (episode,) = recorded(log)
    assert episode.success is True
    assert episode.env_id.endswith("conftest:Say")


def test_abandoned_episodes_are_not_written(say: MakeEnv, log: str) -> None:
    env = Record(say(), log)
    env.reset()
    env.step("a")
    env.reset()
    env.step("a")
    env.close()

    assert recorded(log) == []


def test_a_surrogate_is_taken_as_it_is_written(guess_id: str, log: str) -> None:
    env = gem.make(guess_id, wrappers=[{"id": "record", "path": log}])
    env.reset(seed=0)
    env.step("\ud800")

    (episode,) = recorded(log)
    assert episode.turns[0].action == "\ufffd"
    assert replay(episode).state == "same"


def test_both_forms_write_the_same(guess_id: str, tmp_path: Path) -> None:
    one, other = str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")

    async def walk() -> None:
        env = gem.make(guess_id, wrappers=[{"id": "record", "path": other}])
        await env.areset(seed=4)
        await env.astep("\\boxed{x}")

    asyncio.run(walk())
    env = gem.make(guess_id, wrappers=[{"id": "record", "path": one}])
    env.reset(seed=4)
    env.step("\\boxed{x}")

    assert recorded(one)[0].fingerprint() == recorded(other)[0].fingerprint()


def test_a_restored_recorder_writes_the_whole_episode(guess_id: str, tmp_path: Path) -> None:
    layers = [{"id": "record", "path": str(tmp_path / "a.jsonl")}]
    env, other = (gem.make(guess_id, wrappers=layers) for _ in range(2))
    env.reset(seed=0)
    env.step("\\boxed{1}")
    other.restore(gem.Snapshot.from_json(env.snapshot().to_json()))

    other.step("none")

    (episode,) = recorded(str(tmp_path / "a.jsonl"))
    assert [turn.action for turn in episode.turns] == ["\\boxed{1}", "none"]
    assert replay(episode).state == "same"


def test_forks_write_their_own_episodes_to_the_same_log(guess_id: str, log: str) -> None:
    env = gem.make(guess_id, wrappers=[{"id": "record", "path": log}])
    env.reset(seed=1)
    twin = env.fork()
    twin.step("left")
    env.step("right")

    actions = [episode.turns[0].action for episode in recorded(log)]
    assert actions == ["left", "right"]


def test_many_environments_share_one_log(guess_id: str, log: str) -> None:
    layers = [{"id": "record", "path": log}]
    envs = [gem.make(guess_id, wrappers=layers) for _ in range(8)]
    threads = [threading.Thread(target=solve, args=(env, 0)) for env in envs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(recorded(log)) == 8


def test_a_path_that_cannot_be_written_is_refused_at_once(guess_id: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be opened for writing"):
        gem.make(guess_id, wrappers=[{"id": "record", "path": str(tmp_path)}])


def test_a_log_that_another_run_holds_is_refused(guess_id: str, log: str) -> None:
    with EpisodeLog(log), pytest.raises(LogError, match="is being written by another run"):
        gem.make(guess_id, wrappers=[{"id": "record", "path": log}])


def test_a_stack_that_records_waits_for_the_disk_on_a_thread(guess_id: str, log: str) -> None:
    spec = gem.make(guess_id, wrappers=[{"id": "record", "path": log}]).spec

    assert spec is not None
    assert spec.blocking

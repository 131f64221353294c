"""Rollouts: the same content in any order, and an error costs one episode."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

import gem
from gem.content import Action, TextPart, ToolCall, ToolResult, observation_text
from gem.conversation import Reply, Request, Usage
from gem.env import Env
from gem.episode import Episode
from gem.errors import BadArguments, EnvUsageError, ModelLengthError, UnknownEnv
from gem.planning import Assignment, plan_episodes
from gem.replaying import replay
from gem.rollouts import rollout
from gem.seeding import key_seed
from gem.specs import EnvSpec
from gem.step import Step

HANGS_S = 1.0  # what a call on a thread is waited for; only one that hangs takes any time


class Coin(Env):
    """Guess a coin until it is right; with `faults`, some actions do harm."""

    def __init__(self, *, sides: str = "HT", limit: int = 6) -> None:
        self.sides = sides
        self.max_turns = limit

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.side = self.rng.choice(self.sides)
        return f"One of {self.sides}?", {"suffix": "first"}

    def step(self, action: str) -> Step:
        won = action == self.side
        if action in FAULTS:
            faulty: Step = FAULTS[action]()
            return faulty
        self.side = self.rng.choice(self.sides)
        info = {"success": won, "reward_parts": {"hit": float(won)}, "suffix": "next"}
        return Step(f"It was {self.side}.", float(won), won, self.turn + 1 == self.max_turns, info)

    def sample_action(self) -> str:
        return self.sample_rng.choice(self.sides)

    def solve(self) -> str:
        return self.side


def _raise(error: BaseException) -> Any:
    raise error


def _answer(**changes: Any) -> Step:
    return Step("", 0.0, False, False, {})._replace(**changes)


def nested(depth: int) -> list[Any]:
    """Return a list in a list, that many times."""
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


class Undecided:
    def __bool__(self) -> bool:
        raise ValueError("neither")


FAULTS: dict[str, Callable[[], Any]] = {
    "raise": lambda: _raise(ValueError("boom")),
    "exit": lambda: _raise(SystemExit(3)),
    "timeout": lambda: _raise(TimeoutError("its own")),
    "cancel": lambda: _raise(asyncio.CancelledError()),
    "stop": lambda: _raise(StopIteration()),
    "infinite": lambda: _answer(reward=float("inf")),
    "text reward": lambda: _answer(reward="much"),
    "no info": lambda: _answer(info=None),
    "bad parts": lambda: _answer(info={"reward_parts": {"hit": None}}),
    "bad observation": lambda: _answer(observation=7),
    "no step": lambda: None,
    "bad suffix": lambda: _answer(info={"suffix": object()}),
    "bad success": lambda: _answer(terminated=True, info={"success": Undecided()}),
    "bad tool results": lambda: _answer(info={"tool_results": [{"content": "found"}]}),
    "bad tool text": lambda: _answer(info={"tool_results": [ToolResult("c", b"")]}),  # type: ignore[arg-type]
    "deep call": lambda: _answer(
        observation=gem.Message("user", "", (ToolCall("c", "f", {"x": nested(200)}),))
    ),
    "bad role": lambda: _answer(observation=gem.Message("bot", "")),  # type: ignore[arg-type]
    "bad call": lambda: _answer(
        observation=gem.Message("user", "", (ToolCall("c", "f", {"x": object()}),))
    ),
}


class Dice(Coin):
    """Three tasks, one turn."""

    num_tasks = 3
    single_turn = True

    def reset(
        self, seed: int | None = None, *, task: int | None = None
    ) -> tuple[str, dict[str, Any]]:
        self.task = self.pick_task(task)
        return f"Task {self.task}", {"task": self.task}

    def step(self, action: str) -> Step:
        return Step("", 1.0, True, False, {})


class Slow(Env):
    """Waits as long as the action says, asynchronously."""

    async def areset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "How long?", {}

    async def astep(self, action: str) -> Step:
        await asyncio.sleep(float(action))
        return Step("", 1.0, True, False, {})


class Hanging(Env):
    """Blocks its thread until the test ends."""

    release = threading.Event()
    closed = 0

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "", {}

    def step(self, action: str) -> Step:
        if action == "hang":
            self.release.wait(30)
        return Step("", 1.0, True, False, {})

    def close(self) -> None:
        Hanging.closed += 1


class Unclosable(Coin):
    def close(self) -> None:
        raise OSError("stuck")


class Counted(Coin):
    """Notes each that is made, and each that is closed."""

    made: ClassVar[list[Env]] = []
    closed: ClassVar[list[Env]] = []

    def __init__(self) -> None:
        super().__init__()
        self.made.append(self)

    def close(self) -> None:
        self.closed.append(self)


class Exiting(Coin):
    def close(self) -> None:
        raise SystemExit(3)


class Stuck(Hanging):
    """Hangs where the class says: when it is closed, or asked for a solution."""

    hangs_in = ""

    def close(self) -> None:
        self._hang("close")

    def solve(self) -> str:
        self._hang("solve")
        return "go"

    def _hang(self, where: str) -> None:
        if where == self.hangs_in:
            self.release.wait(30)


class Growing(Env):
    """Returns one list and goes on to change it."""

    def reset(self, seed: int | None = None) -> tuple[list[TextPart], dict[str, Any]]:
        self.parts = [TextPart("first")]
        return self.parts, {}

    def step(self, action: str) -> Step:
        self.parts.append(TextPart("next"))
        return Step(self.parts, 0.0, False, self.turn == 1, {})


class Unmakable(Coin):
    def __init__(self, *, sides: str = "HT", limit: int = 6) -> None:
        raise RuntimeError("no data")


ENVS: dict[str, tuple[type[Env], bool]] = {
    "Coin": (Coin, False),
    "BlockingCoin": (Coin, True),
    "Dice": (Dice, False),
    "Slow": (Slow, False),
    "Hanging": (Hanging, True),
    "Unclosable": (Unclosable, False),
    "Exiting": (Exiting, False),
    "Counted": (Counted, False),
    "Stuck": (Stuck, True),
    "Growing": (Growing, False),
    "Unmakable": (Unmakable, False),
}


@pytest.fixture(autouse=True)
def _envs() -> Iterator[None]:
    Hanging.release.clear()
    Hanging.closed = 0
    for name, (target, blocking) in ENVS.items():
        spec = EnvSpec(id=f"demo:{name}", target=f"{__name__}:{name}", blocking=blocking)
        gem.register(spec, target)
    yield
    Hanging.release.set()


class Guess:
    """Takes what the environment sampled."""

    name = "guess"
    wants = ("sample",)

    def __call__(self, request: Request) -> str:
        return request.sample or ""


class Solve:
    wants = ("solution",)

    async def __call__(self, request: Request) -> str:
        return request.solution or ""


def script(*answers: Any) -> Callable[[Request], Any]:
    def scripted(request: Request) -> Any:
        return answers[request.turn]

    return scripted


def run(policy: Any, env: Any, **options: Any) -> list[Episode]:
    async def collect() -> list[Episode]:
        return [episode async for episode in rollout(policy, env, **options)]

    return asyncio.run(collect())


def run_one(policy: Any, env: Any = "demo:Coin", **options: Any) -> Episode:
    (episode,) = run(policy, env, **options)
    return episode


def fingerprints(episodes: list[Episode]) -> Counter[str]:
    return Counter(episode.fingerprint() for episode in episodes)


@pytest.mark.parametrize("concurrency", [2, 7, 64])
def test_concurrency_does_not_change_the_content(concurrency: int) -> None:
    alone = run(Guess(), "demo:Coin", episodes=40, concurrency=1)
    together = run(Guess(), "demo:Coin", episodes=40, concurrency=concurrency)
    assert fingerprints(together) == fingerprints(alone)
    assert len(fingerprints(alone)) == 40


def test_threads_do_not_change_the_content() -> None:
    plan = plan_episodes("demo:Coin", episodes=20)
    inline = run(Guess(), "demo:Coin", plan=plan)
    threaded = run(Guess(), "demo:BlockingCoin", plan=plan)
    assert [e.turns for e in sorted(inline, key=lambda e: e.seed)] != []
    assert Counter(tuple(t.action for t in e.turns) for e in inline) == Counter(
        tuple(t.action for t in e.turns) for e in threaded
    )


def test_completion_order_does_not_change_the_content() -> None:
    chance = random.Random(5)

    async def jittered(request: Request) -> str:
        await asyncio.sleep(chance.random() / 100)
        return request.sample or ""

    jittered.wants = ("sample",)  # type: ignore[attr-defined]
    steady = run(Guess(), "demo:Coin", episodes=20)
    assert fingerprints(run(jittered, "demo:Coin", episodes=20)) == fingerprints(steady)


def test_another_users_random_numbers_do_not_change_the_content() -> None:
    def meddling(request: Request) -> str:
        random.seed(request.turn)
        random.random()
        return request.sample or ""

    meddling.wants = ("sample",)  # type: ignore[attr-defined]
    steady = run(Guess(), "demo:Coin", episodes=20)
    assert fingerprints(run(meddling, "demo:Coin", episodes=20)) == fingerprints(steady)


def test_episodes_come_as_they_finish() -> None:
    waits = {0: "0.2", 1: "0"}

    def policy(request: Request) -> str:
        return waits[request.seed == seeds[1]]

    plan = plan_episodes("demo:Slow", episodes=2)
    seeds = [key_seed("policy", each.seed, 0, 0) for each in plan]
    assert [e.episode_index for e in run(policy, "demo:Slow", plan=plan)] == [1, 0]


def test_the_solver_wins_and_success_is_recorded() -> None:
    episode = run_one(Solve())
    assert (episode.success, episode.stop_reason, episode.total_reward) == (True, "terminated", 1.0)
    assert episode.policy == "Solve"
    assert episode.turns[0].reward_parts == {"hit": 1.0}
    assert episode.turns[0].suffix == "first"


def test_a_turn_limit_of_the_environment_truncates() -> None:
    episode = run_one(lambda request: "neither", env_kwargs={"limit": 2})
    assert (episode.stop_reason, episode.truncated, episode.terminated) == (
        "truncated",
        True,
        False,
    )
    assert episode.success is False
    assert episode.env_kwargs == {"limit": 2}


def test_a_turn_limit_of_the_run_truncates_the_episode_and_not_its_turn() -> None:
    episode = run_one(lambda request: "neither", max_turns=3)
    assert (episode.stop_reason, len(episode.turns)) == ("max_turns", 3)
    assert episode.truncated
    assert not episode.turns[-1].truncated


def test_without_success_in_info_the_return_decides() -> None:
    assert run_one(lambda request: "x", "demo:Dice").success is True


@pytest.mark.parametrize("env", ["demo:Coin", "demo:BlockingCoin"])
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_an_error_of_the_environment_ends_its_own_episode_only(env: str, fault: str) -> None:
    def policy(request: Request) -> str:
        return fault if request.seed == broken else request.solution or ""

    policy.wants = ("solution",)  # type: ignore[attr-defined]
    plan = plan_episodes(env, episodes=5)
    broken = key_seed("policy", plan[2].seed, 0, 0)
    episodes = {e.episode_index: e for e in run(policy, env, plan=plan)}
    assert {i for i, e in episodes.items() if e.is_error} == {2}
    assert episodes[2].stop_reason == "env_error"
    assert episodes[2].turns[-1].action == fault
    assert episodes[2].success is None
    assert episodes[2].error
    assert Episode.from_json(episodes[2].to_json()) == episodes[2]


def test_an_environment_that_cannot_be_made_is_an_error_on_its_episodes() -> None:
    plan = [Assignment(0, 0, 0, 1, None)]
    episode = run_one(lambda request: "H", "demo:Unmakable", plan=plan)
    assert (episode.stop_reason, episode.error) == ("env_error", "RuntimeError: no data")
    assert episode.turns == ()


@pytest.mark.parametrize(
    ("policy", "error"),
    [
        (lambda request: _raise(ConnectionError("refused")), "ConnectionError: refused"),
        (lambda request: _raise(SystemExit(2)), "SystemExit: 2"),
        (lambda request: 7, "TypeError: A policy returned int."),
    ],
)
def test_an_error_of_the_policy_is_no_wrong_answer(policy: Any, error: str) -> None:
    episode = run_one(policy)
    assert episode.stop_reason == "policy_error"
    assert episode.success is None
    assert (episode.error or "").startswith(error)


def test_a_prompt_beyond_the_models_context_is_unsolved_and_no_error() -> None:
    asked = []

    async def short_of_memory(request: Request) -> str:
        asked.append(request.turn)
        if request.turn == 1:
            raise ModelLengthError("The prompt is too long.")
        return "neither"

    episode = run_one(short_of_memory, env_kwargs={"limit": 9}, policy_retries=3)

    assert asked == [0, 1]  # the same prompt is as long when it is sent again
    assert (episode.stop_reason, episode.error, episode.is_error) == ("model_length", None, False)
    assert (len(episode.turns), episode.truncated, episode.success) == (1, True, False)
    assert gem.replay(episode).state == "same"


def test_what_was_reached_before_the_models_context_ended_is_not_solved() -> None:
    def silent(request: Request) -> str:
        raise ModelLengthError("The prompt is too long.")

    generous = EnvSpec(id="demo:Generous", target="here:Slow", success_return=0.0)
    gem.register(generous, Slow)

    episode = run_one(silent, "demo:Generous")

    assert (episode.turns, episode.success) == ((), False)
    assert gem.replay(episode).state == "same"


def test_a_policy_that_is_too_slow_is_an_error() -> None:
    async def slow(request: Request) -> str:
        await asyncio.sleep(30)
        return "H"

    episode = run_one(slow, policy_timeout_s=0.01)
    assert episode.stop_reason == "policy_error"
    assert episode.error == "TimeoutError: the policy did not answer within 0.01 s"


def test_a_policy_in_time_is_unharmed_by_a_deadline() -> None:
    async def guess(request: Request) -> str:
        return "H"

    assert run_one(guess, policy_timeout_s=30).success is not None


def test_an_exit_under_a_deadline_costs_its_own_episode() -> None:
    async def leaving(request: Request) -> str:
        raise SystemExit(3)

    episodes = run(leaving, "demo:Coin", episodes=3, policy_timeout_s=30)
    assert [episode.error for episode in episodes] == ["SystemExit: 3"] * 3


def test_a_call_that_somebody_else_cancelled_costs_its_own_episode() -> None:
    async def cancelled(request: Request) -> str:
        raise asyncio.CancelledError

    episodes = run(cancelled, "demo:Coin", episodes=3)
    assert [episode.stop_reason for episode in episodes] == ["policy_error"] * 3


@pytest.mark.parametrize(
    "limit",
    [
        {"max_turns": 0},
        {"max_turns": "3"},
        {"step_timeout_s": 0},
        {"policy_timeout_s": -1.0},
        {"episode_timeout_s": 0.0},
        {"policy_retries": -1},
        {"policy_retries": 1.0},
        {"retry_wait_s": -0.5},
        {"retry_wait_s": float("inf")},
    ],
)
def test_a_limit_that_allows_nothing_is_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match=f"{next(iter(limit))}=.* was asked for"):
        run(lambda request: "H", "demo:Coin", **limit)


def test_a_reward_that_is_no_number_is_named() -> None:
    error = run_one(lambda request: "text reward").error
    assert error == "TypeError: step returned the reward 'much', and it must be a number"


def test_an_environment_that_waits_too_long_is_given_up() -> None:
    episode = run_one(lambda request: "30", "demo:Slow", step_timeout_s=0.01)
    assert episode.stop_reason == "step_timeout"
    assert "within 0.01 s" in (episode.error or "")


def test_an_environment_in_time_is_unharmed_by_a_deadline() -> None:
    assert run_one(lambda request: "0", "demo:Slow", step_timeout_s=30).success


def test_a_step_that_hangs_costs_one_episode_and_is_never_closed() -> None:
    def policy(request: Request) -> str:
        return "hang" if request.seed == hung else "go"

    plan = plan_episodes("demo:Hanging", episodes=4)
    Hanging.closed = 0
    hung = key_seed("policy", plan[0].seed, 0, 0)
    episodes = run(policy, "demo:Hanging", plan=plan, step_timeout_s=HANGS_S, concurrency=1)
    reasons = [episode.stop_reason for episode in episodes]
    assert reasons == ["step_timeout", "terminated", "terminated", "terminated"]
    assert Hanging.closed == 1


def test_a_close_that_fails_is_warned_of() -> None:
    plan = [Assignment(0, 0, 0, 1, None)]
    with pytest.warns(RuntimeWarning, match="stuck"):
        run(Solve(), "demo:Unclosable", plan=plan)


def test_an_environment_that_raised_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, closed = list[Env](), list[Env]()
    monkeypatch.setattr(Counted, "made", made)
    monkeypatch.setattr(Counted, "closed", closed)
    plan = [Assignment(0, index, 0, index, None) for index in range(3)]
    run(lambda request: "raise", "demo:Counted", plan=plan)
    assert len(made) == 3
    assert set(map(id, closed)) == set(map(id, made))


def test_a_close_that_exits_costs_nothing_but_a_warning() -> None:
    plan = [Assignment(0, 0, 0, 1, None)]
    with pytest.warns(RuntimeWarning, match="SystemExit"):
        assert run(Solve(), "demo:Exiting", plan=plan)[0].success


def test_a_close_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stuck, "hangs_in", "close")
    plan = [Assignment(0, 0, 0, 1, None)]
    with pytest.warns(RuntimeWarning, match="step_timeout"):
        run(Solve(), "demo:Stuck", plan=plan, step_timeout_s=HANGS_S)
    assert not Hanging.release.is_set()


def test_a_solution_that_hangs_costs_one_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stuck, "hangs_in", "solve")
    episode = run_one(Solve(), "demo:Stuck", step_timeout_s=HANGS_S)
    assert episode.stop_reason == "step_timeout"


async def never(request: Request) -> str:
    await asyncio.Event().wait()
    raise AssertionError


def test_an_episode_too_long_for_its_policy_is_the_policys_error() -> None:
    episode = run_one(never, episode_timeout_s=0.01)
    assert episode.stop_reason == "policy_error"
    assert episode.error == (
        "TimeoutError: the episode did not end within 0.01 s; it waited for the policy"
    )


def test_what_a_late_policy_waits_for_is_in_the_error() -> None:
    class Waiting:
        state = "waiting 3 of 600 s for a server"

        async def __call__(self, request: Request) -> str:
            return await never(request)

    episode = run_one(Waiting(), episode_timeout_s=0.01)

    assert episode.error == (
        "TimeoutError: the episode did not end within 0.01 s; it waited for the policy "
        "(waiting 3 of 600 s for a server)"
    )


@pytest.mark.parametrize("env", ["demo:Slow", "demo:Hanging"])
def test_an_episode_too_long_for_its_environment_is_a_step_timeout(env: str) -> None:
    waits = {"demo:Slow": "30", "demo:Hanging": "hang"}
    episode = run_one(lambda request: waits[env], env, episode_timeout_s=HANGS_S)
    assert episode.stop_reason == "step_timeout"
    assert (episode.error or "").endswith("it waited for the environment")
    assert (len(episode.turns), len(episode.played_turns)) == (1, 0)


def test_an_episode_in_which_nothing_waits_is_held_to_its_time() -> None:
    episode = run_one(lambda request: "neither", env_kwargs={"limit": 10**9}, episode_timeout_s=0.1)
    assert episode.stop_reason in {"policy_error", "step_timeout"}
    assert "the episode did not end within 0.1 s" in (episode.error or "")


def test_an_episode_too_long_for_a_solution_waits_for_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Stuck, "hangs_in", "solve")
    assert run_one(Solve(), "demo:Stuck", episode_timeout_s=0.2).stop_reason == "step_timeout"


def test_deadlines_that_nothing_misses_do_not_change_the_content() -> None:
    async def solve(request: Request) -> str:
        await asyncio.sleep(0)
        return request.solution or ""

    solve.wants = ("solution",)  # type: ignore[attr-defined]
    limits = {"step_timeout_s": 30, "policy_timeout_s": 30, "episode_timeout_s": 30}
    for env in ("demo:Coin", "demo:BlockingCoin"):
        free = run(solve, env, episodes=20)
        assert fingerprints(run(solve, env, episodes=20, **limits)) == fingerprints(free)


class Stubborn:
    """A policy that no cancellation ends; the test ends it."""

    def __init__(self) -> None:
        self.end = asyncio.Event()

    async def __call__(self, request: Request) -> str:
        while not self.end.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await self.end.wait()
        return "H"


def test_a_call_that_no_cancellation_ends_is_abandoned_with_its_episode() -> None:
    async def play() -> list[Episode]:
        policy, before = Stubborn(), asyncio.all_tasks()
        stats = gem.RolloutStats()
        plays = rollout(
            policy, "demo:Coin", episodes=2, concurrency=1, policy_timeout_s=0.01, stats=stats
        )
        episodes = [episode async for episode in plays]
        policy.end.set()
        await asyncio.wait(asyncio.all_tasks() - before)
        assert stats.deadline_hits == 2
        return episodes

    episodes = asyncio.run(play())
    assert [episode.stop_reason for episode in episodes] == ["policy_error"] * 2
    assert episodes[0].error == "TimeoutError: the policy did not end when it was late"


def test_leaving_early_waits_no_longer_than_the_deadlines_for_a_call_that_goes_on() -> None:
    async def leave() -> None:
        policy, before = Stubborn(), asyncio.all_tasks()
        plays = rollout(policy, "demo:Coin", episodes=4, policy_timeout_s=0.01, concurrency=2)
        async for _ in plays:
            break
        await plays.aclose()
        policy.end.set()
        await asyncio.wait(asyncio.all_tasks() - before)

    asyncio.run(leave())


def test_a_list_that_the_environment_changes_later_is_recorded_as_it_was() -> None:
    episode = run_one(lambda request: "go", "demo:Growing")
    shown = [observation_text(turn.observation) for turn in episode.turns]
    assert shown == ["first", "first\nnext"]
    assert replay(episode).state == "same"


def test_leaving_early_stops_what_is_running() -> None:
    async def take_one() -> int:
        episodes = rollout(Guess(), "demo:Coin", episodes=50, concurrency=8)
        async for _ in episodes:
            break
        await episodes.aclose()
        return len(asyncio.all_tasks())

    assert asyncio.run(take_one()) == 1


def test_no_more_episodes_are_started_than_are_taken() -> None:
    started: set[int] = set()

    async def policy(request: Request) -> str:
        started.add(request.seed)
        return "x"

    async def take_one() -> None:
        episodes = rollout(policy, "demo:Dice", episodes=50, concurrency=3)
        await episodes.__anext__()
        await asyncio.sleep(0.01)
        await episodes.aclose()

    asyncio.run(take_one())
    assert len(started) == 3


def test_no_more_environments_are_held_than_episodes_are_to_come() -> None:
    held: list[Env] = []
    most = []

    class Held(Dice):
        def __init__(self) -> None:
            held.append(self)
            most.append(len(held))

        def close(self) -> None:
            held.remove(self)

    names = [f"demo:Held{number}" for number in range(5)]
    for name in names:
        gem.register(name, Held)
    plan = plan_episodes(names, episodes=6)
    most.clear()

    run(Guess(), names, plan=plan, concurrency=3)

    assert len(most) < len(plan)  # they are used again
    assert max(most) <= 4
    assert held == []


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


@pytest.mark.parametrize(
    "reply",
    [
        Reply(gem.Message("assistant", "H"), (1,), (float("nan"),)),
        Reply(gem.Message("assistant", "H", (ToolCall("c", "f", {"x": float("inf")}),))),
        Reply(gem.Message("assistant", "H", (ToolCall("c", "f", {"x": object()}),))),
        Reply(gem.Message("assistant", "H"), ("one",)),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H", (ToolCall(None, "f"),))),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H"), usage={"prompt_tokens": 1}),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H"), usage=Usage("1")),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H", (ToolCall("c", "f", {"x": nested(200)}),))),
        Reply(gem.Message("assistant", None)),  # type: ignore[arg-type]
        Reply(gem.Message("assistant", "H"), reasoning=["so"]),  # type: ignore[arg-type]
    ],
)
def test_a_reply_that_no_record_could_hold_is_the_policys_error(reply: Reply) -> None:
    episode = run_one(lambda request: reply)
    assert episode.stop_reason == "policy_error"
    assert Episode.from_json(episode.to_json()) == episode


def test_rewards_that_overflow_their_sum_end_one_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAULTS, "huge", lambda: _answer(reward=1.7e308))

    def policy(request: Request) -> str:
        return "huge" if request.turn < 2 else "H"

    first, second = run(policy, "demo:Coin", episodes=2)
    assert (first.stop_reason, second.stop_reason) == ("env_error", "env_error")
    assert first.total_reward == 1.7e308


def test_each_repeat_samples_anew_and_reproducibly() -> None:
    def actions() -> list[tuple[str, ...]]:
        episodes = run(Guess(), "demo:Coin", repeats=8, env_kwargs={"sides": "abcdef"})
        episodes.sort(key=lambda episode: episode.repeat)
        return [tuple(turn.action for turn in episode.turns) for episode in episodes]

    assert len(set(actions())) > 4
    assert actions() == actions()


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


def test_a_policy_that_samples_gets_another_seed_each_turn_and_repeat() -> None:
    seeds: list[int] = []

    def policy(request: Request) -> str:
        seeds.append(request.seed)
        return "neither"

    run(policy, "demo:Coin", max_turns=2, repeats=2)
    assert len(set(seeds)) == 4


def test_the_task_reaches_the_environment() -> None:
    episodes = run(lambda request: str(request.task), "demo:Dice", episodes="all")
    assert {(f"Task {e.task}", str(e.task)) for e in episodes} == {
        (e.turns[0].observation, e.turns[0].action) for e in episodes
    }


def test_several_environments_run_side_by_side() -> None:
    episodes = run(Solve(), ["demo:Coin", "demo:Dice", "demo:Coin"], episodes=2)
    assert Counter(e.env_index for e in episodes) == {0: 2, 1: 2, 2: 2}
    assert len({e.seed for e in episodes}) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episodes": "all"}, "no finite set of tasks"),
        ({"episodes": 0}, "from 1 on"),
        ({"episodes": "5"}, "from 1 on"),
        ({"repeats": 0}, "from 1 on"),
        ({"concurrency": 0}, "must be 1 or more"),
        ({"backend": "abacus"}, "abacus"),
    ],
)
def test_wrong_use_is_one_clear_error(options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        rollout(Guess(), "demo:Coin", **options)


def test_a_policy_that_cannot_be_called_is_refused_before_anything_runs() -> None:
    policy: Any = "solver"

    with pytest.raises(BadArguments, match="'solver' was given as the policy"):
        rollout(policy, "demo:Coin")


def test_an_unknown_environment_is_refused_before_anything_runs() -> None:
    with pytest.raises(UnknownEnv):
        rollout(Guess(), "demo:Nothing", plan=[])


def run_groups(policy: Any, env: Any = "demo:Coin", **options: Any) -> list[list[Episode]]:
    async def collect() -> list[list[Episode]]:
        return [group async for group in rollout(policy, env, **options).groups()]

    return asyncio.run(collect())


@pytest.mark.parametrize("concurrency", [1, 3, 64])
def test_groups_are_whole_and_come_in_the_order_of_the_plan(concurrency: int) -> None:
    chance = random.Random(5)

    async def jittered(request: Request) -> str:
        for _ in range(chance.randrange(9)):
            await asyncio.sleep(0)
        return request.sample or ""

    jittered.wants = ("sample",)  # type: ignore[attr-defined]
    options: dict[str, Any] = {"episodes": 5, "repeats": 4}
    groups = run_groups(jittered, ["demo:Coin", "demo:Dice"], concurrency=concurrency, **options)
    places = [[(e.env_index, e.episode_index, e.repeat) for e in group] for group in groups]
    assert places == [[(env, k, r) for r in range(4)] for env in range(2) for k in range(5)]
    steady = run(Guess(), ["demo:Coin", "demo:Dice"], **options)
    assert fingerprints([e for group in groups for e in group]) == fingerprints(steady)


def test_a_slow_group_holds_up_its_own_place_and_lets_so_many_begin() -> None:
    plan = plan_episodes("demo:Dice", episodes=50, repeats=2)
    slow = key_seed("policy", plan[0].seed, 0, 0)
    asked: list[int] = []

    async def play() -> list[int]:
        go = asyncio.Event()

        async def policy(request: Request) -> str:
            asked.append(request.seed)
            if request.seed == slow:
                await go.wait()
            return "x"

        groups = rollout(policy, "demo:Dice", plan=plan, concurrency=4).groups()
        first = asyncio.ensure_future(groups.__anext__())
        while len(asked) < 8:
            await asyncio.sleep(0)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(asked) == 8  # four in flight at a time, and four more beyond them
        go.set()
        order = [(await first)[0].episode_index]
        order += [group[0].episode_index async for group in groups]
        return order

    assert asyncio.run(play()) == list(range(50))


def test_a_group_may_be_larger_than_what_is_in_flight() -> None:
    [group] = run_groups(Guess(), repeats=9, concurrency=2)
    assert [episode.repeat for episode in group] == list(range(9))


@pytest.mark.parametrize(("first", "then"), [("groups", "groups"), ("groups", ""), ("", "groups")])
def test_a_run_is_taken_once(first: str, then: str) -> None:
    async def take() -> None:
        run = rollout(Guess(), "demo:Coin")
        ways = [getattr(run, way)() if way else aiter(run) for way in (first, then)]
        raise AssertionError(f"taken twice: {ways}")

    with pytest.raises(EnvUsageError, match="were taken before"):
        asyncio.run(take())


def test_an_error_is_in_its_group() -> None:
    def policy(request: Request) -> str:
        return "raise" if request.seed == broken else "x"

    plan = plan_episodes("demo:Coin", episodes=2, repeats=2)
    broken = key_seed("policy", plan[1].seed, 1, 0)
    groups = run_groups(policy, plan=plan)
    assert [[e.is_error for e in group] for group in groups] == [[False, True], [False, False]]


def test_no_more_groups_are_begun_than_are_taken() -> None:
    started: set[int] = set()

    async def policy(request: Request) -> str:
        started.add(request.seed)
        return "x"

    async def take_one() -> None:
        groups = rollout(policy, "demo:Dice", episodes=50, repeats=2, concurrency=4).groups()
        await groups.__anext__()
        before = len(started)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(started) <= before + 4
        await groups.aclose()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(take_one())
    assert len(started) <= 8


class Failing:
    """Fails its first `times` calls of each turn, and notes every request."""

    def __init__(self, times: int, fail: Callable[[], Any]) -> None:
        self.times, self.fail = times, fail
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Any:
        self.asked.append(request)
        if sum(asked is request for asked in self.asked) <= self.times:
            failed = self.fail()
            return await failed if isinstance(failed, asyncio.Future) else failed
        return "neither"


FAILURES: dict[str, Callable[[], Any]] = {
    "raises": lambda: _raise(ConnectionError("refused")),
    "exits": lambda: _raise(SystemExit(3)),
    "is late": lambda: asyncio.get_running_loop().create_future(),
    "answers badly": lambda: 7,
}


@pytest.mark.parametrize("failure", sorted(FAILURES))
def test_a_policy_call_that_fails_is_made_again_with_the_same_request(failure: str) -> None:
    policy, stats = Failing(2, FAILURES[failure]), gem.RolloutStats()
    options: dict[str, Any] = {"max_turns": 2, "policy_timeout_s": 0.05}
    episode = run_one(policy, policy_retries=2, stats=stats, **options)
    assert [request.turn for request in policy.asked] == [0, 0, 0, 1, 1, 1]
    assert policy.asked[0] is policy.asked[2]
    assert episode.fingerprint() == run_one(lambda request: "neither", max_turns=2).fingerprint()
    assert stats.retries == 4
    assert stats.deadline_hits == (4 if failure == "is late" else 0)


def test_a_policy_that_goes_on_failing_is_an_error() -> None:
    policy = Failing(2, FAILURES["raises"])
    episode = run_one(policy, policy_retries=1, retry_wait_s=0.001)
    assert (episode.stop_reason, len(policy.asked)) == ("policy_error", 2)
    assert episode.error == "ConnectionError: refused"
    assert episode.turns == ()


def test_a_cancelled_policy_call_is_not_made_again() -> None:
    policy = Failing(1, lambda: _raise(asyncio.CancelledError()))
    assert run_one(policy, policy_retries=3).stop_reason == "policy_error"
    assert len(policy.asked) == 1


def test_an_episode_out_of_time_asks_no_policy_again() -> None:
    policy = Failing(1, FAILURES["is late"])
    episode = run_one(policy, policy_retries=3, policy_timeout_s=30, episode_timeout_s=0.01)
    assert (episode.stop_reason, len(policy.asked)) == ("policy_error", 1)


def test_figures_are_read_while_a_run_goes_on() -> None:
    stats = gem.RolloutStats()
    seen: list[tuple[int, int]] = []

    async def play() -> None:
        plays = rollout(Solve(), "demo:Coin", episodes=3, stats=stats, concurrency=1)
        seen.extend([(stats.episodes, stats.steps) async for _ in plays])

    asyncio.run(play())
    assert seen == [(1, 1), (2, 2), (3, 3)]
    assert (stats.errors, stats.deadline_hits) == (0, 0)


def test_errors_and_deadlines_are_counted() -> None:
    stats = gem.RolloutStats()
    run(lambda request: "raise", "demo:Coin", episodes=2, stats=stats)
    run(never, "demo:Coin", episodes=3, stats=stats, policy_timeout_s=0.01)
    assert (stats.episodes, stats.errors, stats.deadline_hits) == (5, 5, 3)
    assert stats.steps == 0


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

"""`seat_view`: one seat of several as an environment of one, the others played inside."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import gem
from gem.conversation import Request
from gem.errors import BadArguments, TargetError, UnknownPolicy
from gem.testing.envs import Kuhn, LastOne, Signs

BET = "\\boxed{bet}"
PASS = "\\boxed{pass}"


def betting(request: Request) -> str:
    return BET


async def pondering(request: Request) -> str:
    await asyncio.sleep(0)
    return PASS


class Sampling:
    wants = ("sample", "solution")

    def __call__(self, request: Request) -> str:
        assert request.solution is None
        return request.sample or ""


def played(env: gem.Env, seed: int, *actions: str) -> list[gem.Step]:
    env.reset(seed=seed)
    return [env.step(action) for action in actions]


def test_the_first_seat_is_shown_its_own_observations_alone() -> None:
    view = gem.SeatView(Kuhn(), "first", betting)

    observation, info = view.reset(seed=1)
    passed = view.step(PASS)
    end = view.step(PASS)

    assert "Your card is J" in str(observation)
    assert info == {}
    assert passed == gem.Step("The other player answered bet.")
    assert (end.reward, end.terminated, end.info) == (-1.0, True, {"success": False})
    assert (view.seats, view.seat, view.zero_sum, view.single_turn) == (("agent",), 0, False, False)


def test_the_second_seat_begins_after_the_first_has_moved() -> None:
    view = gem.SeatView(Kuhn(), 1, [betting])

    observation, _ = view.reset(seed=1)

    assert str(observation).endswith("The other player answered bet.")
    assert view.step("\\boxed{raise}").info == {"action_error": "invalid", "success": False}


@pytest.mark.parametrize("seat", ["left", "right"])
def test_a_view_is_told_that_its_own_action_of_a_round_was_refused(seat: str) -> None:
    view = gem.SeatView(Signs(), seat, lambda request: "spock" if request.turn else "rock")

    refused, taken, _ = played(view, 1, "lizard", "rock", "rock")

    assert (refused.info, taken.info) == ({"action_error": "invalid"}, {})


def test_in_a_round_each_seat_answers_what_it_was_shown() -> None:
    for seat in (0, 1):
        view = gem.SeatView(Signs(), seat, lambda request: "rock")
        first, *_, last = played(view, 1, "paper", "paper", "paper")
        assert (first.reward, last.reward, last.info["success"]) == (1.0, 1.0, True)
        assert str(first.observation).endswith("Round 2.")


def test_opponents_are_seeded_by_the_episode_their_seat_and_their_own_turn() -> None:
    requests: list[Request] = []

    def noting(request: Request) -> str:
        requests.append(request)
        return "rock"

    view = gem.SeatView(Signs(), 0, noting)
    played(view, 1, "rock", "rock")
    played(view, 1, "rock")
    played(view, 2, "rock")

    seeds = [request.seed for request in requests]
    assert seeds[0] == seeds[2]
    assert len(set(seeds)) == 3
    assert [(request.seat, request.turn) for request in requests[:2]] == [(1, 0), (1, 1)]
    assert [message.role for message in requests[1].messages] == ["user", "assistant", "user"]


def test_a_seat_that_is_out_is_played_on_to_the_end() -> None:
    view = gem.SeatView(LastOne(), "red", Sampling())
    end = played(view, 2, "1")[-1]
    while not (end.terminated or end.truncated):
        end = view.step("1")

    assert end.terminated
    assert "is out" in str(end.observation)


def test_what_is_earned_before_the_first_turn_counts_in_it() -> None:
    class Gift(gem.SeatedEnv):
        def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
            self.tell_all("Go.")
            return self.begin(0)

        def step(self, action: str) -> gem.Step:
            return self.end([0.0, 1.0]) if self.turn else self.ask(1, rewards=[0.0, 0.5])

    (end,) = played(gem.SeatView(Gift(), 1, betting), 1, "thanks")

    assert (end.reward, end.info) == (1.5, {})


class Unlucky(gem.SeatedEnv):
    """The second seat has a turn by a throw of dice, or never."""

    def __init__(self, chance: float = 0.2) -> None:
        self.chance: float = chance

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.tell_all("Go.")
        return self.begin(0, info={"suffix": "Now.", "task": 3})

    def step(self, action: str) -> gem.Step:
        if self.turn == 0 and self.rng.random() < self.chance:
            return self.ask(1)
        return self.end(truncated=True)


def test_a_seed_without_a_turn_stands_for_the_next_that_has_one() -> None:
    view = gem.SeatView(Unlucky(), 1, betting)

    for seed in range(4):
        (end,) = played(view, seed, "x")
        assert (end.terminated, end.truncated) == (False, True)
    assert gem.SeatView(Unlucky(), 0, betting).reset(seed=1)[1] == {"suffix": "Now.", "task": 3}


def test_a_seat_without_any_turn_is_refused() -> None:
    with pytest.raises(BadArguments, match="it had no turn in 100 of them"):
        gem.SeatView(Unlucky(chance=0.0), 1, betting).reset(seed=1)


def test_a_view_may_rotate_by_the_seed() -> None:
    view = gem.SeatView(Kuhn(), "rotate", {"first": betting, "second": betting})
    names = set()
    for seed in range(8):
        names.add("You are first" in str(view.reset(seed=seed)[0]))

    assert names == {True, False}


def test_a_reset_without_a_seed_continues_the_stream_of_the_environment() -> None:
    views = [gem.make(Kuhn, seed=3, wrappers=[viewed]) for _ in range(2)]
    starts = [[view.reset()[0] for _ in range(3)] for view in views]

    assert starts[0] == starts[1]


def viewed(env: gem.Env) -> gem.Env:
    return gem.SeatView(env, 0, Sampling())


def test_snapshots_and_forks_have_what_opponents_saw() -> None:
    def counting(request: Request) -> str:
        return ["rock", "paper", "scissors"][len(request.messages) // 2]

    view = gem.SeatView(Signs(), 0, counting)
    played(view, 1, "rock")
    saved = gem.Snapshot.from_json(view.snapshot().to_json())
    twin = view.fork()
    expected = [view.step("rock"), view.step("rock")]

    assert [twin.step("rock"), twin.step("rock")] == expected
    other = gem.SeatView(Signs(), 0, counting)
    other.restore(saved)
    assert [other.step("rock"), other.step("rock")] == expected


def test_looking_at_an_action_changes_nothing_of_what_opponents_do() -> None:
    looked = gem.SeatView(Signs(), 0, Sampling())
    plain = gem.SeatView(Signs(), 0, Sampling())
    looked.reset(seed=5)
    for _ in range(3):
        assert looked.sample_action() in ("rock", "paper", "scissors")
    assert looked.solve() is None

    assert looked.step("rock") == played(plain, 5, "rock")[0]


def test_awaited_it_asks_on_the_callers_loop_and_steps_on_a_thread() -> None:
    threads: list[str] = []

    class Noting(Signs):
        def step_all(self, actions: Any) -> gem.Step:
            threads.append(threading.current_thread().name)
            return super().step_all(actions)

    async def asked(request: Request) -> str:
        threads.append(threading.current_thread().name)
        await asyncio.sleep(0)
        return "rock"

    async def play(view: gem.Env) -> gem.Step:
        await view.areset(seed=1)
        return await view.astep("rock")

    view = gem.SeatView(Noting(), 0, asked)
    step = asyncio.run(play(view))

    assert threads[0] == threading.current_thread().name
    assert threads[1] == "gem-blocking"
    assert step == played(gem.SeatView(Signs(), 0, asked), 1, "rock")[0]
    spec = gem.EnvSpec(id="demo:Quick", target="gem.testing.envs:Signs", blocking=False)
    quick = gem.SeatView(gem.make(spec), 0, asked)
    assert asyncio.run(play(quick)) == step
    assert quick.spec is not None
    assert not quick.spec.blocking


def test_a_view_is_data_and_its_opponents_are_names() -> None:
    layer = {"id": "seat_view", "seat": 1, "opponents": f"{__name__}:betting"}
    sampling = {"id": "seat_view", "seat": 1, "opponents": f"{__name__}:Sampling"}

    made = gem.make("gem.testing.envs:Kuhn", wrappers=[layer])

    assert "answered bet" in str(made.reset(seed=1)[0])
    assert made.spec is not None
    assert not made.spec.blocking
    assert gem.make(made.spec).reset(seed=1) == made.reset(seed=1)
    gem.make("gem.testing.envs:Kuhn", wrappers=[sampling]).reset(seed=1)


def test_a_rollout_of_a_view_is_one_of_one_seat() -> None:
    view = {"id": "seat_view", "seat": 0, "opponents": f"{__name__}:pondering"}

    (episode,) = gem.run(betting, "gem.testing.envs:Kuhn", wrappers=[view])

    assert (episode.seats, episode.total_reward, episode.success) == ((), 1.0, True)
    assert gem.replay(episode).state == "same"


def test_an_opponent_is_shown_what_its_own_wrapper_shows() -> None:
    seen: list[Request] = []

    def noting(request: Request) -> str:
        seen.append(request)
        return "rock"

    concat = {"id": "seat", "seat": 1, "wrapper": "concat"}
    env = gem.make(Signs, wrappers=[concat])
    played(gem.SeatView(env, 0, noting), 1, "rock", "rock")

    assert [len(request.messages) for request in seen] == [1, 1]
    assert "Round 1." in seen[1].messages[0].text


def test_a_finished_prompt_is_an_opponents_prompt() -> None:
    seen: list[Request] = []

    def noting(request: Request) -> str:
        seen.append(request)
        return "rock"

    class Rendering(gem.Wrapper):
        rewrites_history = True
        prompt_is_finished = True

    env = gem.make(Signs, wrappers=[{"id": "seat", "seat": 1, "wrapper": Rendering}])
    view = gem.SeatView(env, 0, noting)
    played(view, 1, "rock")

    assert (seen[0].messages, str(seen[0].prompt)[-8:]) == ((), "Round 1.")
    assert (view.tools, view.rewrites_history, view.prompt_is_finished) == ([], False, False)


@pytest.mark.parametrize(
    ("reward_range", "expected"),
    [
        ((0.0, 1.0), (0.0, float("inf"))),
        ((-1.0, 1.0), (float("-inf"), float("inf"))),
        ((-1.0, 0.0), (float("-inf"), 0.0)),
    ],
)
def test_rewards_of_several_steps_may_add_up(
    reward_range: tuple[float, float], expected: tuple[float, float]
) -> None:
    env = Kuhn()
    env.reward_range = reward_range

    assert gem.SeatView(env, 0, betting).reward_range == expected


@pytest.mark.parametrize(
    ("env", "seat", "opponents", "error"),
    [
        (Kuhn, 2, betting, "The seats are first, second"),
        (Kuhn, "third", betting, "seat='third'"),
        (Kuhn, 0, {"first": betting}, "the seats to play are second"),
        (LastOne, 0, [betting] * 3, "the seats to play are green, blue"),
        (Kuhn, 0, 7, "7 was given as an opponent"),
    ],
)
def test_seats_and_opponents_that_do_not_fit_are_refused(
    env: Any, seat: Any, opponents: Any, error: str
) -> None:
    with pytest.raises(BadArguments, match=error):
        gem.SeatView(env(), seat, opponents)


def test_opponents_that_there_are_not_are_refused_by_their_names() -> None:
    with pytest.raises(UnknownPolicy):
        gem.SeatView(Kuhn(), 0, "nobody")
    with pytest.raises(TargetError):
        gem.SeatView(Kuhn(), 0, "nowhere.to:be_found")
    gem.SeatView(LastOne(), 0, [betting])

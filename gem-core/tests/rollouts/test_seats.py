"""Rollouts of several seats: who sits where, what each is asked, and whom an error blames."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import gem
from gem._python.seeding import key_seed
from gem.content import Action, ToolCall
from gem.conversation import Reply, Request
from gem.episode import Episode
from gem.episode._replay import replay
from gem.errors import BadArguments, ModelLengthError
from gem.rollouts import PlannedEpisode, RolloutStats, plan_episodes
from gem.testing.envs import Guess, Kuhn, LastOne, Signs

from .running import HANGS_S, Stubborn, fingerprints, never, run, run_one

BET = "\\boxed{bet}"
PASS = "\\boxed{pass}"


class Sampling:
    """Takes what the environment sampled for its seat."""

    wants = ("sample",)

    def __init__(self, name: str = "sampling") -> None:
        self.name = name

    def __call__(self, request: Request) -> str:
        return request.sample or ""


def betting(request: Request) -> str:
    return BET


def passing(request: Request) -> str:
    return PASS


def rock(request: Request) -> str:
    return "rock"


# who sits where


def test_one_policy_sits_everywhere_and_each_seat_has_a_conversation_of_its_own() -> None:
    requests: list[Request] = []

    def policy(request: Request) -> str:
        requests.append(request)
        return BET if len(requests) == 2 else PASS

    episode = run_one(policy, Kuhn, seed=1)

    assert [(request.seat, request.turn) for request in requests] == [(0, 0), (1, 0), (0, 1)]
    assert [len(request.messages) for request in requests] == [1, 1, 3]
    assert requests[2].messages[2].text == "The other player answered bet."
    assert (episode.policy, episode.format) == ("policy", 2)


def test_the_chance_of_a_seat_is_keyed_by_the_seat_and_its_own_turn() -> None:
    seeds: dict[tuple[int, int], int] = {}

    def policy(request: Request) -> str:
        seeds[request.seat, request.turn] = request.seed
        return PASS if not request.seat else BET

    episode = run_one(policy, Kuhn, seed=1)

    assert seeds == {
        (seat, turn): key_seed("policy", episode.seed, 0, seat, turn)
        for seat, turn in ((0, 0), (1, 0), (0, 1))
    }


def test_a_mapping_says_who_sits_where() -> None:
    episode = run_one({"second": passing, "first": betting}, Kuhn)

    assert [turn.action for turn in episode.turns] == [BET, PASS]
    assert [(seat.policy, seat.policy_index) for seat in episode.seats] == [
        ("betting", 1),
        ("passing", 0),
    ]
    assert episode.policy == "betting, passing"
    assert [seat.total_reward for seat in episode.seats] == [1.0, -1.0]


def test_a_list_rotates_by_the_number_of_the_episode() -> None:
    policies = [Sampling(name) for name in "abc"]

    episodes = gem.run(policies, LastOne, episodes=6, repeats=2)
    seats = {
        (episode.episode_index, episode.repeat): tuple(seat.policy for seat in episode.seats)
        for episode in episodes
    }

    assert [seats[index, 0] for index in range(3)] == [
        ("a", "b", "c"),
        ("c", "a", "b"),
        ("b", "c", "a"),
    ]
    assert all(seats[index, 0] == seats[index, 1] for index in range(6))
    assert Counter(names[0] for names in seats.values()) == {"a": 4, "b": 4, "c": 4}


def test_a_plan_may_play_a_seed_in_every_rotation() -> None:
    plan = [PlannedEpisode(0, index, 0, 7, None, rotation=index + 1) for index in range(2)]

    episodes = gem.run([betting, passing], Kuhn, plan=plan)

    assert [episode.seats[0].policy for episode in episodes] == ["passing", "betting"]
    assert plan_episodes(Kuhn, episodes=1)[0].rotation is None


def test_one_seat_takes_a_list_or_a_mapping_of_one() -> None:
    for policies in ([betting], {"agent": betting}):
        (episode,) = gem.run(policies, Guess)
        assert (episode.policy, episode.seats) == ("betting", ())


@pytest.mark.parametrize(
    ("policies", "error"),
    [
        ([betting], None),
        ([betting] * 3, "A list of 3 policies was given. The seats of .* are first, second"),
        ({"first": betting}, "Policies were given for first. The seats of .* are first, second"),
        ({"first": betting, "third": betting}, "give a policy for each"),
        ([], "cannot be called"),
        ([betting, 7], "7 was given as the policy"),
        (7, "a mapping from the names of seats, or a list that rotates"),
    ],
)
def test_policies_that_do_not_fit_are_refused_before_anything_runs(
    policies: Any, error: str | None
) -> None:
    if error is None:
        assert run_one(policies, Kuhn).error is None
        return
    with pytest.raises(BadArguments, match=error):
        gem.rollout(policies, Kuhn)


def test_a_schedule_is_of_equal_seats() -> None:
    schedule = gem.Schedule([{"env": Kuhn}, {"env": LastOne}])

    with pytest.raises(BadArguments, match="Give it some whose seats are equal"):
        gem.rollout(betting, schedule, episodes=8)
    plan = [PlannedEpisode(index, 0, 0, 1, None) for index in range(2)]
    with pytest.raises(BadArguments, match="Give it some whose seats are equal"):
        gem.rollout([betting, betting], gem.Schedule([{"env": Kuhn}, {"env": Signs}]), plan=plan)
    assert len(run(Sampling(), gem.Schedule([{"env": Kuhn}]), episodes=2)) == 2


# rounds


def test_the_policies_of_a_round_are_asked_at_once() -> None:
    meetings: dict[int, asyncio.Event] = {}

    async def meeting(request: Request) -> str:
        # It goes on when the other seat of its round was asked, too: else it would wait for ever.
        if request.turn in meetings:
            meetings[request.turn].set()
        else:
            meetings[request.turn] = asyncio.Event()
            await meetings[request.turn].wait()
        return "rock"

    episode = run_one(meeting, Signs, policy_timeout_s=HANGS_S * 20)

    assert (episode.error, len(episode.turns)) == (None, 6)


class Seen:
    """Notes what each seat is shown, and answers late at one seat."""

    def __init__(self) -> None:
        self.shown: dict[int, str] = {}

    async def __call__(self, request: Request) -> str:
        self.shown[request.seat] = "\n".join(message.text for message in request.messages)
        for _ in range(3 * (1 - request.seat)):
            await asyncio.sleep(0)
        return "rock" if request.seat else "paper"


def test_answers_of_a_round_are_taken_in_the_order_of_its_seats() -> None:
    seen = Seen()

    episode = run_one(seen, Signs)

    assert [turn.seat for turn in episode.turns] == [0, 1] * 3
    assert [turn.action for turn in episode.turns] == ["paper", "rock"] * 3
    assert [seat.success for seat in episode.seats] == [True, False]
    assert replay(episode).state == "same"


class Asking(gem.Wrapper):
    """Answers a question of the first seat itself, as a tool would."""

    all_seats = True

    def on_action(self, action: str) -> str | gem.Step:
        if action != "what is it?":
            return action
        seat = self.env.seat
        info = {"seat": seat, "rewards": (0.0, 0.0), "observations": {seat: "It is a game."}}
        return gem.Step("It is a game.", info=info)


def test_a_call_of_a_tool_in_a_round_asks_its_seat_again_and_shifts_nobody() -> None:
    asked: list[int] = []

    async def policy(request: Request) -> str:
        asked.append(request.seat)
        return "what is it?" if (request.seat, request.turn) == (0, 0) else "rock"

    episode = run_one(policy, Signs, wrappers=[Asking], max_turns=3)

    assert [(turn.seat, turn.action) for turn in episode.turns] == [
        (0, "what is it?"),
        (0, "rock"),
        (1, "rock"),
    ]
    assert asked[:3] == [0, 1, 0]
    assert episode.turns[1].observation == "It is a game."


class Hinting(Signs):
    """Its hints name the seat that they are for."""

    def sample_action(self) -> str:
        return f"sample of {self.seat}"

    def solve(self) -> str:
        return f"solution of {self.seat}"


def test_hints_of_one_seat_never_reach_another() -> None:
    hints: list[tuple[int, str | None, str | None]] = []

    class Wanting:
        def __init__(self, *wants: str) -> None:
            self.wants = wants

        def __call__(self, request: Request) -> str:
            hints.append((request.seat, request.sample, request.solution))
            return "rock"

    run_one({"left": Wanting("sample"), "right": Wanting("solution")}, Hinting, max_turns=2)

    assert hints[:2] == [(0, "sample of 0", None), (1, None, "solution of 1")]


# how it ends


def test_a_policy_that_fails_is_to_blame() -> None:
    def failing(request: Request) -> str:
        raise ValueError("my card is a king")

    episode = run_one({"first": passing, "second": failing}, Kuhn)

    assert (episode.stop_reason, episode.stopped_by) == ("policy_error", 1)
    assert [seat.success for seat in episode.seats] == [None, None]
    assert (episode.success, episode.turns[-1].seat) == (None, 0)
    assert [seat.total_reward for seat in episode.seats] == [0.0, 0.0]
    assert replay(episode).state == "partial"


def test_answers_of_a_round_that_were_not_taken_are_not_recorded() -> None:
    def failing(request: Request) -> str:
        raise ValueError("no")

    second = run_one({"left": rock, "right": failing}, Signs)
    first = run_one({"left": failing, "right": rock}, Signs)
    waiting = run_one({"left": failing, "right": never}, Signs)

    assert [turn.action for turn in second.turns] == ["rock"]
    assert (first.turns, first.stopped_by) == ((), 0)
    assert (waiting.stop_reason, waiting.stopped_by) == ("policy_error", 0)


def test_a_policy_whose_hint_fails_is_to_blame() -> None:
    class NoSamples(gem.SeatedEnv):
        def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
            self.tell_all("Go.")
            return self.begin(0)

        def step(self, action: str) -> gem.Step:
            return self.ask(1)

    episode = run_one({"first": rock, "second": Sampling()}, NoSamples)

    assert (episode.stop_reason, episode.stopped_by) == ("policy_error", 1)


def test_an_environment_that_fails_blames_nobody() -> None:
    class Failing(Kuhn):
        def step(self, action: str) -> gem.Step:
            raise ValueError("boom")

    episode = run_one(betting, Failing)

    assert (episode.stop_reason, episode.stopped_by) == ("env_error", None)
    assert (episode.turns[0].action, episode.turns[0].rewards) == (BET, (0.0, 0.0))
    assert [seat.final_observation for seat in episode.seats] == [None, None]


class Jumping(Kuhn):
    """Says that it is the turn of a seat that it did not ask."""

    def step(self, action: str) -> gem.Step:
        step = super().step(action)
        return step._replace(info={**step.info, "seat": 0})


def test_the_turn_of_a_seat_that_was_not_asked_is_an_error_of_the_environment() -> None:
    episode = run_one(betting, Jumping)

    assert episode.error == "it is the turn of seat 0, which was not asked"
    assert episode.stop_reason == "env_error"


def test_each_seat_of_a_round_is_under_its_own_deadline() -> None:
    stats = RolloutStats()

    episode = run_one(
        {"left": rock, "right": never}, Signs, policy_timeout_s=0.01, policy_retries=1, stats=stats
    )

    assert (episode.stop_reason, episode.stopped_by) == ("policy_error", 1)
    assert episode.error == "TimeoutError: the policy of seat 1 did not answer within 0.01 s"
    assert [turn.action for turn in episode.turns] == ["rock"]
    assert (stats.deadline_hits, stats.steps) == (2, 1)


def test_a_round_that_is_late_with_its_episode_blames_who_is_waited_for() -> None:
    # Time enough to make the environment, and to take the answer of the other seat.
    episode = run_one({"left": rock, "right": never}, Signs, episode_timeout_s=HANGS_S)

    assert (episode.stop_reason, episode.stopped_by) == ("policy_error", 1)
    assert "it waited for the policy of seat 1" in str(episode.error)


def test_policies_that_no_cancellation_ends_are_left_behind_once() -> None:
    async def collect() -> tuple[Episode, int]:
        stubborn = Stubborn()
        # Both deadlines find that the policy does not end; that of the episode must not be due
        # while the environment is still being made.
        run = gem.rollout(stubborn, Signs, policy_timeout_s=0.01, episode_timeout_s=HANGS_S)
        episode = await anext(run)
        left = len(asyncio.all_tasks())
        stubborn.end.set()
        await run.aclose()
        await asyncio.sleep(0)
        return episode, left

    episode, left = asyncio.run(collect())

    assert (episode.stop_reason, episode.stopped_by) == ("policy_error", 0)
    assert left > 1


def test_a_model_without_room_ends_the_episode_unsolved_at_its_seat() -> None:
    def full(request: Request) -> str:
        raise ModelLengthError("too long")

    episode = run_one({"first": betting, "second": full}, Kuhn)

    assert (episode.stop_reason, episode.stopped_by) == ("model_length", 1)
    assert [seat.success for seat in episode.seats] == [False, False]
    assert (episode.success, replay(episode).state) == (False, "same")
    assert "Your card" in str(episode.seats[1].final_observation)


class Tokens:
    """Plays by tokens, and has room for so many turns."""

    def __init__(self, turns: int) -> None:
        self.tokens = self
        self.turns = turns
        self.opened = 0

    def open_episode(self) -> Any:
        self.opened += 1
        return TokensOfSeat(self.turns)

    def __call__(self, request: Request) -> Reply:
        return Reply(gem.Message("assistant", PASS), token_ids=(7,))


class TokensOfSeat:
    def __init__(self, turns: int) -> None:
        self.left = turns

    def ask(self, *_: Any, **__: Any) -> tuple[tuple[int, ...], int | None] | None:
        self.left -= 1
        return None if self.left < 0 else ((1, 2), 5)

    def answered(self, reply: Reply) -> Mapping[str, Any]:
        return {"token_ids": (1, 2, 7), "mask": (0, 0, 1)}


def test_each_seat_has_a_token_context_of_its_own_and_ends_without_room() -> None:
    policy = Tokens(turns=1)

    episode = run_one({"first": policy, "second": betting}, Kuhn)

    assert (episode.stop_reason, episode.stopped_by) == ("max_tokens", 0)
    assert policy.opened == 1
    assert [turn.mask for turn in episode.turns] == [(0, 0, 1), None]
    assert episode.seats[0].final_observation == "The other player answered bet."


def test_a_limit_of_the_run_counts_the_turns_of_all() -> None:
    episode = run_one(rock, Signs, max_turns=3)

    assert (episode.stop_reason, len(episode.turns)) == ("max_turns", 3)
    assert {seat.end for seat in episode.seats} == {"truncated"}
    assert episode.of_seat(1).stop_reason == "max_turns"
    assert replay(episode).state == "same"


def test_rewards_too_large_for_a_sum_end_the_episode() -> None:
    class Rich(Kuhn):
        def step(self, action: str) -> gem.Step:
            self.tell(0, "More.")
            return self.ask(0, rewards=[1e308, 0.0])

    episode = run_one(betting, Rich)

    assert "too large for a sum" in str(episode.error)


def test_native_calls_and_repeats_are_as_of_one_seat() -> None:
    def calling(request: Request) -> gem.Message:
        return gem.Message("assistant", BET, (ToolCall("1", "look"),))

    episode = run_one(calling, Kuhn)

    assert episode.turns[0].tool_calls == (ToolCall("1", "look"),)
    assert isinstance(Action(BET), str)


# elsewhere


def test_every_backend_plays_the_same_episodes() -> None:
    envs = [f"gem.testing.envs:{name}" for name in ("Kuhn", "Signs", "LastOne")]
    inline = run(Sampling(), envs, episodes=4, repeats=2)

    for backend in ("thread", "process"):
        elsewhere = run(
            Sampling(), envs, episodes=4, repeats=2, backend=backend, num_workers=1, concurrency=8
        )
        assert fingerprints(elsewhere) == fingerprints(inline)
    assert all(replay(episode).state == "same" for episode in inline)


def test_a_log_of_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    episodes = run(Sampling(), Signs, episodes=2)
    with gem.EpisodeLog(tmp_path / "log.jsonl") as log:
        for episode in episodes:
            log.append(episode)

    assert list(gem.read_episodes(tmp_path / "log.jsonl")) == episodes


def test_a_game_that_never_blocks_is_played_on_the_event_loop() -> None:
    quick = gem.EnvSpec(id="demo:Quick", target="gem.testing.envs:Signs", blocking=False)
    slow = gem.EnvSpec(id="demo:Quick", target="gem.testing.envs:Signs")

    assert run_one(Sampling(), quick).fingerprint() == run_one(Sampling(), slow).fingerprint()

"""Records of several seats: written, read, replayed, and taken apart by seat."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.episode import Episode, SeatOutcome
from gem.episode._differences import Difference
from gem.episode._replay import replay
from gem.errors import BadArguments, ModelLengthError
from gem.testing.envs import Kuhn, LastOne, Signs

from .records import EPISODE

BET = "\\boxed{bet}"
PASS = "\\boxed{pass}"


class Drifting(Kuhn):
    """Kuhn poker, of which `drift` stands for a later version that behaves otherwise."""

    drift = ""

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        started = super().reset(seed)
        if self.drift == "seats":
            self.seats = ("one", "two")
        return started

    def step(self, action: str) -> gem.Step:
        if self.drift == "raise":
            raise ValueError("boom")
        if self.drift == "observation":
            self.tell_all("Hurry.")
        step = super().step(action)
        info = dict(step.info)
        if self.drift == "rewards":
            info["rewards"] = tuple(2 * reward for reward in step.rewards)
        if self.drift == "seat":
            info["seat"] = 1 - step.seat
        if self.drift == "suffix":
            info["suffix"] = "Now."
        if self.drift == "success" and step.terminated:
            info["successes"] = (True, True)
        if self.drift == "ends" and step.terminated:
            info["ends"] = {0: "terminated", 1: "truncated"}
        return step._replace(info=info)


def recorded(
    tmp_path: Path, env: Any, actions: Sequence[str], *, seed: int = 1, wrappers: Sequence[Any] = ()
) -> Episode:
    log = tmp_path / "log.jsonl"
    made = gem.make(env, wrappers=[*wrappers, {"id": "record", "path": str(log)}])
    with made:
        made.reset(seed=seed)
        for action in actions:
            step = made.step(action)
            if step.terminated or step.truncated:
                break
    (episode,) = gem.read_episodes(log)
    return episode


@pytest.fixture
def hand(tmp_path: Path) -> Episode:
    return recorded(tmp_path, Drifting, [PASS, BET, BET])  # a jack and a queen


def test_a_record_has_each_turn_with_what_its_seat_was_shown(hand: Episode) -> None:
    assert [turn.seat for turn in hand.turns] == [0, 1, 0]
    assert "Your card is Q" in str(hand.turns[1].observation)
    assert hand.turns[2].observation == "The other player answered bet."
    assert [turn.rewards for turn in hand.turns] == [(0, 0), (0, 0), (-2, 2)]
    assert hand.turns[2].ends == {"0": "terminated", "1": "terminated"}
    assert (hand.total_reward, hand.success, hand.format) == (0.0, False, 2)
    assert "observations" not in hand.turns[2].info


def test_the_info_of_a_turn_holds_nothing_that_the_record_has_elsewhere(hand: Episode) -> None:
    known = {"seat", "rewards", "ends", "observations", "successes"}

    assert not any(known & turn.info.keys() for turn in hand.turns)


def test_outcomes_say_how_it_went_for_each_seat(hand: Episode) -> None:
    first, second = hand.seats

    assert first == SeatOutcome(
        "first", "by hand", 0, -2.0, False, "terminated", "The cards were J and Q."
    )
    assert (second.total_reward, second.success) == (2.0, True)
    assert second.final_observation == "The other player answered bet.\nThe cards were J and Q."


def test_a_record_comes_back_from_its_line(hand: Episode) -> None:
    rewriting = replace(hand.seats[0], rewrites_history=True, final_observation=None)
    changed = replace(hand, seats=(rewriting, hand.seats[1]), stopped_by=1)

    for episode in (hand, changed):
        assert Episode.from_json(episode.to_json()) == episode


def test_older_readers_refuse_several_seats_and_see_no_change_in_one(hand: Episode) -> None:
    plain = json.loads(EPISODE.to_json())

    assert json.loads(hand.to_json())["format"] == 2
    assert plain["format"] == 1
    assert not {"seats", "stopped_by"} & plain.keys()
    assert not {"rewards", "ends"} & plain["turns"][0].keys()
    with pytest.raises(ValueError, match="reads 1 and 2"):
        Episode.from_json(json.dumps({**plain, "format": 3}))


def test_the_fingerprint_is_of_seats_and_not_of_policies(hand: Episode) -> None:
    first, second = hand.seats
    renamed = replace(hand, seats=(replace(first, policy="other", policy_index=3), second))
    richer = replace(hand, seats=(replace(first, total_reward=1.0), second))
    turn = replace(hand.turns[0], rewards=(1.0, -1.0))

    # Stored fingerprints are of this text: none of its words may change.
    assert replace(hand, env_id="test:Cards").fingerprint() == "11a80bc33c9b80ff32a53c9015912eb0"
    assert renamed.fingerprint() == hand.fingerprint()
    assert richer.fingerprint() != hand.fingerprint()
    assert replace(hand, turns=(turn, *hand.turns[1:])).fingerprint() != hand.fingerprint()


def test_a_part_is_an_episode_of_one_seat(hand: Episode) -> None:
    first, second = hand.parts()

    assert [turn.action for turn in first.turns] == [PASS, BET]
    assert [turn.reward for turn in first.turns] == [0.0, -2.0]
    assert [turn.reward for turn in second.turns] == [2.0]
    assert (second.total_reward, second.success, second.format) == (2.0, True, 1)
    assert [turn.terminated for turn in first.turns] == [False, True]
    assert [turn.terminated for turn in second.turns] == [True]
    assert (second.stop_reason, second.terminated) == ("terminated", True)
    assert "success" not in second.turns[-1].info
    assert first.turns[-1].info["success"] is False
    assert second.messages() == [
        {"role": "user", "content": hand.turns[1].observation},
        {"role": "assistant", "content": BET},
    ]
    assert second.of_seat(0) is second


def test_what_a_seat_earned_before_its_first_turn_counts_there() -> None:
    turns = [
        gem.Turn("a", "x", 1.0, False, False, rewards=(1.0, 0.5)),
        gem.Turn("b", "y", 0.0, False, False, seat=1, rewards=(0.25, 0.0)),
        gem.Turn("c", "z", 0.0, False, True, rewards=(0.0, 4.0)),
    ]
    seats = (
        SeatOutcome("a", "p", 0, 1.25, False, "truncated", None),
        SeatOutcome("b", "q", 1, 4.5, True, "truncated", None),
        SeatOutcome("c", "r", 2, 0.0, False, "truncated", "You never played."),
    )
    three = [replace(turn, rewards=(*(turn.rewards or ()), 0.0)) for turn in turns]
    episode = replace(EPISODE, turns=tuple(three), seats=seats, stop_reason="truncated")

    first, second, third = episode.parts()

    assert [turn.reward for turn in first.turns] == [1.25, 0.0]
    assert [turn.reward for turn in second.turns] == [4.5]
    assert (third.turns, third.final_observation) == ((), "You never played.")
    assert (first.turns[-1].truncated, second.policy) == (True, "q")


def test_a_seat_that_is_out_early_ended_by_its_own_end(tmp_path: Path) -> None:
    episode = recorded(tmp_path, LastOne, ["1"] * 12, seed=2)
    out = next(turn for turn in episode.turns if turn.ends)
    part = episode.of_seat(out.seat)

    assert part.turns[-1].terminated
    assert part.turns[-1].action == out.action
    assert replay(episode).state == "same"
    limited = replace(
        episode,
        stop_reason="max_turns",
        seats=tuple(replace(seat, end="truncated") for seat in episode.seats),
        turns=tuple(replace(turn, terminated=False, ends={}) for turn in episode.turns),
    )
    assert limited.of_seat(0).stop_reason == "max_turns"
    assert not limited.of_seat(0).turns[-1].truncated
    ended = replace(limited, stop_reason="terminated")
    assert ended.of_seat(0).stop_reason == "truncated"


def test_a_part_of_an_error_says_nothing_of_another_seat(hand: Episode) -> None:
    failed = replace(
        hand,
        stop_reason="policy_error",
        error="ValueError: my card is a queen",
        stopped_by=1,
        seats=tuple(replace(seat, success=None) for seat in hand.seats),
    )

    first, second = failed.parts()

    assert first.error == "the policy of the seat 'second' failed"
    assert second.error == "ValueError: my card is a queen"
    assert (first.success, first.is_error, first.terminated) == (None, True, False)


def test_an_action_that_failed_is_no_turn_of_a_part(hand: Episode) -> None:
    failed = replace(hand, stop_reason="env_error", error="ValueError: boom")

    first, second = failed.parts()

    assert [len(part.turns) for part in (first, second)] == [1, 1]
    assert first.played_turns == first.turns
    assert first.error == "ValueError: boom"


def test_a_part_is_neither_written_nor_replayed(hand: Episode) -> None:
    part = hand.of_seat(1)

    with pytest.raises(BadArguments, match="The part of the seat 'second' was to be written"):
        part.to_json()
    with pytest.raises(BadArguments, match="A replay of the part of the seat 'second'"):
        replay(part)


def test_what_is_of_one_seat_alone_is_refused_of_several(hand: Episode) -> None:
    with pytest.raises(BadArguments, match="each seat has its own"):
        hand.messages()
    with pytest.raises(BadArguments, match="the seats of this episode are 0 to 1"):
        hand.of_seat(2)
    with pytest.raises(BadArguments, match="are 0 to 0"):
        EPISODE.of_seat(1)
    assert EPISODE.parts() == (EPISODE,)


@pytest.mark.parametrize("env", [Drifting, Signs])
def test_a_record_reproduces(tmp_path: Path, env: Any) -> None:
    actions = [PASS, PASS] if env is Drifting else ["rock", "paper"] * 3
    episode = recorded(tmp_path, env, actions)

    assert replay(episode).state == "same"


def test_an_episode_that_a_wrapper_cut_off_reproduces(tmp_path: Path) -> None:
    limit = {"id": "time_limit", "max_turns": 3}
    episode = recorded(tmp_path, Signs, ["rock", "paper", "rock"], wrappers=[limit])

    assert (episode.stop_reason, replay(episode).state) == ("truncated", "same")
    # The question of the round that was not answered is what that seat was shown last.
    assert episode.seats[1].final_observation == "Left showed rock, right paper.\nRound 2."
    assert episode.seats[0].final_observation == ""


@pytest.mark.parametrize(
    ("drift", "field"),
    [
        ("observation", "observation"),
        ("raise", "exception"),
        ("rewards", "rewards"),
        ("seat", "seat"),
        ("seats", "seats"),
        ("suffix", "suffix"),
        ("success", "success of first"),
        ("ends", "ends"),
    ],
)
def test_the_first_difference_is_named(
    hand: Episode, monkeypatch: pytest.MonkeyPatch, drift: str, field: str
) -> None:
    if drift == "seats":
        monkeypatch.setattr(Drifting, "seats", ("one", "two"))
    else:
        monkeypatch.setattr(Drifting, "drift", drift)

    difference = replay(hand).difference

    assert isinstance(difference, Difference)
    assert difference.field == field


def test_a_success_that_only_the_record_has_is_a_difference(hand: Episode) -> None:
    assert replay(replace(hand, success=True)).difference == Difference(2, "success", True, False)


def test_an_episode_that_failed_reproduces_as_far_as_it_went(hand: Episode) -> None:
    failed = replace(hand, stop_reason="env_error", error="ValueError: boom", success=None)

    assert replay(failed).state == "partial"


def test_a_seat_whose_model_had_no_room_did_not_succeed() -> None:
    def policy(request: gem.Request) -> str:
        if request.turn == 1 and request.seat == 0:
            raise ModelLengthError("The prompt is too long.")
        return "paper" if request.seat == 0 else "rock"  # the first seat leads

    [cut] = gem.run(policy, "gem.testing.envs:Signs", episodes=1)
    solved = replace(cut.seats[0], success=True)

    assert (cut.stop_reason, cut.seats[0].success) == ("model_length", False)
    assert replay(cut).state == "same"
    changed = replay(replace(cut, seats=(solved, cut.seats[1]))).difference
    assert changed is not None
    assert changed.field == "success of left"


def test_an_end_that_the_last_turn_does_not_have_is_a_difference(hand: Episode) -> None:
    cut = replace(hand, stop_reason="model_length", stopped_by=0)

    assert replay(cut).difference == Difference(2, "stop_reason", "model_length", "terminated")


class Odd(gem.SeatedEnv):
    """Says what no record can hold."""

    info: Any = None
    rewards: Any = None

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.tell_all("Go.")
        return self.begin(0)

    def step(self, action: str) -> gem.Step:
        step = self.end(self.rewards)
        return step._replace(info={**step.info, **(self.info or {})})


@pytest.mark.parametrize(
    ("rewards", "info", "error"),
    [
        ([1.0, float("nan")], {}, "must be finite"),
        (None, {"rewards": (1.0,)}, "returned 1 rewards, and there are 2 seats"),
        (None, {"ends": {0: "lost"}}, "the ends {'0': 'lost'}"),
        (None, {"suffix": 7}, "must be a text"),
    ],
)
def test_what_no_record_can_hold_is_refused(
    tmp_path: Path, rewards: Any, info: Any, error: str
) -> None:
    env = gem.make(Odd, wrappers=[{"id": "record", "path": str(tmp_path / "log")}])
    base: Any = env.unwrapped
    base.rewards = rewards
    base.info = info
    env.reset(seed=1)

    with pytest.raises((TypeError, ValueError), match=error):
        env.step("go")


def test_a_seat_succeeds_by_its_own_total_where_nothing_else_is_said(tmp_path: Path) -> None:
    class Paying(Odd):
        rewards = (1.0, 0.5)

    episode = recorded(tmp_path, Paying, ["go"])

    assert [seat.success for seat in episode.seats] == [True, False]
    assert episode.success is False


def test_a_success_of_all_may_be_told_alone(tmp_path: Path) -> None:
    class Won(Odd):
        info = {"success": True}  # noqa: RUF012 - nobody changes it

    assert recorded(tmp_path, Won, ["go"]).success is True

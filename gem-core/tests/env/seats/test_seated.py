"""An environment of several seats: who is told, asked, paid and out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, EnvBusy, ResetNeeded, SnapshotError
from gem.testing.envs import Guess, Kuhn, LastOne, Signs

BET = "\\boxed{bet}"
PASS = "\\boxed{pass}"


class Scripted(gem.SeatedEnv):
    """Three seats; what a step does is a function that a test gives."""

    seats = ("a", "b", "c")
    shared = ("do",)

    def __init__(self, do: Callable[[Scripted], gem.Step] = lambda env: env.end()) -> None:
        self.do = do

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.tell_all("Begin.")
        return self.begin(0)

    def step(self, action: str) -> gem.Step:
        return self.do(self)

    def sample_action(self) -> str:
        return f"{self.seat} of {self.seats[self.seat]}"


def stepped(do: Callable[[Scripted], gem.Step]) -> gem.Step:
    env = Scripted(do)
    env.reset(seed=1)
    return env.step("go")


def test_a_step_of_one_seat_says_what_there_is_of_seats() -> None:
    step = gem.Step("Lower.", 0.5)

    assert (step.seat, step.rewards, step.ends) == (0, (0.5,), {})
    assert step.observations == {0: "Lower."}


def test_an_environment_of_one_seat_is_one_of_the_agent() -> None:
    env = Guess()

    assert (env.seats, env.seat, env.zero_sum) == (("agent",), 0, False)
    assert env.shown_to(0) == (False, False, [])
    env.reset(seed=1)
    assert env.hint("solve") == env.solve()


def test_a_hand_of_kuhn_poker_is_told_to_each_seat_alone() -> None:
    env = Kuhn()
    observation, info = env.reset(seed=1)  # a jack and a queen

    assert (info["seat"], list(info["observations"])) == (0, [0])
    assert "Your card is J" in str(observation)
    bet = env.step(BET)
    assert (bet.seat, env.seat, bet.reward, bet.rewards) == (1, 1, 0.0, (0.0, 0.0))
    assert bet.observations == {1: bet.observation}
    assert str(bet.observation).endswith("The other player answered bet.")
    end = env.step(BET)
    assert (end.reward, end.rewards, end.terminated) == (2.0, (-2.0, 2.0), True)
    assert end.observations[0] == "The other player answered bet.\nThe cards were J and Q."
    assert end.ends == {0: "terminated", 1: "terminated"}
    assert end.info["successes"] == (False, True)
    assert end.info["success"] is False


@pytest.mark.parametrize(
    ("moves", "rewards", "error"),
    [
        ([PASS, BET, PASS], (-1.0, 1.0), None),
        ([PASS, BET, BET], (-2.0, 2.0), None),
        (["no", "\\boxed{x}"], (-1.0, 1.0), "invalid"),
        ([BET, "\\boxed{bet"], (1.0, -1.0), "format"),
    ],
)
def test_a_hand_of_kuhn_poker_ends_by_its_rules(
    moves: list[str], rewards: tuple[float, float], error: str | None
) -> None:
    env = Kuhn()
    env.reset(seed=1)

    last = [env.step(move) for move in moves][-1]

    assert (last.rewards, last.info.get("action_error")) == (rewards, error)


def test_what_is_told_between_two_turns_is_one_observation() -> None:
    def do(env: Scripted) -> gem.Step:
        env.tell(1, "One.", "Two.")
        env.tell_all("Three.", but=2)
        assert env.peek(1) == "Begin.\nOne.\nTwo.\nThree."
        assert env.peek(2) == "Begin."
        return env.ask(1)

    assert stepped(do).observation == "Begin.\nOne.\nTwo.\nThree."


def test_no_chat_ever_has_two_turns_of_the_user_running() -> None:
    picture = gem.Message("user", (gem.ImagePart(b"png"),))

    def do(env: Scripted) -> gem.Step:
        env.tell(1, gem.Message("system", "Be kind."), "One.", "Two.", picture)
        return env.ask(1)

    messages = stepped(do).observation

    assert messages == (
        gem.Message("user", "Begin."),
        gem.Message("system", "Be kind."),
        gem.Message("user", (gem.TextPart("One.\nTwo."), gem.ImagePart(b"png"))),
    )


def test_a_seat_that_is_out_may_earn_and_is_shown_the_rest_at_the_end() -> None:
    def do(env: Scripted) -> gem.Step:
        if env.turn == 0:
            env.drop(0, "truncated")
            assert env.is_out(0)
            return env.ask(1)
        env.tell(0, "It is over.")
        return env.end([1, 0, -1], truncated=True, success=True)

    env = Scripted(do)
    env.reset(seed=1)
    first = env.step("go")
    last = env.step("go")

    assert first.ends == {0: "truncated"}
    assert last.ends == {1: "truncated", 2: "truncated"}
    assert last.observations == {0: "It is over.", 1: "", 2: "Begin."}
    assert (last.rewards, last.reward) == ((1, 0, -1), 0)
    assert (last.terminated, last.truncated, last.seat) == (False, True, 1)
    assert last.info["successes"] == (True, True, True)


def test_a_suffix_is_enough_to_be_asked_by() -> None:
    step = stepped(lambda env: env.ask(0, info={"suffix": "Your turn."}))

    assert (step.observation, step.info["suffix"]) == ("", "Your turn.")


@pytest.mark.parametrize(
    ("do", "error"),
    [
        (lambda env: env.ask(), "Name one seat"),
        (lambda env: env.ask(1, 1), "Name one seat"),
        (lambda env: env.ask(3), "the seats are 0 to 2"),
        (lambda env: env.ask(True), "was given the seat True"),
        (lambda env: env.ask(0), "seat 0 was told nothing"),
        (lambda env: (env.drop(1), env.ask(1)), "seat 1 is out. Ask another"),
        (lambda env: (env.drop(1), env.drop(1)), "Drop a seat once"),
        (lambda env: env.tell(1, 5), r"tell\(1, 5\) was called, and what is told is text or"),
        (lambda env: env.ask(1, 2, info={"suffix": "x"}), "a suffix, which belongs to one seat"),
        (lambda env: env.ask(1, rewards=[1.0]), "there are 3 seats"),
        (lambda env: env.ask(1, rewards={7: 1.0}), "rewards was given the seat 7"),
        (lambda env: env.end(success=[True]), "there are 3 seats"),
        (lambda env: env.end(success={-1: True}), "success was given the seat -1"),
    ],
)
def test_what_no_seat_can_follow_is_refused(do: Callable[[Scripted], gem.Step], error: str) -> None:
    with pytest.raises(BadArguments, match=error):
        stepped(do)


def test_a_step_that_neither_asks_nor_ends_is_refused() -> None:
    with pytest.raises(TypeError, match=r"what self.ask\(SEAT\) or self.end\(\) returns"):
        stepped(lambda env: gem.Step("Lost."))


def test_a_reset_that_asks_nobody_is_refused() -> None:
    class Silent(gem.SeatedEnv):
        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            return "Hello.", {}

    with pytest.raises(TypeError, match=r"what self.begin\(SEAT\) returns"):
        Silent().reset()


@pytest.mark.parametrize("seats", [("one",), ("a", "a"), ["a", "b"], ("a", 2)])
def test_seats_are_two_names_or_more(seats: Any) -> None:
    env = Scripted()
    env.seats = seats

    with pytest.raises(BadArguments, match="Give two or more names that differ"):
        env.reset()


def test_nobody_is_told_anything_before_a_reset() -> None:
    with pytest.raises(ResetNeeded, match="tell was called before the first reset"):
        Scripted().tell(0, "Early.")


def test_hints_are_of_the_seat_that_is_asked_for() -> None:
    env = Scripted()
    env.reset(seed=1)

    assert env.hint("sample_action", 2) == "2 of c"
    assert env.hint("solve", 1) is None
    assert env.seat == 0


def test_a_subclass_may_call_the_step_and_the_reset_of_its_parent() -> None:
    class Louder(Kuhn):
        def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
            super().reset(seed)
            return self.begin(1, info={"suffix": "Second begins."})

        def step(self, action: str) -> gem.Step:
            return super().step(action.lower())

    env = Louder()
    env.reset(seed=1)

    assert env.step("\\BOXED{BET}").seat == 0


def test_every_seat_but_one_leaves_until_the_last_one_wins() -> None:
    env = LastOne()
    env.reset(seed=2)
    ends: dict[int, str] = {}
    is_over = False
    total = 0.0
    while not is_over:
        step = env.step(env.sample_action())
        assert not ends.keys() & step.ends.keys()
        ends |= step.ends
        total += sum(step.rewards)
        is_over = step.terminated or step.truncated

    assert sorted(ends) == [0, 1, 2]
    assert total == 1.0


def test_names_that_are_no_number_count_as_the_first_and_a_limit_ends_for_all() -> None:
    env = LastOne()
    env.max_turns = 1
    env.reset(seed=1)

    step = env.step("four")

    assert (step.truncated, step.info["action_error"]) == (True, "invalid")


def test_a_saved_game_goes_on_in_the_middle_of_a_round() -> None:
    env = Signs()
    env.reset(seed=1)
    env.step("rock")
    snapshot = gem.Snapshot.from_json(env.snapshot().to_json())
    twin = Signs()
    twin.restore(snapshot)

    assert twin.step("paper") == env.fork().step("paper") == env.step("paper")


def test_a_snapshot_with_a_seat_that_there_is_not_is_refused() -> None:
    env = Kuhn()
    env.reset(seed=1)
    snapshot = env.snapshot()
    wrong = gem.Snapshot(snapshot.spec, {**snapshot.state, "seat": 7})

    with pytest.raises(SnapshotError, match="the turn of seat 7, and the seats"):
        env.restore(wrong)

    assert env.snapshot() == snapshot  # on an error nothing changes


class Table(gem.SeatedEnv):
    """As many seats as it is told to have; the last one is always asked."""

    def __init__(self, number: int) -> None:
        self.seats = tuple(f"player {seat}" for seat in range(number))

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.tell_all("Go.")
        return self.begin(len(self.seats) - 1)

    def step(self, action: str) -> gem.Step:
        self.tell_all(action)
        return self.ask(len(self.seats) - 1)


def test_a_fork_is_at_a_seat_that_only_its_instance_has() -> None:
    env = Table(4)
    env.reset(seed=1)

    twin = env.fork()

    assert (twin.seats, twin.seat) == (env.seats, 3)
    assert twin.step("on") == env.step("on")


@pytest.mark.parametrize("seats", [["player 0"] * 4, 4, {"$": "tuple", "v": ["one"]}])
def test_a_snapshot_whose_seats_are_no_names_is_refused(seats: Any) -> None:
    env = Table(4)
    env.reset(seed=1)
    snapshot = env.snapshot()
    wrong = gem.Snapshot(snapshot.spec, {**snapshot.state, "seats": seats})

    with pytest.raises(SnapshotError, match="Take it again"):
        env.restore(wrong)


class Slow(gem.SeatedEnv):
    """Both seats at once, and what they did waits."""

    async def areset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        await asyncio.sleep(0)
        self.tell_all("Both.")
        return self.begin(0, 1)

    async def step_all(self, actions: Mapping[int, str]) -> gem.Step:
        await asyncio.sleep(0)
        self.tell(1, f"Left did {actions[0]}.")
        return self.ask(1)

    async def astep(self, action: str) -> gem.Step:
        await asyncio.sleep(0)
        return self.end()


def test_what_waits_is_waited_for_in_either_form() -> None:
    async def awaited() -> list[gem.Step]:
        env = Slow()
        await env.areset(seed=1)
        return [await env.astep(action) for action in "xyz"]

    env = Slow()
    env.reset(seed=1)
    waited = [env.step(action) for action in "xyz"]

    assert waited == asyncio.run(awaited())
    assert [step.observations for step in waited] == [{}, {1: "Left did x."}, {0: "", 1: ""}]


class SlowRounds(Signs):
    """Rounds that wait, of an author whose step does not."""

    async def step_all(self, actions: Mapping[int, str]) -> gem.Step:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().step_all(actions)


def test_rounds_that_wait_hold_up_no_event_loop() -> None:
    async def awaited() -> gem.Step:
        env = SlowRounds()
        await env.areset(seed=1)
        await env.astep("rock")
        return await env.astep("paper")

    env = SlowRounds()
    env.reset(seed=1)
    env.step("rock")

    assert asyncio.run(awaited()) == env.step("paper")
    assert SlowRounds.astep.__name__ == "astep"


def test_a_call_in_a_call_is_refused_as_of_one_seat() -> None:
    with pytest.raises(EnvBusy):
        stepped(lambda env: env.step("again"))


def test_a_round_without_step_all_says_so() -> None:
    def do(env: Scripted) -> gem.Step:
        return env.ask(1, 2)

    env = Scripted(do)
    env.reset(seed=1)
    env.step("go")
    env.step("left")

    with pytest.raises(NotImplementedError, match="defines no step_all"):
        env.step("right")


def test_a_coroutine_step_of_a_parent_is_awaited_by_a_super_call() -> None:
    class Louder(Slow):
        async def astep(self, action: str) -> gem.Step:
            return await super().astep(action.upper())

        async def areset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
            return await super().areset(seed)

    env = Louder()
    env.reset(seed=1)

    assert [env.step(action).terminated for action in "xyz"] == [False, False, True]


def test_secrets_and_sampled_actions_are_of_a_seat() -> None:
    env = Kuhn()
    env.reset(seed=1)

    assert env.secrets() == {0: ["Your card is J"], 1: ["Your card is Q"]}
    assert Signs().secrets() == {}
    assert env.sample_action() in (BET, PASS)

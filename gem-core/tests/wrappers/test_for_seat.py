"""`seat`: a wrapper around one seat of several, as if there were no other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.conversation import Request
from gem.errors import BadArguments
from gem.testing.envs import Kuhn, LastOne, Signs
from gem.wrappers._for_seat import ForSeat

BET = "\\boxed{bet}"
PASS = "\\boxed{pass}"


def for_seat(seat: int | str, wrapper: Any) -> dict[str, Any]:
    return {"id": "seat", "seat": seat, "wrapper": wrapper}


class Noting(gem.Wrapper):
    """Notes what it is given, and doubles what its seat earns."""

    def __init__(self, env: gem.Env) -> None:
        super().__init__(env)
        self.notes: list[Any] = []

    def on_reset(
        self, observation: gem.Observation, info: dict[str, Any]
    ) -> tuple[gem.Observation, dict[str, Any]]:
        self.notes = [(str(observation)[-8:], info)]
        return f"(reset) {observation}", info

    def on_action(self, action: str) -> str:
        self.notes.append(action)
        return action.lower()

    def on_step(self, action: str, step: gem.Step) -> gem.Step:
        self.notes.append((action, step.reward, step.terminated, step.info))
        info = {**step.info, "noted": True}
        return step._replace(observation="(step)", reward=2 * step.reward, info=info)


def notes_of(env: gem.Env) -> list[Any]:
    assert isinstance(env, ForSeat)
    layer: Any = env._layer
    notes: list[Any] = layer.notes
    return notes


@pytest.mark.parametrize(("seat", "actions"), [(0, ("spock", "rock")), (1, ("rock", "spock"))])
def test_a_seat_is_told_that_its_own_action_of_a_round_was_refused(
    seat: int, actions: tuple[str, ...]
) -> None:
    env = gem.make(Signs, wrappers=[for_seat(seat, Noting)])
    env.reset(seed=1)
    for action in (*actions, "rock", "rock"):
        env.step(action)

    infos = [note[-1] for note in notes_of(env) if len(note) == 4 and type(note) is tuple]
    assert infos == [{"action_error": "invalid"}, {}]


class Calculator(gem.Wrapper):
    """Answers one call a tool, for a tenth; a second one truncates the episode."""

    tools = ({"type": "function", "function": {"name": "add"}},)

    def on_reset(
        self, observation: gem.Observation, info: dict[str, Any]
    ) -> tuple[gem.Observation, dict[str, Any]]:
        self.calls = 0
        return observation, info

    def on_action(self, action: str) -> Any:
        return self._answer() if action == "add" else action

    async def _answer(self) -> gem.Step:
        await asyncio.sleep(0)
        self.calls += 1
        return gem.Step("It is 4.", 0.1, truncated=self.calls > 1, info={"called": self.calls})

    async def on_step(self, action: str, step: gem.Step) -> gem.Step:
        return step


def played(env: gem.Env, *actions: str, seed: int = 1) -> list[gem.Step]:
    env.reset(seed=seed)
    return [env.step(action) for action in actions]


async def awaited(env: gem.Env, *actions: str, seed: int = 1) -> list[gem.Step]:
    await env.areset(seed=seed)
    return [await env.astep(action) for action in actions]


def test_a_wrapper_meets_its_seat_alone() -> None:
    env = gem.make(Kuhn, wrappers=[for_seat("second", Noting)])

    bet, end = played(env, BET, "\\BOXED{BET}")

    assert notes_of(env) == [
        ("red bet.", {}),
        "\\BOXED{BET}",
        ("\\BOXED{BET}", 2.0, True, {"success": False}),
    ]
    assert str(bet.observation).startswith("(reset) Kuhn poker")
    assert bet.observations == {1: bet.observation}
    assert end.observations[1] == "(step)"
    assert "The cards were" in str(end.observations[0])
    assert (end.rewards, end.reward, end.info["noted"]) == ((-2.0, 4.0), 4.0, True)


def test_what_a_seat_earned_in_between_comes_with_its_next_observation() -> None:
    env = gem.make(Signs, wrappers=[for_seat(0, Noting)])

    _, first = played(env, "ROCK", "scissors")

    assert notes_of(env)[1:] == ["ROCK", ("ROCK", 1.0, False, {})]
    # The step is of the other seat's action: its reward and its info are left alone.
    assert (first.rewards, first.reward) == ((2.0, -1.0), -1.0)
    assert "noted" not in first.info
    assert first.observation == "(step)"


def test_a_suffix_is_of_its_seat_alone() -> None:
    class Board(gem.SeatedEnv):
        def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
            self.tell_all("Go.")
            return self.begin(0, info={"suffix": "Board of 0."})

        def step(self, action: str) -> gem.Step:
            return self.ask(1 - self.seat, info={"suffix": f"Board of {1 - self.seat}."})

    class Shouting(gem.Wrapper):
        def on_step(self, action: str, step: gem.Step) -> gem.Step:
            info = {name: value.upper() for name, value in step.info.items()}
            return step._replace(info=info)

    class Hiding(gem.Wrapper):
        def on_reset(
            self, observation: gem.Observation, info: dict[str, Any]
        ) -> tuple[gem.Observation, dict[str, Any]]:
            return observation, {}

    env = gem.make(Board, wrappers=[for_seat(0, Shouting), for_seat(1, Hiding)])
    steps = played(env, "x", "y")

    assert [step.info.get("suffix") for step in steps] == [None, "BOARD OF 0."]


def test_a_seat_may_have_its_whole_prompt_where_the_other_has_not() -> None:
    wrappers = [for_seat(1, "concat"), for_seat(0, {"id": "system_prompt", "text": "Be kind."})]
    requests: list[Request] = []

    def policy(request: Request) -> str:
        requests.append(request)
        return "rock"

    (episode,) = gem.run(policy, Signs, wrappers=wrappers)
    left, right = episode.parts()

    assert gem.replay(episode).state == "same"
    assert (left.rewrites_history, right.rewrites_history) == (False, True)
    assert left.messages()[0] == {"role": "system", "content": "Be kind."}
    assert len(right.messages()) == 2
    assert [len(request.messages) for request in requests[:4]] == [2, 1, 4, 1]


def test_a_call_of_a_tool_asks_its_seat_again_and_shifts_nobody() -> None:
    requests: list[Request] = []

    async def policy(request: Request) -> str:
        requests.append(request)
        return "add" if (request.seat, request.turn) == (0, 0) else "rock"

    (episode,) = gem.run(policy, Signs, wrappers=[for_seat(0, Calculator)], max_turns=4)

    assert [(turn.seat, turn.action) for turn in episode.turns] == [
        (0, "add"),
        (0, "rock"),
        (1, "rock"),
        (0, "rock"),
    ]
    assert episode.turns[0].rewards == (0.1, 0.0)
    assert episode.turns[0].info["called"] == 1
    assert [request.seat for request in requests[:3]] == [0, 1, 0]
    assert [len(request.tools) for request in requests[:3]] == [1, 0, 1]


def test_a_wrapper_that_ends_the_episode_ends_it_for_all() -> None:
    env = gem.make(LastOne, wrappers=[for_seat("red", Calculator)])

    step = played(env, "add", "add")[-1]

    assert (step.truncated, step.ends) == (True, dict.fromkeys(range(3), "truncated"))
    assert step.observations == {
        0: "It is 4.",
        1: "Name a number from 1 to 3. Whoever names the one that is drawn is out.",
        2: "Name a number from 1 to 3. Whoever names the one that is drawn is out.",
    }


def test_a_limit_of_one_seat_truncates_for_all_when_it_is_asked_again() -> None:
    env = gem.make(Signs, wrappers=[for_seat(0, {"id": "time_limit", "max_turns": 1})])

    first, second = played(env, "rock", "rock")

    assert (first.truncated, second.truncated) == (False, True)
    assert second.ends == {0: "truncated", 1: "truncated"}


def test_a_round_that_a_wrapper_cuts_off_leaves_the_other_seat_its_question() -> None:
    wrappers = [for_seat(0, Calculator), for_seat(1, Noting)]
    env = gem.make(Signs, wrappers=wrappers)

    end = played(env, "add", "add")[-1]

    assert end.truncated
    assert notes_of(env) == [("Round 1.", {})]


def test_both_forms_do_the_same() -> None:
    actions = ("add", "rock", "paper", "rock", "add", "rock")
    made = [gem.make(Signs, wrappers=[for_seat(0, Calculator)]) for _ in range(2)]

    assert asyncio.run(awaited(made[0], *actions)) == played(made[1], *actions)
    asyncio.run(made[0].aclose())
    made[1].close()
    made[1].close()


def test_snapshots_and_forks_have_the_state_of_the_wrapper() -> None:
    env = gem.make(Signs, wrappers=[for_seat(1, "concat")])
    played(env, "rock", "paper", "rock")
    saved = gem.Snapshot.from_json(env.snapshot().to_json())
    twin = env.fork()
    expected = env.step("paper")

    assert twin.step("paper") == expected
    assert "Round 1." in str(expected.observations[1])
    other = gem.make(Signs, wrappers=[for_seat(1, "concat")])
    other.restore(saved)
    assert other.step("paper") == expected


def test_a_stack_with_a_wrapped_seat_is_data() -> None:
    env = gem.make("gem.testing.envs:Signs", wrappers=[for_seat("right", "concat")])

    assert env.spec is not None
    again = gem.make(env.spec.model_validate_json(env.spec.model_dump_json()))

    assert played(again, "rock", "paper") == played(env, "rock", "paper")
    assert env.seats == ("left", "right")
    assert env.hint("sample_action", 1) in ("rock", "paper", "scissors")


def test_a_wrapper_that_blocks_makes_the_stack_block(tmp_path: Path) -> None:
    quick = gem.EnvSpec(id="demo:Quick", target="gem.testing.envs:Signs", blocking=False)

    plain = gem.make(quick, wrappers=[for_seat(0, "concat")])
    slow = gem.make(quick, wrappers=[for_seat(0, Noting)])

    assert (plain.spec and plain.spec.blocking) is False
    assert (slow.spec and slow.spec.blocking) is True
    (episode,) = gem.run(lambda request: "rock", quick, wrappers=[for_seat(0, "concat")])
    assert episode.success is False


def test_a_wrapper_with_a_step_of_its_own_is_refused(tmp_path: Path) -> None:
    record = {"id": "record", "path": str(tmp_path / "log")}

    with pytest.raises(BadArguments, match="writes a reset or a step of its own"):
        gem.make(Signs, wrappers=[for_seat(0, record)])
    with pytest.raises(BadArguments, match="The seats are left, right"):
        gem.make(Signs, wrappers=[for_seat("middle", "concat")])


def test_a_wrapper_that_does_nothing_leaves_its_seat_as_it_is() -> None:
    env = gem.make(Kuhn, wrappers=[for_seat(0, lambda inner: inner)])

    assert played(env, PASS, PASS)[-1].rewards == played(Kuhn(), PASS, PASS)[-1].rewards


def test_a_finished_prompt_of_a_seat_is_known_of_it() -> None:
    class Rendering(gem.Wrapper):
        rewrites_history = True
        prompt_is_finished = True

    env = gem.make(Signs, wrappers=[for_seat(0, Rendering), for_seat(0, Calculator)])

    assert env.shown_to(0)[:2] == (True, True)
    assert len(env.shown_to(0)[2]) == 1
    assert env.shown_to(1) == (False, False, [])

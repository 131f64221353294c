"""An environment over several: weights, seeds, state, and what it takes from its components."""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

import gem
from gem.content import Observation
from gem.env import Env
from gem.env._snapshot import Snapshot
from gem.env._step import Step
from gem.errors import BadArguments, EnvBusy, EnvClosed, SnapshotError, UnknownEnv
from gem.rollouts._mixtures import Component, Mixture
from gem.specs import EnvSpec
from gem.testing import check_env
from gem.testing.envs import Echo, Guess

GUESS = EnvSpec(id="test:Guess", target="gem.testing.envs:Guess", blocking=False)
ECHO = EnvSpec(id="test:Echo", target="gem.testing.envs:Echo", blocking=False)
COIN = EnvSpec(id="test:Coin", target="gem.testing.envs:Coin", blocking=False)


class Slow(Env):
    """Waits for each answer, and says what became of it; success by its return."""

    max_turns = 2
    tools = ({"type": "function", "function": {"name": "look"}},)
    rewrites_history = True
    prompt_is_finished = True
    closed = False

    async def areset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        await asyncio.sleep(0)
        return f"toss {self.rng.random()}", {}

    async def astep(self, action: str) -> Step:
        await asyncio.sleep(0)
        return Step("", 0.25, self.turn == 1, False, {})

    async def aclose(self) -> None:
        self.closed = True


SLOW = EnvSpec(id="test:Slow", target=f"{__name__}:Slow", success_return=0.5)


def mixture(*components: dict[str, Any], **kwargs: Any) -> EnvSpec:
    """Return the spec of a mixture; without components, of guesses and echoes."""
    listed = components or ({"env": GUESS, "weight": 3}, {"env": ECHO})
    plain = [{**each, "env": EnvSpec.model_dump(each["env"], mode="json")} for each in listed]
    return EnvSpec(id="test:Mix", target="gem:Mixture", kwargs={"envs": plain}, **kwargs)


@pytest.fixture(autouse=True)
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    gem.register(SLOW, Slow)


@pytest.mark.slow
def test_a_mixture_keeps_every_rule_of_an_environment() -> None:
    report = check_env(mixture(), seeds=range(10), backends=["sync", "thread", "process"])

    assert [line for line in report.lines if line.state == "failed"] == []


def test_components_come_as_often_as_their_weights_say() -> None:
    with gem.make(mixture()) as env:
        drawn = Counter(env.reset(seed=seed)[1]["component"]["name"] for seed in range(1_000))

    assert sorted(drawn) == ["test:Echo", "test:Guess"]
    assert 700 < drawn["test:Guess"] < 800


def test_what_a_seed_draws_is_the_same_in_every_version() -> None:
    with gem.make(mixture()) as env:
        drawn = [env.reset(seed=seed)[1]["component"]["index"] for seed in range(20)]
        env.reset(seed=0)
        words = [str(env.reset()[0])[-8:] for _ in range(5)]

    assert drawn == [0] * 13 + [1, 1, 0, 1, 0, 1, 0]
    assert (words[2], words[4]) == ("ehidgbhj", "hjebjghd")  # those of echoes


def test_a_component_of_weight_nought_never_comes() -> None:
    with gem.make(mixture({"env": GUESS}, {"env": ECHO, "weight": 0})) as env:
        assert all(env.reset(seed=seed)[1]["component"]["index"] == 0 for seed in range(50))


@pytest.mark.parametrize("seed", range(20))
def test_an_episode_is_the_one_that_its_component_has_alone(seed: int) -> None:
    with gem.make(mixture(), seed=seed) as env:
        observation, info = env.reset()
        component = (GUESS, ECHO)[info["component"]["index"]]
        with gem.make(component) as alone:
            assert alone.reset(seed=seed)[0] == observation
            action = alone.sample_action()
            assert env.sample_action() == action
            assert env.solve() == alone.solve()
            mixed, single = env.step(action), alone.step(action)
            assert mixed[:4] == single[:4]
            assert {**mixed.info, **single.info} == mixed.info


def test_weights_change_which_episode_and_never_what_is_in_it() -> None:
    other = mixture({"env": GUESS}, {"env": ECHO, "weight": 5})
    with gem.make(mixture()) as env, gem.make(other) as changed:
        for seed in range(30):
            (seen, info), (again, told) = env.reset(seed=seed), changed.reset(seed=seed)
            assert info["component"] != told["component"] or seen == again


def test_resets_without_a_seed_go_on_with_the_instances_own_stream() -> None:
    def starts() -> list[tuple[Observation, dict[str, Any]]]:
        with gem.make(mixture(), seed=4) as env:
            return [env.reset() for _ in range(100)]

    assert starts() == starts()
    assert len({str(start) for start in starts()}) > 5


@pytest.mark.vector
@pytest.mark.parametrize("backend", ["sync", "thread", "process"])
def test_a_vector_has_the_episodes_of_single_environments(backend: str) -> None:
    def seen(backend: str) -> list[Any]:
        with gem.make_vec(mixture(), num_envs=4, backend=backend, seed=5) as vector:
            starts = vector.reset()
            steps = [vector.step(["\\boxed{4}"] * 4)[0] for _ in range(3)]
            return [starts, steps]

    assert seen(backend) == seen("sync")


def test_rollouts_record_the_component_and_replay() -> None:
    async def play() -> list[gem.Episode]:
        gem.register(mixture(blocking=False))
        run = gem.rollout(lambda request: "\\boxed{7}", "test:Mix", episodes=20)
        return [episode async for episode in run]

    episodes = asyncio.run(play())
    names = {episode.turns[-1].info["component"]["name"] for episode in episodes}

    assert names == {"test:Guess", "test:Echo"}
    assert {gem.replay(episode).state for episode in episodes} == {"same"}


def test_arguments_and_wrappers_are_the_components_own() -> None:
    spec = mixture(
        {
            "env": GUESS,
            "kwargs": {"highest": 3},
            "wrappers": [{"id": "time_limit", "max_turns": 1}],
            "name": "short",
        }
    )
    with gem.make(spec) as env:
        observation, info = env.reset(seed=0)
        assert "1 to 3" in str(observation)
        assert info["component"] == {"index": 0, "name": "short"}
        assert env.max_turns == 1
        assert env.step("\\boxed{9}").truncated


def test_tools_prompts_and_limits_are_those_of_the_component_that_is_played() -> None:
    with Mixture(envs=[{"env": "test:Slow"}, {"env": GUESS, "weight": 0}]) as env:  # type: ignore[list-item]
        before = (env.tools, env.rewrites_history, env.prompt_is_finished, env.max_turns)
        env.reset(seed=0)
        after = (env.tools, env.rewrites_history, env.prompt_is_finished, env.max_turns)

    assert before == ((), False, False, 4)
    assert after == (Slow.tools, True, True, 2)


def test_without_one_limit_there_is_none_and_single_turns_are_all() -> None:
    gem.register("test:Endless", Endless)
    with gem.make(mixture({"env": ECHO}, {"env": COIN})) as short:
        assert (short.single_turn, short.max_turns) == (True, 1)
        short.reset(seed=0)
        assert short.single_turn
    with Mixture(envs=[{"env": "test:Endless"}, {"env": ECHO}]) as long:  # type: ignore[list-item]
        assert (long.single_turn, long.max_turns) == (False, None)


class Endless(Env):
    """Without a limit."""


def test_the_range_of_rewards_spans_those_of_the_components() -> None:
    with gem.make(mixture()) as env:
        assert env.reward_range == (-0.1, 1.0)
    gem.register("test:Vain", Vain)
    with gem.make(mixture({"env": ECHO}, {"env": gem.spec("test:Vain")})) as env:
        assert env.reward_range == (0.0, 5.0)


class Vain(Env):
    """Earns much, and says that it was no success."""

    reward_range = (0.0, 5.0)

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        return "vain", {}

    def step(self, action: str) -> Step:
        return Step("", 5.0, True, False, {"success": False})


def test_what_a_component_says_of_its_success_counts_before_its_return() -> None:
    gem.register("test:Vain", Vain)
    with gem.make(mixture({"env": gem.spec("test:Vain")})) as env:
        env.reset(seed=0)
        assert env.step("").info["success"] is False


def test_the_return_of_each_episode_is_counted_from_nought() -> None:
    strict = SLOW.model_copy(update={"success_return": 1.0})
    with gem.make(mixture({"env": strict})) as env:
        assert env.unwrapped.total == 0.0  # type: ignore[attr-defined]
        for seed in range(3):  # each earns 0.5
            env.reset(seed=seed)
            env.step("a")
            assert env.step("b").info["success"] is False


def test_actions_are_sampled_from_the_mixtures_own_stream() -> None:
    with gem.make(mixture()) as env:
        env.reset(seed=0)
        before = env.unwrapped.sample_rng.getstate()
        env.sample_action()
        assert env.unwrapped.sample_rng.getstate() != before


def test_a_component_is_data_that_nobody_changes() -> None:
    component = Component(env=GUESS)
    with pytest.raises(ValidationError, match="frozen"):
        component.weight = 2.0


def test_a_component_that_waits_is_awaited() -> None:
    async def play(env: Env) -> list[Any]:
        started = await env.areset(seed=3)
        first, last = await env.astep("a"), await env.astep("b")
        await env.aclose()
        return [started, first, last]

    env = Mixture(envs=[{"env": "test:Slow"}])  # type: ignore[list-item]
    slow = env.component
    _, first, last = asyncio.run(play(env))

    assert "success" not in first.info
    assert last.info["success"] is True  # its return is 0.5, and it asks for no more
    assert isinstance(slow, Slow)
    assert slow.closed


def test_a_mixture_in_a_mixture_says_both() -> None:
    with gem.make(mixture({"env": mixture(), "name": "inner"})) as env:
        _, info = env.reset(seed=1)
        assert info["component"]["name"] == "inner"
        assert info["component"]["component"]["name"] in ("test:Guess", "test:Echo")
        assert env.sample_action() is not None


@pytest.mark.parametrize("seed", range(4))
def test_a_snapshot_continues_in_another_instance(seed: int) -> None:
    with gem.make(mixture()) as env, gem.make(mixture()) as other:
        env.reset(seed=seed)
        other.restore(Snapshot.from_json(env.snapshot().to_json()))
        action = str(env.solve())
        assert other.step(action) == env.step(action)
        assert other.reset() == env.reset()


def test_a_snapshot_before_the_first_reset_restores_too() -> None:
    with gem.make(mixture()) as env, gem.make(mixture()) as other:
        other.reset(seed=1)
        other.restore(env.snapshot())
        assert other.reset(seed=2) == env.reset(seed=2)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"state": {"chosen": 2}},
        {"state": {"chosen": "0"}},
        {"state": {"chosen": True}},
        {"inner": None},
        {"inner": Snapshot(None, {})},
    ],
)
def test_a_snapshot_that_does_not_fit_changes_nothing(spoilt: dict[str, Any]) -> None:
    with gem.make(mixture()) as env:
        env.reset(seed=1)
        saved = env.snapshot()
        state = {**saved.state, **spoilt.get("state", {})}
        inner = spoilt.get("inner", saved.inner)
        with pytest.raises(SnapshotError):
            env.restore(Snapshot(saved.spec, state, inner))
        assert env.snapshot() == saved


def test_a_fork_goes_its_own_way() -> None:
    with gem.make(mixture()) as env:
        unstarted = env.fork()
        env.reset(seed=2)
        with env.fork() as twin:
            action = str(env.solve())
            assert twin.step(action) == env.step(action)
            for seed in range(10):
                assert twin.reset(seed=seed) == env.reset(seed=seed) == unstarted.reset(seed=seed)


@pytest.mark.parametrize("name", ["snapshot", "restore", "fork"])
def test_what_is_being_stepped_is_neither_saved_nor_restored_nor_forked(name: str) -> None:
    async def play() -> None:
        env = Mixture(envs=[{"env": "test:Slow"}])  # type: ignore[list-item]
        await env.areset(seed=0)
        arguments = [env.snapshot()] if name == "restore" else []
        step = asyncio.ensure_future(env.astep("a"))
        await asyncio.sleep(0)
        with pytest.raises(EnvBusy, match=f"^{name} was called"):
            getattr(env, name)(*arguments)
        await step

    asyncio.run(play())


def test_a_component_that_does_not_fit_leaves_the_one_that_was_played() -> None:
    with gem.make(mixture()) as env:
        env.reset(seed=13)
        other = env.snapshot()
        env.reset(seed=0)
        saved = env.snapshot()
        with pytest.raises(SnapshotError):
            env.restore(Snapshot(other.spec, other.state, Snapshot(None, {})))
        assert env.snapshot() == saved


class Stuck(gem.testing.envs.Guess):
    def close(self) -> None:
        raise OSError("it is stuck")


def test_a_component_that_cannot_be_made_leaves_the_one_that_was_played() -> None:
    can_be_made = True

    def guess() -> Env:
        assert can_be_made, "no more of these"
        return Guess()

    listed: list[Any] = [{"env": guess, "name": "guess"}, {"env": ECHO}]
    env = Mixture(envs=listed)
    seeds = {}
    for seed in range(20):
        env.reset(seed=seed)
        seeds[env.chosen] = seed
    env.reset(seed=seeds[0])
    other = env.snapshot()
    env.reset(seed=seeds[1])
    twin = env.fork()  # which has the component alone that is played
    saved = twin.snapshot()

    can_be_made = False
    with pytest.raises(AssertionError, match="no more"):
        twin.restore(other)

    assert twin.snapshot() == saved


@pytest.mark.parametrize("method", ["close", "aclose"])
def test_closing_closes_the_components_behind_one_that_cannot_be(method: str) -> None:
    env = Mixture(envs=[{"env": Stuck}, {"env": GUESS}])  # type: ignore[list-item]
    second = env._component(1)

    with pytest.raises(OSError, match="stuck"):
        asyncio.run(env.aclose()) if method == "aclose" else env.close()

    with pytest.raises(EnvClosed):
        second.reset()


def test_closing_closes_every_component() -> None:
    env = Mixture(envs=[{"env": GUESS}, {"env": ECHO}])  # type: ignore[list-item]
    env.reset(seed=0)
    played = env.component
    env.close()

    with pytest.raises(EnvClosed):
        played.reset()


@pytest.mark.parametrize(
    ("envs", "message"),
    [
        ([], "one or more"),
        ([{"env": GUESS, "weight": 0}], "sum of weights above 0"),
        ([{"env": GUESS, "weight": 1e308}, {"env": ECHO, "weight": 1e308}], "finite sum"),
        ([{"env": GUESS, "weight": -1}], "weight"),
        ([{"env": GUESS, "weight": float("inf")}], "weight"),
        ([{"env": GUESS}, {"env": GUESS}], "names that differ"),
        ([{"id": "test:Guess"}], "env.*required|Field required"),
        ([{"env": GUESS, "kwargs": {"lowest": 1}}], "no 'lowest'"),
        ([{"env": 7}], "env"),
        ([{"env": dict}], "a class and no gem.Env"),
    ],
)
def test_what_is_no_mixture_is_one_error(envs: list[Any], message: str) -> None:
    with pytest.raises(BadArguments, match=message):
        Mixture(envs=envs)


def test_classes_factories_and_targets_are_components() -> None:
    listed = [
        {"env": Slow},
        {"env": lambda: Guess(4), "name": "made"},
        {"env": functools.partial(Guess, highest=3)},
        {"env": "gem.testing.envs:Coin"},
    ]
    with Mixture(envs=listed) as env:  # type: ignore[arg-type]
        seen = {env.reset(seed=seed)[1]["component"]["name"] for seed in range(40)}

    envs = "gem.testing.envs"
    assert seen == {SLOW.target, "made", f"{envs}:Guess", f"{envs}:Coin"}


def test_a_class_in_a_mixture_is_found_by_other_processes() -> None:
    with gem.make("gem:Mixture", envs=[Component(env=Echo), Component(env=Guess)]) as env:
        assert env.spec is not None
        recorded = EnvSpec.model_validate_json(env.spec.model_dump_json())
        with gem.make(recorded) as again:
            assert [again.reset(seed=seed) for seed in range(9)] == [
                env.reset(seed=seed) for seed in range(9)
            ]


def test_an_unknown_component_is_named() -> None:
    with pytest.raises(UnknownEnv, match="no:Such-v0"):
        Mixture(envs=[{"env": "no:Such-v0"}])  # type: ignore[list-item]


KUHN: dict[str, Any] = {"env": "gem.testing.envs:Kuhn"}
KUHN_AGAIN: dict[str, Any] = {"env": "gem.testing.envs:Kuhn", "name": "again"}


class Paying(gem.SeatedEnv):
    """Pays without a word on who succeeded."""

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        self.tell_all("Go.")
        self.tell(1, "Later.")
        return self.begin(0)

    def step(self, action: str) -> Step:
        return self.end([1.0, 0.5])

    def sample_action(self) -> str:
        return f"{self.seat} {self.sample_rng.random()}"


def test_a_mixture_of_several_seats_has_the_seats_of_its_components() -> None:
    mixture = Mixture([Component(**KUHN), Component(**KUHN_AGAIN)])
    before = (mixture.seats, mixture.seat, mixture.zero_sum)

    spec = gem.register("mix:Kuhns", "gem:Mixture", envs=[KUHN, KUHN_AGAIN])

    (episode,) = gem.run(lambda request: r"\boxed{bet}", spec)

    assert before == (("first", "second"), 0, True)
    assert [seat.name for seat in episode.seats] == ["first", "second"]
    assert sorted(bool(seat.success) for seat in episode.seats) == [False, True]
    assert gem.replay(episode).state == "same"


def test_a_mixture_asks_its_component_for_what_is_of_a_seat() -> None:
    mixture = Mixture([Component(env=Paying)])
    mixture.reset(seed=1)
    twin = mixture.fork()

    assert mixture.hint("sample_action", 1) == twin.hint("sample_action", 1)
    assert str(mixture.hint("sample_action", 1)).startswith("1 ")
    assert (mixture.peek(1), mixture.is_out(1)) == ("Go.\nLater.", False)
    assert mixture.shown_to(1) == (False, False, [])
    step = mixture.step("x")
    assert (step.info["successes"], step.info["success"]) == ((True, False), False)


def test_a_mixture_is_of_zero_sum_where_every_component_is() -> None:
    class Even(Paying):
        seats = ("first", "second")
        zero_sum = True

    class Uneven(Even):
        zero_sum = False

    assert Mixture([Component(env=Even), Component(env=Even, name="again")]).zero_sum
    assert not Mixture([Component(env=Even), Component(env=Uneven)]).zero_sum


def test_what_each_seat_earned_is_counted_from_nought_in_each_episode() -> None:
    mixture = Mixture([Component(env=Paying)])
    assert mixture.totals == [0.0, 0.0]
    for seed in range(3):
        mixture.reset(seed=seed)
        assert mixture.step("x").info["successes"] == (True, False)
        assert mixture.totals == [1.0, 0.5]


def test_a_seat_is_given_actions_of_the_mixtures_own_stream() -> None:
    mixture = Mixture([Component(env=Paying)])
    mixture.reset(seed=1)
    before = mixture.sample_rng.getstate()

    assert str(mixture.hint("sample_action")).startswith("0 ")
    assert mixture.sample_rng.getstate() != before


def test_one_seat_is_shown_nothing_before_an_episode_and_has_no_totals_of_seats() -> None:
    mixture = Mixture([Component(env=SLOW)])

    assert mixture.shown_to(0) == (False, False, [])
    asyncio.run(mixture.areset(seed=0))
    assert mixture.shown_to(0) == (True, True, list(Slow.tools))
    # A snapshot of one seat holds what it held before there were several.
    assert "totals" not in vars(mixture)


def test_components_of_different_seats_are_refused() -> None:
    with pytest.raises(BadArguments, match="Give it some whose seats are equal"):
        Mixture([Component(**KUHN), Component(env=GUESS)])

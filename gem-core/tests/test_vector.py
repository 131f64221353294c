"""Vectors: many environments, each with its own episodes, none the others' problem."""

from __future__ import annotations

import asyncio
import gc
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gem
from gem.env import Env
from gem.episode import Episode
from gem.errors import (
    BadArguments,
    EnvClosed,
    MissingRequirement,
    OpaqueError,
    ResetNeeded,
    UnknownEnv,
)
from gem.seeding import episode_seed
from gem.specs import EnvSpec
from gem.step import Step
from gem.vector import SyncVectorEnv, VectorEnv, VectorStep, make_vec

Install = Callable[..., Path]


class Count(Env):
    """Count up to `length`; some actions do harm."""

    max_turns = 9
    closed: list[int]

    def __init__(self, length: int = 3) -> None:
        self.length = length
        self.closed = []

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.start = self.rng.randrange(1000)
        return f"from {self.start}", {"start": self.start}

    def step(self, action: str) -> Step:
        if action == "exit":
            sys.exit("gone")
        if action == "raise":
            raise RuntimeError("out of order")
        if action == "short":
            return ("no", "step")  # type: ignore[return-value]
        reward: Any = {"nan": math.nan, "inf": -math.inf, "text": "much"}.get(action, 1)
        number = self.turn + 1
        is_last = number >= self.length
        cut = is_last and action == "cut"
        return Step(f"{number}", reward, is_last and not cut, cut, {"number": number})

    def close(self) -> None:
        self.closed.append(1)


class Faulty(Count):
    """Harm on demand: `faults` are what to raise next, in reset, in close or when made."""

    made: list[Faulty] = []  # noqa: RUF012 - the class keeps the list on purpose
    make_faults: list[str] = []  # noqa: RUF012
    reset_faults: list[str] = []  # noqa: RUF012
    close_faults: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        if self.make_faults:
            raise RuntimeError(self.make_faults.pop())
        self.made.append(self)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        if self.reset_faults:
            raise RuntimeError(self.reset_faults.pop())
        return super().reset()

    def close(self) -> None:
        super().close()
        if self.close_faults:
            raise RuntimeError(self.close_faults.pop())


_CLASS = """
from gem.vector import SyncVectorEnv


class Backwards(SyncVectorEnv):
    pass
"""
_BACKEND = """
from gem.specs import ExecutorSpec, PluginManifest

plugin = PluginManifest(
    name="acme",
    executors=(ExecutorSpec(id="backwards", target="{package}.runs:Backwards", requires=()),),
)
"""


@pytest.fixture(autouse=True)
def _count_is_registered() -> None:
    gem.register("vec:Count", Count)


@pytest.fixture
def faulty() -> type[Faulty]:
    for each in (Faulty.made, Faulty.make_faults, Faulty.reset_faults, Faulty.close_faults):
        each.clear()
    gem.register("vec:Faulty", Faulty)
    return Faulty


def started(number: int = 3, **options: Any) -> SyncVectorEnv:
    vector = make_vec("vec:Count", num_envs=number, seed=5, **options)
    assert isinstance(vector, SyncVectorEnv)
    vector.reset()
    return vector


def first_of(index: int, episode: int, run_seed: int = 5) -> str:
    """Return the observation that opens an episode, from an environment of its own."""
    return str(Count().reset(seed=episode_seed(run_seed, index, episode))[0])


# making


def test_one_id_is_multiplied() -> None:
    with make_vec("vec:Count", num_envs=4, length=2) as vector:
        assert len(vector) == vector.num_envs == 4
        assert [spec and spec.kwargs for spec in vector.specs] == [{"length": 2}] * 4


def test_several_ids_are_gone_round() -> None:
    gem.register("vec:Long", Count, length=8)
    with make_vec(["vec:Count", "vec:Long"], num_envs=3) as vector:
        assert [spec and spec.id for spec in vector.specs] == ["vec:Count", "vec:Long", "vec:Count"]


def test_without_a_number_there_is_one_for_each_id() -> None:
    with make_vec(["vec:Count", "vec:Count"]) as many, make_vec("vec:Count") as one:
        assert (len(many), len(one)) == (2, 1)


def test_a_spec_and_its_data_are_ids_too() -> None:
    spec = gem.spec("vec:Count")
    with make_vec([spec, spec.model_dump(mode="json")]) as many, make_vec(spec) as one:
        assert (len(many), len(one)) == (2, 1)


def test_every_environment_gets_the_wrappers_even_from_an_iterator() -> None:
    with make_vec("vec:Count", num_envs=2, wrappers=iter(["concat"])) as vector:
        vector.reset(seed=5)
        assert vector.step(["a", "a"]).observations == [
            f"{first_of(0, 0)}\n1",
            f"{first_of(1, 0)}\n1",
        ]


def test_numpy_comes_with_the_vectors_and_not_before() -> None:
    code = (
        "import sys, gem\n"
        "gem.make\n"
        "assert 'numpy' not in sys.modules\n"
        "gem.make_vec\n"
        "assert 'numpy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("ids", "number"), [([], None), ("vec:Count", 0), (["vec:Count"] * 3, 2)])
def test_a_number_that_does_not_fit_the_ids_is_refused(ids: Any, number: int | None) -> None:
    with pytest.raises(BadArguments, match="Give at least one id, and num_envs no smaller"):
        make_vec(ids, num_envs=number)


def test_an_absent_backend_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadArguments, match=r"backend='none' was .* Installed: .*'sync', 'thread'"):
        make_vec("vec:Count", backend="none")


def test_a_plugin_adds_a_backend_under_its_own_word(install: Install) -> None:
    manifest = _BACKEND.replace("{package}", "acme_runs")
    install("acme-runs", manifest=manifest, files={"runs.py": _CLASS})

    with make_vec("vec:Count", backend="backwards", seed=5) as vector:
        assert vector.reset()[0] == [first_of(0, 0)]
        assert type(vector).__name__ == "Backwards"


def test_a_backend_whose_packages_are_absent_says_what_to_install(install: Install) -> None:
    install("acme-far", manifest=_BACKEND.replace("()", "('no-such-package',)"))

    with pytest.raises(MissingRequirement, match="The backend 'backwards' needs no-such-package"):
        make_vec("vec:Count", backend="backwards")


def test_workers_that_nobody_has_are_refused() -> None:
    with pytest.raises(BadArguments, match="num_workers=2 was given with the backend 'sync'"):
        make_vec("vec:Count", num_workers=2)


def test_a_deadline_that_nobody_can_keep_is_refused() -> None:
    with pytest.raises(BadArguments, match=r"cannot stop a step\. Leave it out, or run"):
        make_vec("vec:Count", step_timeout_s=1.0)


def test_an_unknown_autoreset_is_refused() -> None:
    with pytest.raises(BadArguments, match="It is one of 'same_step', 'next_step', 'off'"):
        make_vec("vec:Count", autoreset="never")  # type: ignore[arg-type]


def test_a_vector_of_nothing_is_refused() -> None:
    with pytest.raises(BadArguments, match="without environments"):
        SyncVectorEnv([])


@pytest.mark.parametrize("seed", [True, "1", 1.5])
def test_a_seed_that_is_no_int_is_refused(seed: Any) -> None:
    with pytest.raises(BadArguments, match="A seed is an int, or None"):
        make_vec("vec:Count", seed=seed)
    with make_vec("vec:Count") as vector, pytest.raises(BadArguments, match="A seed is an int"):
        vector.reset(seed)


def test_an_unknown_id_is_refused_before_any_is_made(faulty: type[Faulty]) -> None:
    with pytest.raises(UnknownEnv):
        make_vec(["vec:Faulty", "vec:None"])

    assert [env.closed for env in faulty.made] == [[1]]


def test_environments_made_before_a_failure_are_closed(faulty: type[Faulty]) -> None:
    def fails() -> Env:
        raise RuntimeError("third")

    with pytest.raises(RuntimeError, match="third"):
        SyncVectorEnv([faulty, faulty, fails])

    assert [env.closed for env in faulty.made] == [[1], [1]]


# seeds


def test_each_episode_has_the_seed_of_its_place() -> None:
    vector = started(2, length=1)

    later = [vector.step(["a", "a"]).observations for _ in range(2)]

    assert later == [[first_of(0, 1), first_of(1, 1)], [first_of(0, 2), first_of(1, 2)]]


def test_the_first_reset_has_the_seed_that_the_vector_was_made_with() -> None:
    vector, other = make_vec("vec:Count", num_envs=2, seed=5), make_vec("vec:Count", num_envs=2)

    assert vector.reset() == other.reset(5)


def test_a_reset_goes_on_and_a_seeded_one_begins_again() -> None:
    vector = make_vec("vec:Count", seed=5)

    shown = [vector.reset()[0], vector.reset()[0], vector.reset(5)[0], vector.reset()[0]]

    assert shown == [[first_of(0, 0)], [first_of(0, 1)]] * 2


def test_without_a_seed_two_vectors_differ() -> None:
    one, other = make_vec("vec:Count", num_envs=8), make_vec("vec:Count", num_envs=8)

    assert one.reset()[0] != other.reset()[0]


@pytest.mark.parametrize("seed", [-1, 0, 2**80, np.int64(7)])
def test_any_int_is_a_seed(seed: int) -> None:
    with make_vec("vec:Count") as vector:
        assert vector.reset(seed)[0] == [first_of(0, 0, int(seed))]


def test_an_episode_is_the_same_as_in_a_rollout() -> None:
    async def run() -> list[Episode]:
        found = gem.rollout(lambda request: "a", "vec:Count", episodes=3, seed=5)
        return [episode async for episode in found]

    episodes = sorted(asyncio.run(run()), key=lambda episode: episode.episode_index)
    vector = started(1, length=1)
    openings = [first_of(0, 0), *(vector.step(["a"]).observations[0] for _ in range(2))]

    assert [episode.turns[0].observation for episode in episodes] == openings


def test_what_the_neighbours_do_changes_nothing() -> None:
    alone = make_vec("vec:Count", num_envs=1, seed=5, length=2)
    crowd = make_vec("vec:Count", num_envs=3, seed=5, length=2)
    alone.reset()
    crowd.reset()

    lonely = [alone.step(["a"]).observations[0] for _ in range(5)]
    crowded = [crowd.step({2: "raise", 0: "a"}).observations[1] for _ in range(5)]

    assert crowded == lonely


# stepping


def test_a_step_has_lists_and_arrays_in_the_order_of_the_environments() -> None:
    step = started(3).step(["a", "b", "c"])

    assert isinstance(step, VectorStep)
    assert step.observations == ["1", "1", "1"]
    assert (str(step.rewards.dtype), step.rewards.tolist()) == ("float64", [1.0, 1.0, 1.0])
    assert (str(step.terminated.dtype), step.terminated.tolist()) == ("bool", [False] * 3)
    assert (str(step.truncated.dtype), step.truncated.tolist()) == ("bool", [False] * 3)
    assert step.infos == [{"number": 1}] * 3


def test_a_dictionary_steps_some_and_keeps_its_own_order() -> None:
    vector = started(3)
    vector.step({2: "a"})

    step = vector.step({2: "a", 0: "a"})

    assert step.observations == ["2", "1"]
    assert step.rewards.shape == (2,)


def test_no_action_at_all_steps_nothing() -> None:
    step = started(2).step({})

    assert (step.observations, step.rewards.tolist(), step.infos) == ([], [], [])


def test_a_later_step_leaves_an_earlier_one_as_it_was() -> None:
    vector = started(1)
    before = vector.step(["a"])

    vector.step(["raise"])

    assert (before.rewards.tolist(), before.truncated.tolist()) == ([1.0], [False])
    assert before.infos == [{"number": 1}]


@pytest.mark.parametrize(
    ("actions", "what"),
    [
        (["a"], "1 actions for 2 environments"),
        (["a"] * 3, "3 actions for 2 environments"),
        ("ab", "one text for 2 environments"),
        ({2: "a"}, "Environment 2 was named, and there are 2, from 0 on"),
        ({-1: "a"}, "Environment -1 was named"),
        ({"0": "a"}, "An environment was named '0'. Name it by its index"),
        ({True: "a"}, "An environment was named True"),
    ],
)
def test_actions_that_fit_no_environment_are_refused_before_any_is_stepped(
    actions: Any, what: str
) -> None:
    vector = started(2)

    with pytest.raises(BadArguments, match=what):
        vector.step(actions)

    assert vector.step(["a", "a"]).observations == ["1", "1"]


def test_a_step_before_the_first_reset_is_refused() -> None:
    with make_vec("vec:Count") as vector, pytest.raises(ResetNeeded, match="before the first"):
        vector.step(["a"])


def test_environments_of_the_asynchronous_form_are_stepped_too() -> None:
    class Waiting(Env):
        async def areset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            await asyncio.sleep(0)
            return "ready", {}

        async def astep(self, action: str) -> Step:
            await asyncio.sleep(0)
            return Step(action, 1.0, False, False, {})

    with SyncVectorEnv([Waiting, Waiting]) as vector:
        assert vector.reset()[0] == ["ready", "ready"]
        assert vector.step(["a", "b"]).observations == ["a", "b"]


# ends of episodes


def test_same_step_starts_the_next_episode_and_keeps_the_end_in_info() -> None:
    step = started(1, length=1).step(["a"])

    assert step.observations == [first_of(0, 1)]
    assert (step.rewards.tolist(), step.terminated.tolist()) == ([1.0], [True])
    (info,) = step.infos
    assert info["final_observation"] == "1"
    assert info["final_info"] == {"number": 1}
    assert f"from {info['start']}" == first_of(0, 1)


def test_a_truncated_episode_is_not_terminated() -> None:
    step = started(1, length=1).step(["cut"])

    assert (step.terminated.tolist(), step.truncated.tolist()) == ([False], [True])


def test_next_step_starts_it_in_the_step_after_and_ignores_the_action() -> None:
    vector = started(2, length=2, autoreset="next_step")
    vector.step({0: "a"})
    end = vector.step(["a", "a"])

    after = vector.step(["raise", "a"])

    assert (end.observations, end.terminated.tolist()) == (["2", "1"], [True, False])
    assert end.infos[0] == {"number": 2}
    assert after.observations == [first_of(0, 1), "2"]
    assert (after.rewards.tolist(), after.terminated.tolist()) == ([0.0, 1.0], [False, True])
    assert vector.step({0: "a"}).observations == ["1"]


def test_off_refuses_an_ended_environment_before_any_is_stepped() -> None:
    vector = started(2, length=2, autoreset="off")
    vector.step({1: "a"})
    vector.step({1: "a"})

    with pytest.raises(ResetNeeded, match=r"step was called for \[1\], whose episodes ended"):
        vector.step(["a", "a"])

    assert vector.step({0: "a"}).observations == ["1"]


def test_off_goes_on_once_the_ended_are_reset() -> None:
    vector = started(2, length=1, autoreset="off")
    vector.step(["a", "a"])

    observations, infos = vector.reset(indices=[1])

    assert observations == [first_of(1, 1)]
    assert [f"from {info['start']}" for info in infos] == observations
    assert vector.step({1: "a"}).observations == ["1"]


def test_environments_can_be_reset_one_by_one_from_the_start() -> None:
    vector = make_vec("vec:Count", num_envs=2, seed=5)
    vector.reset(indices=[1])

    assert vector.step({1: "a"}).observations == ["1"]
    with pytest.raises(ResetNeeded):
        vector.step(["a", "a"])


def test_a_seed_restarts_all_and_so_takes_no_indices() -> None:
    with pytest.raises(BadArguments, match="A seed restarts every environment"):
        started(2).reset(3, indices=[0])


def test_an_index_given_twice_is_refused() -> None:
    with pytest.raises(BadArguments, match="name an environment twice"):
        started(2).reset(indices=[0, 0])


# faults


@pytest.mark.parametrize(
    ("action", "error"),
    [
        ("raise", "RuntimeError: out of order"),
        ("exit", "SystemExit: gone"),
        ("short", "TypeError: step returned tuple"),
        ("nan", "ValueError: step returned the reward nan"),
        ("inf", "ValueError: step returned the reward -inf"),
        ("text", "TypeError: "),
    ],
)
def test_a_step_that_fails_costs_its_own_episode(action: str, error: str) -> None:
    vector = started(3)

    step = vector.step(["a", action, "a"])

    assert step.rewards.tolist() == [1.0, 0.0, 1.0]
    assert step.terminated.tolist() == [False, False, False]
    assert step.truncated.tolist() == [False, True, False]
    assert step.observations == ["1", first_of(1, 1), "1"]
    assert step.infos[1]["final_observation"] == ""
    assert step.infos[1]["final_info"]["stop_reason"] == "env_error"
    assert step.infos[1]["final_info"]["error"].startswith(error)
    assert vector.step(["a", "a", "a"]).observations == ["2", "1", "2"]


def test_an_environment_that_failed_is_closed_and_made_anew(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", num_envs=2)
    vector.reset()
    vector.step(["a", "raise"])

    assert [env.closed for env in faulty.made] == [[], [1], []]
    assert isinstance(vector, SyncVectorEnv)
    assert list(vector.envs) == [faulty.made[0], faulty.made[2]]


@pytest.mark.parametrize("autoreset", ["next_step", "off"])
def test_without_same_step_the_failure_is_the_steps_own_info(autoreset: Any) -> None:
    step = started(1, autoreset=autoreset).step(["raise"])

    assert (step.observations, step.truncated.tolist()) == ([""], [True])
    assert step.infos == [{"stop_reason": "env_error", "error": "RuntimeError: out of order"}]


def test_off_makes_a_failed_environment_anew_at_its_reset(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", autoreset="off", seed=5)
    vector.reset()
    vector.step(["raise"])

    assert vector.reset(indices=[0])[0] == [first_of(0, 1)]
    assert len(faulty.made) == 2


def test_a_reset_that_fails_costs_its_own_episode(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", num_envs=2, seed=5)
    faulty.reset_faults.append("no table")

    observations, infos = vector.reset()

    assert observations == ["", first_of(1, 0)]
    assert infos[0] == {"stop_reason": "env_error", "error": "RuntimeError: no table"}
    step = vector.step(["a", "a"])
    assert step.observations == [first_of(0, 1), "1"]
    assert (step.rewards.tolist(), step.truncated.tolist()) == ([0.0, 1.0], [False, False])


def test_a_reset_that_fails_after_an_end_is_told_beside_that_end(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", seed=5)
    vector.reset()
    vector.step(["a"])
    vector.step(["a"])
    faulty.reset_faults.extend(["still none", "no table"])

    end, later = vector.step(["a"]), vector.step(["a"])

    assert (end.terminated.tolist(), end.observations) == ([True], [""])
    assert end.infos[0]["final_observation"] == "3"
    assert end.infos[0]["error"] == "RuntimeError: no table"
    assert (later.truncated.tolist(), later.rewards.tolist()) == ([True], [0.0])
    assert later.infos == [{"stop_reason": "env_error", "error": "RuntimeError: still none"}]
    assert vector.step(["a"]).observations == [first_of(0, 3)]


def test_one_that_cannot_be_made_anew_is_tried_again(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", seed=5)
    vector.reset()
    faulty.make_faults.append("no memory")

    failed = vector.step(["raise"])

    assert failed.infos[0]["error"] == "RuntimeError: no memory"
    assert failed.infos[0]["final_info"]["error"] == "RuntimeError: out of order"
    assert vector.step(["a"]).observations == [first_of(0, 2)]
    assert vector.step(["a"]).observations == ["1"]


def test_one_that_cannot_be_closed_is_replaced_with_a_warning(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", seed=5)
    vector.reset()
    faulty.close_faults.append("stuck")

    with pytest.warns(RuntimeWarning, match=r"Closing environment 0 failed: RuntimeError: stuck"):
        step = vector.step(["raise"])

    assert step.observations == [first_of(0, 1)]


def test_an_interrupt_reaches_the_caller_and_the_vector_lives_on() -> None:
    class Interrupted(Count):
        def step(self, action: str) -> Step:
            if action == "stop":
                raise KeyboardInterrupt
            return super().step(action)

    vector = SyncVectorEnv([Interrupted, Interrupted], seed=5)
    vector.reset()

    with pytest.raises(KeyboardInterrupt):
        vector.step(["a", "stop"])

    step = vector.step(["a", "a"])
    assert step.observations == ["2", first_of(1, 1)]
    assert step.truncated.tolist() == [False, True]


def test_a_live_argument_survives_being_made_anew() -> None:
    words = iter("xyz")
    layer: Callable[[Any], Any] = lambda observation: next(words)  # noqa: E731
    vector = make_vec("vec:Count", wrappers=[{"id": "transform_observation", "function": layer}])
    vector.reset()

    assert vector.step(["raise"]).observations == ["y"]
    with pytest.raises(OpaqueError):
        gem.make(vector.specs[0] or EnvSpec(id="vec:Count", target="a:b"))


# closing


def test_closing_closes_every_environment_once(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", num_envs=3)
    vector.close()
    vector.close()

    assert [env.closed for env in faulty.made] == [[1], [1], [1]]


def test_closing_goes_on_past_one_that_raises(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", num_envs=3)
    faulty.close_faults.append("stuck")

    with pytest.raises(RuntimeError, match="stuck"):
        vector.close()

    assert [env.closed for env in faulty.made] == [[1], [1], [1]]


def test_leaving_the_block_closes_even_after_an_error(faulty: type[Faulty]) -> None:
    with pytest.raises(ValueError, match="mine"), make_vec("vec:Faulty"):
        raise ValueError("mine")

    assert faulty.made[0].closed == [1]


@pytest.mark.parametrize("use", [lambda v: v.reset(), lambda v: v.step(["a"])])
def test_a_closed_vector_refuses_further_use(use: Callable[[VectorEnv], object]) -> None:
    vector = started(1)
    vector.close()

    with pytest.raises(EnvClosed, match=r"after close\. Make another vector"):
        use(vector)


def test_a_dropped_environment_is_let_go(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty")
    vector.reset()
    vector.step(["raise"])
    faulty.made.clear()
    gc.collect()

    assert sum(isinstance(each, faulty) for each in gc.get_objects()) == 1

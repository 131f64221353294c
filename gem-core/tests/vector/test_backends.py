"""What every backend of a vector does, whatever it runs on: the same episodes, `send`, `recv`."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gem
from gem._python.seeding import episode_seed, stream
from gem.env import Env
from gem.env._step import Step
from gem.errors import BadArguments, EnvBusy, EnvClosed, EnvUsageError, ResetNeeded
from gem.testing._report import CheckLine
from gem.testing._subject import Subject
from gem.testing._table import CHECKS
from gem.vector import IndexedStep, VectorEnv, make_vec

BACKENDS = ["sync", "thread"]
EPISODES = 3


class Walk(Env):
    """Walk by chance, for a number of turns that is chance as well. Some actions do harm."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.place, self.left = self.rng.randrange(100), self.rng.randrange(1, 6)
        return f"at {self.place}", {"left": self.left}

    def step(self, action: str) -> Step:
        if action == "raise":
            raise RuntimeError("out of order")
        self.place += self.rng.choice([-1, 1]) * len(action)
        self.left -= 1
        for _ in range(self.place % 7):
            os.sched_yield()  # so that threads take turns in many orders
        return Step(f"at {self.place}", self.place / 7, self.left <= 0, False, {"left": self.left})


@pytest.fixture(autouse=True)
def _envs_are_registered() -> None:
    gem.register("vec:Walk", Walk)
    for name in ("Guess", "Lamps", "Echo"):
        gem.register(f"vec:{name}", f"gem.testing.envs:{name}")


def first_of(index: int, episode: int) -> str:
    return str(Walk().reset(seed=episode_seed(5, index, episode))[0])


@pytest.fixture(params=BACKENDS)
def vector(request: pytest.FixtureRequest) -> Iterator[VectorEnv]:
    with make_vec("vec:Walk", num_envs=6, backend=request.param, seed=5) as made:
        made.reset()
        yield made


# the same episodes


class Tale:
    """What one environment went through, as a hash, and the actions it is given."""

    def __init__(self, index: int) -> None:
        self._hash, self._rng, self.episodes = hashlib.blake2b(), stream("tale", index), 0

    def action(self) -> str:
        return self._rng.choice(["raise", "1", "2", "aa", "\\boxed{3}", "\\boxed{9}"])

    def add(self, *told: Any) -> None:
        self._hash.update(json.dumps(told, sort_keys=True).encode())

    def step(self, step: IndexedStep, at: int) -> None:
        flags = bool(step.terminated[at]), bool(step.truncated[at])
        self.add(step.observations[at], float(step.rewards[at]), flags, step.infos[at])
        self.episodes += any(flags)


def fingerprints(backend: str, batches: int | None) -> list[str]:
    """Run 256 mixed environments for 3 episodes each: together, or in batches by this seed."""
    ids = ["vec:Walk", "vec:Guess", "vec:Lamps", "vec:Echo"]
    order = stream("order", batches or 0)
    with make_vec(ids, num_envs=256, backend=backend, seed=3) as vector:
        tales = [Tale(index) for index in range(256)]
        for tale, *start in zip(tales, *vector.reset(), strict=True):
            tale.add(*start)
        idle, in_flight = list(range(256)), 0
        while idle or in_flight:
            order.shuffle(idle)
            sent = idle if batches is None else idle[: order.randint(1, 99)]
            idle = idle[len(sent) :]
            vector.send({index: tales[index].action() for index in sent})
            in_flight += len(sent)
            step = vector.recv(in_flight if batches is None else order.randint(1, in_flight))
            in_flight -= len(step.indices)
            for at, index in enumerate(step.indices):
                tales[index].step(step, at)
            idle += [index for index in step.indices if tales[index].episodes < EPISODES]
    return [tale._hash.hexdigest() for tale in tales]


@pytest.mark.parametrize("backend", BACKENDS)
def test_episodes_are_the_same_on_every_backend_and_in_any_order(backend: str) -> None:
    reference = fingerprints("sync", None)

    assert [fingerprints(backend, batches) for batches in (None, 1, 2)] == [reference] * 3
    assert len(set(reference)) > 200


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_lock_step_is_the_same_on_every_backend(backend: str, autoreset: Any) -> None:
    def played(backend: str) -> list[object]:
        options: Any = {"autoreset": autoreset, "seed": 1}
        with make_vec("vec:Walk", num_envs=8, backend=backend, **options) as vector:
            shown: list[object] = [vector.reset(), vector.reset(indices=[3, 1])]
            for turn in range(20):
                actions = {index: "raise" if index == turn else "a" for index in (5, 0, 7, 2)}
                step = vector.step(actions)
                shown += [step.observations, step.rewards.tolist(), step.infos]
                shown += [step.terminated.tolist(), step.truncated.tolist()]
        return shown

    assert played(backend) == played("sync")


# send and recv


def test_what_was_sent_is_received_with_its_indices(vector: VectorEnv) -> None:
    vector.send({4: "a", 1: "a"})

    step = vector.recv(min_ready=2)

    assert isinstance(step, IndexedStep)
    assert sorted(step.indices) == [1, 4]
    assert len(step.observations) == len(step.rewards) == len(step.infos) == 2


def test_a_list_is_sent_to_all(vector: VectorEnv) -> None:
    vector.send(["a"] * 6)

    assert sorted(vector.recv(min_ready=6).indices) == list(range(6))


def test_every_batch_in_flight_is_received_once(vector: VectorEnv) -> None:
    vector.send({0: "a", 1: "a"})
    vector.send({2: "a"})
    vector.send({5: "a", 3: "a"})

    assert sorted(vector.recv(min_ready=9).indices) == [0, 1, 2, 3, 5]


def test_an_environment_can_be_sent_to_again_once_it_was_received(vector: VectorEnv) -> None:
    vector.send({0: "a"})
    vector.recv()
    vector.send({0: "a"})

    assert vector.recv().indices == [0]


def test_one_in_flight_is_refused_and_nothing_of_the_batch_is_sent(vector: VectorEnv) -> None:
    vector.send({0: "a", 2: "a"})

    with pytest.raises(EnvBusy, match=r"send was called for \[2\], whose last actions are in fl"):
        vector.send({1: "a", 2: "a"})

    assert sorted(vector.recv(min_ready=6).indices) == [0, 2]


@pytest.mark.parametrize("method", ["step", "reset"])
def test_lock_step_is_refused_while_something_is_in_flight(vector: VectorEnv, method: str) -> None:
    vector.send({0: "a", 3: "a"})
    uses: dict[str, Callable[[], object]] = {
        "step": lambda: vector.step({1: "a"}),
        "reset": lambda: vector.reset(1),
    }

    with pytest.raises(EnvBusy, match=rf"{method} .* 2 actions in flight.* recv\(min_ready=2\)"):
        uses[method]()

    assert sorted(vector.recv(min_ready=2).indices) == [0, 3]
    vector.reset(1)


def test_receiving_where_nothing_was_sent_is_refused(vector: VectorEnv) -> None:
    with pytest.raises(EnvUsageError, match="nothing in flight"):
        vector.recv()


def test_an_empty_batch_is_nothing_in_flight(vector: VectorEnv) -> None:
    vector.send({})

    with pytest.raises(EnvUsageError, match="nothing in flight"):
        vector.recv()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"min_ready": 0}, "min_ready=0 was asked for. It is an int from 1 on"),
        ({"min_ready": True}, "min_ready=True"),
        ({"timeout_s": -1}, "timeout_s=-1 was asked for. It is a number of seconds from 0 on"),
        ({"timeout_s": float("nan")}, "timeout_s=nan"),
    ],
)
def test_what_no_recv_can_keep_is_refused(
    vector: VectorEnv, options: dict[str, Any], what: str
) -> None:
    vector.send({0: "a"})

    with pytest.raises(BadArguments, match=what):
        vector.recv(**options)

    assert vector.recv().indices == [0]


def test_a_failure_costs_its_own_episode_in_flight_too(
    vector: VectorEnv, placed: Callable[[str, str], str]
) -> None:
    vector.send({0: "raise", 1: "a"})

    step = vector.recv(min_ready=2)

    failed, other = step.indices.index(0), step.indices.index(1)
    assert step.truncated[failed]
    assert step.observations[failed] == first_of(0, 1)
    assert step.infos[failed]["final_info"]["error"] == placed("RuntimeError: out of order", "step")
    assert "stop_reason" not in step.infos[other]


@pytest.mark.parametrize("backend", BACKENDS)
def test_off_refuses_to_send_to_an_ended_environment(backend: str) -> None:
    with make_vec("vec:Echo", num_envs=2, backend=backend, autoreset="off") as vector:
        vector.reset()
        vector.send({0: "a"})
        vector.recv()

        with pytest.raises(ResetNeeded, match=r"send was called for \[0\], whose episodes ended"):
            vector.send({0: "a", 1: "a"})

        vector.reset(indices=[0])
        vector.send({0: "a", 1: "a"})


@pytest.mark.parametrize("backend", BACKENDS)
def test_sending_before_the_first_reset_is_refused(backend: str) -> None:
    with (
        make_vec("vec:Walk", backend=backend) as vector,
        pytest.raises(ResetNeeded, match="send was called before the first reset"),
    ):
        vector.send(["a"])


def test_a_closed_vector_takes_and_gives_nothing(vector: VectorEnv) -> None:
    vector.send({0: "a"})
    vector.close()

    with pytest.raises(EnvClosed, match="recv was called after close"):
        vector.recv()
    with pytest.raises(EnvClosed, match="send was called after close"):
        vector.send({1: "a"})


# send and recv in the caller's own thread


def test_sync_carries_out_as_many_as_are_asked_for() -> None:
    with make_vec("vec:Walk", num_envs=3, seed=5) as vector:
        vector.reset()
        vector.send(["a"] * 3)

        assert vector.recv(min_ready=2).indices == [0, 1]
        assert vector.recv(min_ready=2).indices == [2]


def test_sync_stops_at_the_timeout_after_one_step_or_more() -> None:
    with make_vec("vec:Walk", num_envs=3, seed=5) as vector:
        vector.reset()
        vector.send(["a"] * 3)

        assert vector.recv(min_ready=3, timeout_s=0).indices == [0]
        assert vector.recv(min_ready=3, timeout_s=1000).indices == [1, 2]


def test_an_interrupt_in_recv_loses_no_result(placed: Callable[[str, str], str]) -> None:
    class Stops(Walk):
        def step(self, action: str) -> Step:
            if action == "stop":
                raise KeyboardInterrupt
            return super().step(action)

    gem.register("vec:Stops", Stops)
    with make_vec("vec:Stops", num_envs=3, seed=5) as vector:
        vector.reset()
        vector.send({0: "a"})
        vector.send({1: "stop"})
        vector.send({2: "a"})
        with pytest.raises(KeyboardInterrupt):
            vector.recv(min_ready=3)

        step = vector.recv(min_ready=3)

        assert (step.indices, step.truncated.tolist()) == ([0, 1, 2], [False, True, False])
        assert step.infos[1]["final_info"]["error"] == placed("KeyboardInterrupt", "step")


# the check of an environment


def vectors_line(env: str) -> CheckLine:
    [line] = [each for each in CHECKS if each.name == "vectors"]
    return line.line(Subject(env))


def test_a_check_compares_every_backend_that_is_present(install: Callable[..., Path]) -> None:
    manifest = """
    from gem.specs import ExecutorSpec, PluginManifest

    absent = ExecutorSpec(id="afar", target="acme_afar.runs:Afar", requires=("no-such-package",))
    plugin = PluginManifest(name="acme", executors=(absent,))
    """
    install("acme-afar", manifest=manifest)

    line = vectors_line("vec:Lamps")

    compared, _, how = line.evidence.partition("; ")
    assert (line.state, how) == ("passed", "6 environments in lock-step")
    assert {"sync", "process", "thread"} <= set(compared.split(", "))
    assert "afar" not in compared


def test_a_check_compares_the_backends_that_are_asked_for() -> None:
    [line] = [each for each in CHECKS if each.name == "vectors"]
    evidence = line.line(Subject("vec:Lamps", backends=["thread"])).evidence

    assert evidence == "thread; 6 environments in lock-step"


def test_a_check_on_a_backend_that_is_not_there_says_so() -> None:
    with pytest.raises(BadArguments, match="'procss' was asked for"):
        Subject("vec:Lamps", backends=["procss"])


def test_a_check_names_the_backend_that_differs() -> None:
    class TellsThreads(Walk):
        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            return f"{threading.current_thread() is threading.main_thread()}", {}

        def step(self, action: str) -> Step:
            return Step("", 0.0, True, False, {})

    gem.register("vec:TellsThreads", TellsThreads)

    line = vectors_line("vec:TellsThreads")

    assert line.state == "failed"
    assert (
        "environment 0, alone and in a vector (thread): observation at the reset" in line.evidence
    )

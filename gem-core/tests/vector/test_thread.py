"""The backend `thread`: environments that wait, hang or fail, and threads that end."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import gem
from gem._python.seeding import episode_seed
from gem.env import Env
from gem.env._step import Step
from gem.errors import BadArguments, ResetNeeded
from gem.hosting._threads import ThreadHost
from gem.vector import ThreadVectorEnv, VectorEnv, make_vec
from gem.vector._hosted import HostedVectorEnv

SHORT_S = 0.5  # what a hanging step is waited for; no other step takes any time


class Gated(Env):
    """Wait where a test tells it to, until the test opens the gate."""

    gate = threading.Event()
    arrived: threading.Semaphore
    made = 0
    hang_next = ""  # "make" or "reset": where the next instance, or reset, hangs
    closed: list[Gated] = []  # noqa: RUF012 - the class keeps it on purpose

    def __init__(self) -> None:
        type(self).made += 1
        if self.hangs("make"):
            self.wait()

    def hangs(self, where: str) -> bool:
        if self.hang_next != where:
            return False
        type(self).hang_next = ""
        return True

    def wait(self) -> None:
        self.arrived.release()
        self.gate.wait()

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        if self.hangs("reset"):
            self.wait()
        return f"from {self.rng.randrange(1000)}", {}

    def step(self, action: str) -> Step:
        if action == "wait":
            self.wait()
        if action == "interrupt":
            raise KeyboardInterrupt
        return Step(f"{self.turn + 1}", 1.0, action == "end", False, {})

    def close(self) -> None:
        self.closed.append(self)


def threads() -> list[threading.Thread]:
    return [
        thread
        for thread in threading.enumerate()
        if thread.name in ("gem-environments", "gem-watcher")
    ]


@pytest.fixture(autouse=True)
def _every_thread_ends() -> Iterator[None]:
    Gated.gate, Gated.arrived = threading.Event(), threading.Semaphore(0)
    Gated.made, Gated.hang_next = 0, ""
    Gated.closed.clear()
    gem.register("vec:Gated", Gated)
    yield
    Gated.gate.set()
    for thread in threads():
        thread.join()


def started(number: int = 3, **options: Any) -> VectorEnv:
    vector = make_vec("vec:Gated", num_envs=number, backend="thread", seed=5, **options)
    vector.reset()
    return vector


def host_of(vector: VectorEnv) -> ThreadHost:
    assert isinstance(vector, HostedVectorEnv)
    assert isinstance(vector.host, ThreadHost)
    return vector.host


def first_of(index: int, episode: int) -> str:
    return str(Gated().reset(seed=episode_seed(5, index, episode))[0])


def step_timeout(info: dict[str, Any]) -> bool:
    return info.get("stop_reason") == "step_timeout" and f"within {SHORT_S} s" in info["error"]


# making


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"num_workers": 0}, "num_workers=0 was asked for. It is an int from 1 on"),
        ({"num_workers": True}, "num_workers=True"),
        ({"step_timeout_s": 0}, "step_timeout_s=0 was asked for. It is a number of seconds above"),
    ],
)
def test_what_no_thread_can_keep_is_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(BadArguments, match=what):
        make_vec("vec:Gated", backend="thread", **options)


def test_there_are_as_many_threads_as_asked_for_and_no_more_than_environments() -> None:
    for number, num_workers in [(4, 2), (2, 5)]:
        with started(number, num_workers=num_workers) as vector:
            shared = host_of(vector)._shared
            assert (len(shared.threads), shared.most_threads) == (2, 2)


def test_who_start_threads_at_once_start_none_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine one who watches the commands counts threads while others are started.
    start = threading.Thread.start

    def start_slowly(thread: threading.Thread) -> None:
        time.sleep(0.01)
        start(thread)

    with started(4, num_workers=3) as vector:
        shared = host_of(vector)._shared
        shared.threads.clear()
        callers = [threading.Thread(target=shared.start_threads, args=(2,)) for _ in range(4)]
        monkeypatch.setattr(threading.Thread, "start", start_slowly)
        for caller in callers:
            start(caller)
        for caller in callers:
            caller.join()
        assert len(shared.threads) == 2


def test_every_environment_that_waits_gets_a_thread() -> None:
    with started(100) as vector:
        assert len(threads()) < 100  # steps that do not wait share a few
        vector.send(["wait"] * 100)
        assert vector.recv(timeout_s=0.001).indices == []
        while len(threads()) < 100:
            vector.recv(timeout_s=0.001)
        for _ in range(100):
            Gated.arrived.acquire()
        Gated.gate.set()

        assert sorted(vector.recv(min_ready=100).indices) == list(range(100))


def test_where_one_cannot_be_made_the_others_are_closed_and_no_thread_is_left() -> None:
    def fails() -> Env:
        raise RuntimeError("third")

    with pytest.raises(RuntimeError, match="third"):
        ThreadVectorEnv([Gated, Gated, fails])

    assert (len(Gated.closed), threads()) == (2, [])


def test_specs_and_environments_are_in_order() -> None:
    vector = make_vec(["vec:Gated", "demo:Gated"][:1], num_envs=2, backend="thread")

    with vector:
        assert [spec and spec.id for spec in vector.specs] == ["vec:Gated"] * 2
        assert [type(env) for env in host_of(vector).envs.values()] == [Gated] * 2


# waiting


def test_environments_wait_together() -> None:
    with started(3) as vector:
        vector.send(["wait"] * 3)
        for _ in range(3):
            Gated.arrived.acquire()
        Gated.gate.set()

        assert sorted(vector.recv(min_ready=3).indices) == [0, 1, 2]


def test_resets_wait_together() -> None:
    class Meeting(Env):
        party = threading.Barrier(3)

        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            self.party.wait()
            return "all here", {}

    with ThreadVectorEnv([Meeting] * 3) as vector:
        assert vector.reset()[0] == ["all here"] * 3


def test_the_slowest_holds_up_no_other() -> None:
    with started(3, num_workers=2) as vector:
        vector.send(["wait", "a", "a"])
        done = vector.recv(min_ready=2)
        vector.send({1: "a"})

        assert (sorted(done.indices), vector.recv().indices) == ([1, 2], [1])
        Gated.gate.set()
        assert vector.recv().indices == [0]


def test_at_the_timeout_there_is_what_is_ready() -> None:
    with started(2) as vector:
        vector.send(["wait", "a"])
        ready = vector.recv(min_ready=1)

        late = vector.recv(timeout_s=0)

        assert (ready.indices, late.indices, late.rewards.tolist()) == ([1], [], [])
        Gated.gate.set()
        assert vector.recv().indices == [0]


def test_an_interrupt_that_an_environment_raises_costs_its_own_episode(
    placed: Callable[[str, str], str],
) -> None:
    with started(2, autoreset="off") as vector:
        step = vector.step(["interrupt", "a"])

    assert (step.truncated.tolist(), step.observations) == ([True, False], ["", "1"])
    assert step.infos[0]["error"] == placed("KeyboardInterrupt", "step")


# hanging


def test_a_late_step_costs_its_own_episode_and_holds_up_no_neighbour() -> None:
    vector = started(4, num_workers=1, step_timeout_s=SHORT_S)
    step = vector.step(["a", "wait", "a", "a"])
    after = vector.step(["a"] * 4)
    with pytest.warns(RuntimeWarning, match=r"calls of its environments \[1\] went on"):
        vector.close()

    assert step.truncated.tolist() == [False, True, False, False]
    assert step.observations == ["1", first_of(1, 1), "1", "1"]
    assert step.rewards.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert step.infos[1]["final_observation"] == ""
    assert step_timeout(step.infos[1]["final_info"])
    assert after.observations == ["2", "1", "2", "2"]


def test_what_comes_late_is_dropped_and_its_environment_closed() -> None:
    with started(1, step_timeout_s=SHORT_S) as vector:
        [former] = host_of(vector).envs.values()
        hung = set(threads())
        vector.step(["wait"])
        Gated.gate.set()
        for thread in hung:
            thread.join()

        assert Gated.closed == [former]
        assert vector.step(["a"]).observations == ["1"]


def test_what_comes_late_is_not_taken_for_its_successors_answer() -> None:
    with started(1, step_timeout_s=SHORT_S) as vector:
        hung = set(threads())
        vector.step(["wait"])
        host_of(vector)._timeout_s = 60.0  # its successor has the time that it needs
        first, Gated.gate = Gated.gate, threading.Event()
        vector.send(["wait"])
        first.set()
        for thread in hung:
            thread.join()
        Gated.gate.set()
        step = vector.recv()

        assert (step.indices, step.observations) == ([0], ["1"])
        assert vector.step(["a"]).observations == ["2"]


@pytest.mark.parametrize("autoreset", ["next_step", "off"])
def test_without_same_step_the_late_one_waits_for_its_reset(autoreset: Any) -> None:
    vector = started(1, autoreset=autoreset, step_timeout_s=SHORT_S)
    step = vector.step(["wait"])
    assert host_of(vector).envs == {}
    observations, _ = vector.reset()
    with pytest.warns(RuntimeWarning, match="went on"):
        vector.close()

    assert (step.observations, step.truncated.tolist()) == ([""], [True])
    assert step_timeout(step.infos[0])
    assert observations == [first_of(0, 1)]


def test_a_late_reset_leaves_the_environment_to_its_next_step() -> None:
    vector = started(2, step_timeout_s=SHORT_S)
    Gated.hang_next = "reset"
    observations, infos = vector.reset(indices=[1])
    step = vector.step({1: "a"})
    with pytest.warns(RuntimeWarning, match="went on"):
        vector.close()

    assert observations == [""]
    assert step_timeout(infos[0])
    assert step.observations == [first_of(1, 2)]


def test_a_late_reset_after_an_end_leaves_that_end_as_it_was() -> None:
    vector = started(1, step_timeout_s=SHORT_S)
    Gated.hang_next = "reset"
    end = vector.step(["end"])
    step = vector.step(["a"])
    with pytest.warns(RuntimeWarning, match="went on"):
        vector.close()

    assert (end.terminated.tolist(), end.rewards.tolist()) == ([True], [1.0])
    assert end.infos[0]["final_observation"] == "1"
    assert step_timeout(end.infos[0])
    assert step.observations == [first_of(0, 2)]


def test_one_that_hangs_while_it_is_made_anew_is_tried_again() -> None:
    vector = started(1, step_timeout_s=SHORT_S)
    vector.send(["wait"])
    Gated.arrived.acquire()
    Gated.hang_next = "make"
    end = vector.recv()
    step = vector.step(["a"])
    with pytest.warns(RuntimeWarning, match=r"\[0, 0\] went on"):
        vector.close()

    assert step_timeout(end.infos[0])
    assert step_timeout(end.infos[0]["final_info"])
    assert step.observations == [first_of(0, 2)]


# closing


def test_closing_leaves_no_thread() -> None:
    vector = started(3)
    vector.close()
    vector.close()

    assert threads() == []
    assert len(Gated.closed) == 3


def test_closing_waits_for_what_runs_and_drops_what_has_not_begun() -> None:
    vector = started(3, num_workers=1)
    vector.send(["wait", "a", "a"])
    Gated.arrived.acquire()
    Gated.gate.set()
    vector.close()

    assert threads() == []


def test_closing_leaves_a_hanging_step_behind_and_says_so() -> None:
    vector = started(2, num_workers=1, step_timeout_s=SHORT_S)
    vector.send({1: "wait", 0: "never begun"})
    Gated.arrived.acquire()

    with pytest.warns(RuntimeWarning, match=r"closed while calls of its environments \[1\] went"):
        vector.close()

    assert (len(threads()), len(Gated.closed)) == (1, 1)


def test_closing_goes_on_past_one_that_raises() -> None:
    class Stuck(Gated):
        def close(self) -> None:
            super().close()
            raise RuntimeError("stuck")

    vector = ThreadVectorEnv([Stuck, Gated])
    with pytest.warns(RuntimeWarning, match="Closing an environment failed: RuntimeError: stuck"):
        vector.close()

    assert (threads(), len(Gated.closed)) == ([], 2)


def test_a_vector_that_is_dropped_ends_its_threads() -> None:
    vector: VectorEnv | None = started(3)
    mine = threads()
    vector = None
    gc.collect()
    for thread in mine:
        thread.join()

    assert (vector, threads()) == (None, [])


def test_an_error_in_the_block_leaves_no_thread() -> None:
    with pytest.raises(ResetNeeded), make_vec("vec:Gated", backend="thread") as vector:
        vector.step(["a"])

    assert threads() == []

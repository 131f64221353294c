"""The port, on hosts of this process: what commands lead to, wherever they are done."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.env import Env
from gem.env._step import Step
from gem.errors import GemError, OpaqueError
from gem.hosting import ASK, DROP, MAKE, RESET, STEP, Failure, Host
from gem.hosting._in_thread import InThreadHost
from gem.hosting._processes import ProcessHost
from gem.hosting._threads import ThreadHost
from gem.rollouts import count_tasks, seats_of
from gem.rollouts._options import RolloutOptions
from gem.specs import EnvSpec


class Frail(Env):
    """Fails where it is told to; `sticks` keeps it from being closed."""

    num_tasks = 3
    made = 0
    gate = threading.Event()

    def __init__(self, *, sticks: bool = False) -> None:
        type(self).made += 1
        self.sticks = sticks

    def reset(self, seed: int | None = None, task: int | None = None) -> tuple[str, dict[str, Any]]:
        return f"from {seed}", {}

    def step(self, action: str) -> Step:
        if action == "wait":
            self.gate.wait()
        if action == "raise":
            raise RuntimeError("out of order")
        return Step("on", 1.0, action == "end", False, {})

    def close(self) -> None:
        if self.sticks:
            raise RuntimeError("stuck")


@pytest.fixture(params=[InThreadHost, ThreadHost])
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    Frail.made, Frail.gate = 0, threading.Event()
    with request.param() as made:
        yield made
        Frail.gate.set()


def outcome_of(host: Host, *command: Any) -> Any:
    host.submit([command])
    [(slot, outcome)] = host.collect(1)
    assert slot == command[1]
    return outcome


def test_a_reset_makes_what_was_never_made(host: Host) -> None:
    slot = host.open(Frail)

    assert outcome_of(host, RESET, slot, 7, {}, 0)[0] == "from 7"
    assert Frail.made == 1


def test_a_failure_stands_for_every_answer_until_the_next_reset(
    host: Host, placed: Callable[[str, str], str]
) -> None:
    slot = host.open(Frail)
    outcome_of(host, RESET, slot, 7, {}, 0)
    failure = Failure("env_error", placed("RuntimeError: out of order", "step"))

    outcomes = [outcome_of(host, STEP, slot, action) for action in ("raise", "on")]

    assert [*outcomes, outcome_of(host, ASK, slot, "solve")] == [failure] * 3
    assert outcome_of(host, RESET, slot, 8, {}, 0)[0] == "from 8"
    assert Frail.made == 2


def test_what_was_given_up_is_made_anew(host: Host) -> None:
    slot = host.open(Frail)
    outcome_of(host, RESET, slot, 7, {}, 0)
    host.give_up(slot)

    assert outcome_of(host, RESET, slot, 8, {}, 0)[0] == "from 8"
    assert Frail.made == 2


def test_a_drop_that_fails_is_warned_of_and_frees_the_slot(host: Host) -> None:
    slot = host.open(lambda: Frail(sticks=True))
    outcome_of(host, MAKE, slot)

    with pytest.warns(RuntimeWarning, match="Closing an environment failed: RuntimeError: stuck"):
        assert outcome_of(host, DROP, slot) is None


def test_an_environment_that_cannot_help_is_well(host: Host) -> None:
    slot = host.open(Frail)
    outcome_of(host, RESET, slot, 7, {}, 0)

    assert isinstance(outcome_of(host, ASK, slot, "sample_action"), Failure)
    assert outcome_of(host, STEP, slot, "on")[0] == "on"
    assert Frail.made == 1


def test_nothing_is_stopped_where_nothing_is_done(host: Host) -> None:
    slot = host.open(Frail)
    host.stop(slot)

    assert outcome_of(host, RESET, slot, 7, {}, 0)[0] == "from 7"


def test_a_call_on_a_thread_that_nobody_wants_is_left_behind() -> None:
    Frail.gate = threading.Event()
    with ThreadHost() as host:
        slot = host.open(Frail)
        outcome_of(host, RESET, slot, 7, {}, 0)
        host.submit([(STEP, slot, "wait")])
        assert host.collect(1, timeout_s=0.01) == []
        host.stop(slot)

        [(_, outcome)] = host.collect(1)

        assert (outcome.reason, host.left_behind) == ("step_timeout", [slot])
        assert outcome_of(host, RESET, slot, 8, {}, 0)[0] == "from 8"
        Frail.gate.set()
        for _, thread in host._late:
            thread.join()
        assert host.left_behind == []


def test_closes_that_hang_hold_up_no_close_that_does_not() -> None:
    gate = threading.Event()
    closed = []

    class Sticky(Frail):
        def close(self) -> None:
            if self.sticks:
                gate.wait()
            closed.append(self)

    # With one thread: whatever hangs is left behind, and another thread goes on.
    host = ThreadHost(most_threads=1, timeout_s=60)
    recipes = [partial(Sticky, sticks=sticks) for sticks in (True, True, False)]
    slots = [host.open(recipe) for recipe in recipes]
    for slot in slots:
        outcome_of(host, MAKE, slot)
    host._timeout_s = 0.3  # only now: nothing may be late before

    with pytest.warns(RuntimeWarning, match="does not come back") as warned:
        host.close()

    assert (len(warned), len(closed)) == (2, 1)
    gate.set()


def test_what_has_not_begun_has_an_outcome_though_nobody_wants_it() -> None:
    Frail.gate = threading.Event()
    with ThreadHost(most_threads=1) as host:
        slots = [host.open(Frail) for _ in range(2)]
        host.submit([(RESET, slot, 7, {}, 0) for slot in slots])
        host.collect(2)
        host.submit([(STEP, slot, "wait") for slot in slots])
        host.stop(slots[1])
        assert host.next_check_s() < 1
        assert host.collect(1, timeout_s=0.01) == []
        Frail.gate.set()

        assert sorted(slot for slot, _ in host.collect(2)) == slots


def test_what_was_never_made_is_dropped_and_a_host_is_closed_twice(host: Host) -> None:
    assert outcome_of(host, DROP, host.open(Frail)) is None
    host.close()


def test_a_close_that_hangs_on_the_event_loop_is_given_up() -> None:
    class Hanging(Env):
        async def areset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            return "from", {}

        async def astep(self, action: str) -> Step:
            return Step("", 1.0, True, False, {})

        async def aclose(self) -> None:
            await asyncio.Event().wait()

    spec = EnvSpec(id="host:Hanging", target=f"{__name__}:Hanging", blocking=False)
    gem.register(spec, Hanging)
    plan = [gem.rollouts.PlannedEpisode(0, 0, 0, 1, None)]

    async def play() -> None:
        run = gem.rollout(lambda _: "on", spec.id, plan=plan, step_timeout_s=0.5)
        assert [episode.error async for episode in run] == [None]

    with pytest.warns(RuntimeWarning, match=r"outlasts step_timeout_s=0\.5"):
        asyncio.run(play())


def test_a_host_of_this_thread_has_nothing_to_wait_for() -> None:
    with InThreadHost() as host:
        assert host.next_check_s() == 3600
        with pytest.raises(NotImplementedError, match="Call collect"):
            host.fileno()


def test_failures_that_say_the_same_are_the_same() -> None:
    assert len({Failure("env_error", "gone"), Failure("env_error", "gone")}) == 1
    assert Failure("env_error", "gone") != "gone"


def test_a_function_of_this_process_makes_nothing_in_another() -> None:
    with ProcessHost(1) as host, pytest.raises(OpaqueError, match="is a function of this one"):
        host.open(Frail)


# what a rollout asks


def register(**options: Any) -> None:
    gem.register(EnvSpec(id="host:Frail", target=f"{__name__}:Frail", **options), Frail)


def test_where_a_wrapper_may_block_the_environment_is_made_once_and_anew_if_it_fails(
    tmp_path: Path, placed: Callable[[str, str], str]
) -> None:
    Frail.made = 0
    register(blocking=False)
    layer = {"id": "record", "path": str(tmp_path / "log.jsonl")}
    plan = [gem.rollouts.PlannedEpisode(0, index, 0, index, None) for index in range(2)]

    def policy(request: gem.Request) -> str:
        return "end" if Frail.made == 2 else "raise"

    async def errors() -> list[str | None]:
        run = gem.rollout(policy, "host:Frail", plan=plan, concurrency=1, wrappers=[layer])
        return [episode.error async for episode in run]

    assert asyncio.run(errors()) == [placed("RuntimeError: out of order", "step"), None]
    assert Frail.made == 2


def test_an_idle_environment_of_the_event_loop_is_closed_with_its_run() -> None:
    register(blocking=False, kwargs={"sticks": True})

    async def play() -> None:
        run = gem.rollout(lambda _: "end", "host:Frail", episodes=9, concurrency=2)
        await anext(run)
        await run.aclose()

    with pytest.warns(RuntimeWarning, match="RuntimeError: stuck"):
        asyncio.run(play())


def test_tasks_are_counted_where_the_environments_live() -> None:
    register()

    assert count_tasks(["host:Frail"], RolloutOptions(backend="thread")) == [3]


def test_seats_are_named_where_the_environments_live() -> None:
    register()
    envs = ["host:Frail", "gem.testing.envs:Kuhn"]

    assert seats_of(envs, RolloutOptions(backend="thread")) == [("agent",), ("first", "second")]


def test_one_that_cannot_be_made_in_a_process_says_so_when_its_tasks_are_counted() -> None:
    options = RolloutOptions(backend="process", num_workers=1, env_kwargs={"harm": "raise"})

    with pytest.raises(GemError, match="The tasks of 'trouble:Walk' were asked for, and it cannot"):
        count_tasks("trouble:Walk", options)

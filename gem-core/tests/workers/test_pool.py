"""A pool of worker processes: batches, faults that cost one episode, episodes that go on."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import gem
from gem.content import Action, ToolCall
from gem.errors import BadArguments, EnvBusy, EnvClosed, GemError, OpaqueError, ResetNeeded
from gem.testing.envs import Guess
from gem.workers import ASK, DROP, MAKE, RESET, STEP, Failure, WorkerPool
from gem.workers.staff import StartMethod

METHODS = get_args(StartMethod)
TIMEOUT_S = 0.3


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(2, start_method="fork") as pool:
        yield pool


@pytest.fixture
def hasty() -> Iterator[WorkerPool]:
    with WorkerPool(1, start_method="fork", timeout_s=TIMEOUT_S) as pool:
        yield pool


def done(pool: WorkerPool, *commands: tuple[Any, ...]) -> dict[int, Any]:
    """Submit commands and return every outcome by slot."""
    pool.submit(commands)
    return dict(pool.collect(len(commands)))


def started(pool: WorkerPool, number: int, name: str = "Walk", **kwargs: Any) -> list[int]:
    """Open slots and reset them, each with its number as the seed."""
    slots = [pool.open(f"trouble:{name}", **kwargs) for _ in range(number)]
    done(pool, *((RESET, slot, slot) for slot in slots))
    return slots


def stepped(pool: WorkerPool, slots: list[int], action: str = "on") -> dict[int, Any]:
    return done(pool, *((STEP, slot, action) for slot in slots))


def shown(outcomes: Mapping[int, Any]) -> dict[int, Any]:
    """Return what the steps showed, without the info, where the process's id is."""
    return {slot: outcome[:4] for slot, outcome in outcomes.items()}


def alone(seed: int, *actions: str) -> list[Any]:
    """Step an environment of this process and return what each step showed."""
    with gem.make("trouble:Walk") as env:
        env.reset(seed=seed)
        return [tuple(env.step(action))[:4] for action in actions]


# calls


@pytest.mark.parametrize("method", METHODS)
def test_an_episode_is_the_same_in_whatever_process(method: StartMethod) -> None:
    with WorkerPool(2, start_method=method) as pool:
        slots = started(pool, 3)

        steps = [shown(stepped(pool, slots, action)) for action in ("a", "b")]

        assert len({*_processes(pool), os.getpid()}) == 3
    assert [[step[slot] for step in steps] for slot in slots] == [
        alone(slot, "a", "b") for slot in slots
    ]


def test_making_tells_what_the_environment_is(pool: WorkerPool) -> None:
    slot = pool.open("trouble:Walk", wrappers=["concat"], length=5)

    told = done(pool, (MAKE, slot))[slot]

    assert told["spec"]["kwargs"] == {"length": 5}
    assert (told["max_turns"], told["rewrites_history"]) == (5, True)


def test_a_wrapper_class_is_found_by_its_name(pool: WorkerPool) -> None:
    import troubled  # type: ignore[import-not-found]  # by the path that the fixture adds

    (slot,) = started(pool, 1, wrappers=[troubled.Loud])

    assert stepped(pool, [slot], "up")[slot][0].startswith("0: UP NONE AT")


def test_a_step_is_a_plain_tuple_of_its_five_fields(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1)
    step = stepped(pool, [slot])[slot]

    assert (type(step), len(step), step[2:4]) == (tuple, 5, (False, False))


def test_an_action_keeps_its_calls(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1)
    action = Action("go", tool_calls=[ToolCall("1", "search")])

    assert "go (ToolCall(id='1', name='search'" in stepped(pool, [slot], action)[slot][0]


def test_hints_are_answered_in_the_worker(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1)

    assert done(pool, (ASK, slot, "sample_action"))[slot].startswith("go ")
    assert done(pool, (ASK, slot, "solve")) == {slot: None}


def test_options_and_repeats_reach_the_reset(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1)
    samples = []
    for repeat in (0, 1, 1):
        done(pool, (RESET, slot, 7, {}, repeat))
        samples.append(done(pool, (ASK, slot, "sample_action"))[slot])

    assert samples[0] != samples[1] == samples[2]
    assert done(pool, (RESET, slot, 7, {"harm": "raise"}, 0))[slot].reason == "env_error"


def test_any_int_is_a_seed(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1)

    outcomes = [done(pool, (RESET, slot, seed)) for seed in (7, np.int64(7))]

    assert outcomes[0] == outcomes[1]


def test_slots_are_shared_out_evenly(pool: WorkerPool) -> None:
    slots = started(pool, 4)

    homes = [step[4]["pid"] for step in stepped(pool, slots).values()]

    assert sorted(homes.count(process) for process in _processes(pool)) == [2, 2]


def test_what_is_ready_is_collected_without_the_rest(pool: WorkerPool) -> None:
    slow, quick = started(pool, 2)
    pool.submit([(STEP, slow, "hang"), (STEP, quick, "a")])

    first = pool.collect(1)
    pool.stop(slow)
    rest = pool.collect(9)

    assert [[slot for slot, _ in ready] for ready in (first, rest)] == [[quick], [slow]]


def test_nothing_is_ready_where_nothing_is_under_way(pool: WorkerPool) -> None:
    assert pool.collect(1) == []


def test_waiting_has_an_end(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1)
    pool.submit([(STEP, slot, "hang")])

    assert pool.collect(1, timeout_s=0.01) == []
    pool._close_timeout_s = 0.01


def test_large_batches_cross_both_ways(pool: WorkerPool) -> None:
    slots = started(pool, 4)
    action = "x" * (1 << 20)

    assert all(action in step[0] for step in stepped(pool, slots, action).values())


def test_what_a_busy_worker_does_not_take_yet_is_sent_when_it_does() -> None:
    with WorkerPool(1, start_method="fork") as pool:
        busy, other = started(pool, 2)
        pool.submit([(STEP, busy, "hang")])
        pool.submit([(STEP, other, "x" * (4 << 20))])
        waited = pool._workers[0].channel.has_unsent
        pool.stop(busy)

        outcomes = dict(pool.collect(2))

    assert waited
    assert outcomes[busy].reason == "step_timeout"
    assert outcomes[other][0].startswith("0: xxx")


def test_with_fork_what_was_registered_live_is_there() -> None:
    class Own(Guess):
        pass

    gem.register("live:Own", Own, highest=5)
    with WorkerPool(1, start_method="fork") as pool:
        slot = pool.open("live:Own")

        assert done(pool, (MAKE, slot))[slot]["spec"]["kwargs"] == {"highest": 5}
    with WorkerPool(1) as pool, pytest.raises(OpaqueError, match="start_method='fork'"):
        pool.open("live:Own")


# use out of turn


def test_a_call_out_of_turn_is_refused_and_none_of_its_batch_is_sent(pool: WorkerPool) -> None:
    slots = started(pool, 2)
    new = pool.open("trouble:Walk")

    with pytest.raises(ResetNeeded, match=f"Slot {new} was called, and has no episode"):
        pool.submit([(STEP, slots[0], "a"), (STEP, new, "a")])
    with pytest.raises(EnvBusy, match="Collect its outcome first"):
        pool.submit([(STEP, slots[0], "a"), (STEP, slots[0], "a")])
    with pytest.raises(EnvClosed, match="no environment is in it"):
        pool.submit([(STEP, 99, "a")])
    assert shown(stepped(pool, slots, "a")) == {slot: alone(slot, "a")[0] for slot in slots}


def test_an_ended_episode_takes_no_step(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1, length=1)
    stepped(pool, [slot])

    with pytest.raises(ResetNeeded):
        pool.submit([(STEP, slot, "a")])
    done(pool, (RESET, slot, 7))
    assert shown(stepped(pool, [slot], "a"))[slot][0] == alone(7, "a")[0][0]


def test_an_action_that_is_no_data_costs_its_own_episode(pool: WorkerPool) -> None:
    slots = started(pool, 4)
    given: list[Any] = ["a", "a", object(), "a"]

    outcomes = done(pool, *((STEP, slot, a) for slot, a in zip(slots, given, strict=True)))

    assert outcomes[2] == Failure(
        "env_error", "TypeError: a command for another process holds more than plain data"
    )
    assert [outcomes[slot][:4] for slot in (0, 1, 3)] == [alone(s, "a")[0] for s in (0, 1, 3)]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"num_workers": 0}, "A pool of 0 workers"),
        ({"num_workers": 1, "start_method": "thread"}, "It is one of 'forkserver', 'spawn'"),
        ({"num_workers": 1, "timeout_s": 0}, "It is a number of seconds above 0"),
    ],
)
def test_a_pool_that_cannot_be_is_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(BadArguments, match=what):
        WorkerPool(**options)


# faults


@pytest.mark.parametrize(
    ("harm", "reason", "text"),
    [
        ("raise", "env_error", "RuntimeError: out of order"),
        ("leave", "env_error", "SystemExit: gone"),
        ("lambda", "env_error", "<lambda>"),
        ("unreadable", "env_error", "ValueError: invalid literal for int"),
        ("large", "env_error", "bytes, and 100,000 may pass between processes"),
        ("exit", "worker_lost", "its worker ended with status 3"),
        ("crash", "worker_lost", "its worker was ended by SIGSEGV"),
        ("memory", "worker_lost", "MemoryError"),
        ("hang", "step_timeout", "TimeoutError: the environment did not answer within 0.3 s"),
        ("deaf", "step_timeout", "TimeoutError: the environment did not answer within 0.3 s"),
    ],
)
def test_a_fault_costs_its_own_episode(harm: str, reason: str, text: str) -> None:
    limits: dict[str, Any] = {"most_memory_bytes": 32 << 30, "most_answer_bytes": 100_000}
    if reason == "step_timeout":  # how long a process takes to end is the machine's business
        limits["timeout_s"] = TIMEOUT_S
    with WorkerPool(1, start_method="fork", **limits) as pool:
        slots = started(pool, 5)
        stepped(pool, slots, "a")
        actions = ["b", "b", harm, "b", "b"]

        faulty = done(pool, *((STEP, s, a) for s, a in zip(slots, actions, strict=True)))
        failure = faulty.pop(2)
        others = [slot for slot in slots if slot != 2]
        later = stepped(pool, others, "c")
        again = done(pool, (RESET, 2, 2))
        first = stepped(pool, [2], "a")

    assert failure.reason == reason
    assert text in failure.text
    for slot in others:
        assert [faulty[slot][:4], later[slot][:4]] == alone(slot, "a", "b", "c")[1:]
    assert again[2][0].startswith("at ")
    assert first[2][:4] == alone(2, "a")[0]


@pytest.mark.parametrize(("harm", "reason"), [("raise", "env_error"), ("crash", "worker_lost")])
def test_a_fault_in_making_or_in_a_reset_is_an_outcome(
    pool: WorkerPool, harm: str, reason: str
) -> None:
    made, reset, well = (pool.open("trouble:Walk", **each) for each in ({"harm": harm}, {}, {}))

    outcomes = done(pool, (MAKE, made), (RESET, reset, 1, {"harm": harm}, 0), (RESET, well, 1))

    assert [outcomes[slot].reason for slot in (made, reset)] == [reason, reason]
    assert outcomes[well][0].startswith("at ")


def test_foreign_objects_come_through(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1)
    info = stepped(pool, [slot], "foreign")[slot][4]

    assert (info["f"], info["kind"].__name__) == (1j, "Walk")


def test_a_hung_step_is_interrupted_before_a_worker_is_killed(
    hasty: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = started(hasty, 2)
    with monkeypatch.context() as patch:
        patch.setattr("gem.workers.processes._GRACE_S", 60.0)
        stepped(hasty, slots[:1], "hang")
    assert (hasty.interrupts, hasty.restarts) == (1, 0)

    stepped(hasty, slots[1:], "deaf")
    assert (hasty.interrupts, hasty.restarts) == (2, 1)


def test_a_worker_that_hangs_between_steps_costs_nothing(hasty: WorkerPool) -> None:
    slots = started(hasty, 2)
    lingering = stepped(hasty, slots[:1], "linger")

    steps = shown(stepped(hasty, slots[1:], "a"))

    assert lingering[slots[0]][4] == {"f": 3}
    assert steps[slots[1]] == alone(slots[1], "a")[0]
    assert hasty.restarts == 1


def test_a_worker_that_is_killed_at_rest_costs_nothing(pool: WorkerPool) -> None:
    slots = started(pool, 4)
    stepped(pool, slots, "a")
    os.kill(_process(pool), signal.SIGKILL)

    steps = shown(stepped(pool, slots, "b"))

    assert [steps[slot] for slot in slots] == [alone(slot, "a", "b")[1] for slot in slots]


def test_what_comes_while_a_worker_is_replaced_waits_for_the_next(pool: WorkerPool) -> None:
    slots = started(pool, 2)
    os.kill(_process(pool), signal.SIGKILL)
    while not pool._workers[0].is_leaving:
        pool.pump(1)

    assert shown(stepped(pool, slots, "a")) == {slot: alone(slot, "a")[0] for slot in slots}


def test_what_a_worker_said_before_it_was_killed_still_counts() -> None:
    with WorkerPool(1, start_method="fork") as pool:
        slots = started(pool, 2, "Slow")
        pool.submit([(STEP, slots[0], "a"), (STEP, slots[1], "deaf")])
        worker = pool._workers[0]
        while worker._doing != 4:  # two resets, the slow step, the deaf one
            os.sched_yield()
        pool._dismiss(worker)

        outcomes = dict(pool.collect(2))

    assert outcomes[0][:4] == alone(0, "a")[0]
    assert outcomes[1] == Failure("worker_lost", "its worker was ended by SIGKILL")


def test_samples_go_on_after_a_loss(pool: WorkerPool) -> None:
    slots = started(pool, 2)
    with gem.make("trouble:Walk") as env:
        env.reset(seed=0)
        samples = [env.sample_action() for _ in range(2)]
    outcomes = [done(pool, (ASK, 0, "sample_action"))[0]]
    os.kill(_process(pool), signal.SIGKILL)

    outcomes.append(done(pool, (ASK, 0, "sample_action"))[0])

    assert (outcomes, slots) == (samples, [0, 1])


@pytest.mark.parametrize(("name", "replayed"), [("Slow", 1), ("Unsaved", 3)])
def test_a_slow_episode_is_restored_from_a_snapshot_where_there_is_one(
    pool: WorkerPool, name: str, replayed: int
) -> None:
    (slot,) = started(pool, 1, name)
    for action in "abc":
        stepped(pool, [slot], action)
    os.kill(_process(pool), signal.SIGKILL)

    assert len(pool._slots[slot]._actions) == replayed
    assert shown(stepped(pool, [slot], "d"))[slot] == alone(slot, *"abcd")[3]


def test_a_long_episode_is_saved_now_and_then(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem.workers.slots._SAVE_AFTER_STEPS", 2)
    monkeypatch.setattr("gem.workers.slots._SAVE_AFTER_S", math.inf)
    (slot,) = started(pool, 1)
    for action in "abcd":
        stepped(pool, [slot], action)

    assert pool._slots[slot]._actions == ["d"]


@pytest.mark.parametrize(
    ("harm", "text"),
    [
        ("raise", "Restoring it failed: RuntimeError: out of order"),
        ("crash", "SIGSEGV"),
        ("hang", "TimeoutError"),
        ("deaf", "TimeoutError"),
    ],
)
def test_a_fault_in_restoring_loses_that_episode_alone(
    hasty: WorkerPool, harm: str, text: str
) -> None:
    slots = started(hasty, 3, "ReplayHarm")
    home = stepped(hasty, slots, "a")[1][4]["pid"]
    stepped(hasty, [1], f"home {home} {harm}")
    os.kill(home, signal.SIGKILL)

    outcomes = stepped(hasty, slots, "b")
    failure = outcomes.pop(1)

    assert failure.reason == "worker_lost"
    assert text in failure.text
    assert shown(outcomes) == {slot: alone(slot, "a", "b")[1] for slot in (0, 2)}


def test_an_episode_that_does_not_follow_its_seed_is_lost_rather_than_changed(
    pool: WorkerPool,
) -> None:
    (slot,) = started(pool, 1, "Wandering")
    stepped(pool, [slot])
    os.kill(_process(pool), signal.SIGKILL)

    failure = stepped(pool, [slot])[slot]

    assert failure.reason == "worker_lost"
    assert "led to another observation" in failure.text


def test_what_is_under_way_is_stopped_on_request(pool: WorkerPool) -> None:
    hanging, other = started(pool, 2)
    pool.stop(other)  # nothing is under way in it
    pool.submit([(STEP, hanging, "hang")])
    pool.stop(hanging)

    [(slot, outcome)] = pool.collect()

    assert (slot, outcome.reason) == (hanging, "step_timeout")
    assert stepped(pool, [other])[other][2:4] == (False, False)


def test_an_episode_that_the_caller_gave_up_begins_anew(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1)
    pool.spoil(slot)

    with pytest.raises(ResetNeeded):
        pool.submit([(STEP, slot, "a")])
    assert done(pool, (RESET, slot, 1))[slot][0].startswith("at ")


def test_workers_that_never_come_up_lose_their_episodes_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with WorkerPool(1, start_method="fork") as pool:
        slots = [pool.open("trouble:Walk") for _ in range(2)]
        pool._hello = b"no message"
        os.kill(_process(pool), signal.SIGKILL)

        outcomes = done(pool, *((RESET, slot, 0) for slot in slots))

        assert {outcome.reason for outcome in outcomes.values()} == {"worker_lost"}
        assert pool.restarts == 3


def test_a_start_that_is_refused_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "no more processes")

    with monkeypatch.context() as patch:
        forks = iter([os.fork])  # the keeper is forked here, and forks there

        def fork() -> int:
            return next(forks, refused)()

        patch.setattr(os, "fork", fork)
        with WorkerPool(1, start_method="fork") as pool:
            slot = pool.open("trouble:Walk")
            outcome = done(pool, (RESET, slot, 0))[slot]

    assert outcome.reason == "worker_lost"
    assert outcome.text.startswith("its worker could not be started: Resource temporarily")


def _processes(pool: WorkerPool) -> tuple[int, ...]:
    """Return the ids of the workers once each has one: to kill process 0 would kill ourselves."""
    while 0 in pool.processes:
        pool.pump(1)
    return pool.processes


def _process(pool: WorkerPool) -> int:
    return _processes(pool)[0]


# dropping


def test_a_dropped_slot_is_closed_and_free(pool: WorkerPool) -> None:
    slots = started(pool, 2)
    never_made = pool.open("trouble:Walk")

    assert done(pool, (DROP, slots[0]), (DROP, never_made)) == {slots[0]: None, never_made: None}
    with pytest.raises(EnvClosed):
        pool.submit([(RESET, slots[0], 1)])


def test_a_drop_that_fails_is_warned_of(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1, "BadCloser")

    with pytest.warns(RuntimeWarning, match="Closing an environment failed: RuntimeError: out of"):
        assert done(pool, (DROP, slot)) == {slot: None}


# the keeper


def test_without_its_keeper_a_pool_says_so_and_is_closed(pool: WorkerPool) -> None:
    (slot,) = started(pool, 1)
    os.kill(pool._staff._forked, signal.SIGKILL)

    pool.submit([(STEP, slot, "hang")])
    with pytest.raises(GemError, match=r"the keeper of the workers ended\. Make another one"):
        pool.collect(1)
    with pytest.raises(EnvClosed):
        pool.collect()


def test_a_pool_of_many_descriptors_that_cannot_be_is_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_left() -> int:
        raise OSError(24, "Too many open files")

    before = set(map(str, Path("/proc/self/fd").iterdir()))
    monkeypatch.setattr("gem.workers.worker.new_beat", none_left)

    with pytest.raises(OSError, match="Too many"):
        WorkerPool(1, start_method="fork")

    assert set(map(str, Path("/proc/self/fd").iterdir())) <= before  # others' may be freed

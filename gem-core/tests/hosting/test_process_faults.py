"""A fault in a worker costs one episode, and the others go on in another process."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, EnvClosed, ResetNeeded
from gem.hosting import ASK, DROP, MAKE, RESET, STEP, Failure
from gem.hosting._processes import ProcessHost
from gem.hosting._recipes import Recipe

from .batches import TIMEOUT_S, alone, done, process_of, shown, started, stepped


@pytest.fixture
def hasty() -> Iterator[ProcessHost]:
    with ProcessHost(1, start_method="fork", timeout_s=TIMEOUT_S) as pool:
        yield pool


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
    with ProcessHost(1, start_method="fork", **limits) as pool:
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
    pool: ProcessHost, harm: str, reason: str
) -> None:
    recipes = [Recipe("trouble:Walk", (), kwargs) for kwargs in ({"harm": harm}, {}, {})]
    made, reset, well = map(pool.open, recipes)

    outcomes = done(pool, (MAKE, made), (RESET, reset, 1, {"harm": harm}, 0), (RESET, well, 1))

    assert [outcomes[slot].reason for slot in (made, reset)] == [reason, reason]
    assert outcomes[well][0].startswith("at ")


@pytest.mark.parametrize("name", ["StuckCloser", "HangingCloser"])
def test_a_slot_is_free_though_its_environment_does_not_close_in_time(
    hasty: ProcessHost, name: str
) -> None:
    (slot,) = started(hasty, 1, name)

    with pytest.warns(RuntimeWarning, match=r"did not answer within 0\.3 s"):
        assert done(hasty, (DROP, slot)) == {slot: None}

    with pytest.raises(EnvClosed):
        hasty.submit([(RESET, slot, 1)])


def test_foreign_objects_come_through(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1)
    info = stepped(pool, [slot], "foreign")[slot][4]

    assert (info["f"], info["kind"].__name__) == (1j, "Walk")


def test_a_hung_step_is_interrupted_before_a_worker_is_killed(
    hasty: ProcessHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = started(hasty, 2)
    with monkeypatch.context() as patch:
        patch.setattr("gem.hosting._processes._GRACE_S", 60.0)
        stepped(hasty, slots[:1], "hang")
    assert (hasty.interrupts, hasty.restarts) == (1, 0)

    stepped(hasty, slots[1:], "deaf")
    assert (hasty.interrupts, hasty.restarts) == (2, 1)


def test_a_worker_that_hangs_between_steps_costs_nothing(hasty: ProcessHost) -> None:
    slots = started(hasty, 2)
    lingering = stepped(hasty, slots[:1], "linger")

    steps = shown(stepped(hasty, slots[1:], "a"))

    assert lingering[slots[0]][4] == {"f": 3}
    assert steps[slots[1]] == alone(slots[1], "a")[0]
    assert hasty.restarts == 1


def test_a_worker_that_is_killed_at_rest_costs_nothing(pool: ProcessHost) -> None:
    slots = started(pool, 4)
    stepped(pool, slots, "a")
    os.kill(process_of(pool), signal.SIGKILL)

    steps = shown(stepped(pool, slots, "b"))

    assert [steps[slot] for slot in slots] == [alone(slot, "a", "b")[1] for slot in slots]


def test_what_comes_while_a_worker_is_replaced_waits_for_the_next(pool: ProcessHost) -> None:
    slots = started(pool, 2)
    os.kill(process_of(pool), signal.SIGKILL)
    while not pool._workers[0].is_leaving:
        pool.pump(1)

    assert shown(stepped(pool, slots, "a")) == {slot: alone(slot, "a")[0] for slot in slots}


def test_what_a_worker_said_before_it_was_killed_still_counts() -> None:
    with ProcessHost(1, start_method="fork") as pool:
        slots = started(pool, 2, "Slow")
        pool.submit([(STEP, slots[0], "a"), (STEP, slots[1], "deaf")])
        worker = pool._workers[0]
        while worker._doing != 4:  # two resets, the slow step, the deaf one
            os.sched_yield()
        pool._end(worker)

        outcomes = dict(pool.collect(2))

    assert outcomes[0][:4] == alone(0, "a")[0]
    assert outcomes[1] == Failure("worker_lost", "its worker was ended by SIGKILL")


def test_samples_go_on_after_a_loss(pool: ProcessHost) -> None:
    slots = started(pool, 2)
    with gem.make("trouble:Walk") as env:
        env.reset(seed=0)
        samples = [env.sample_action() for _ in range(2)]
    outcomes = [done(pool, (ASK, 0, "sample_action"))[0]]
    os.kill(process_of(pool), signal.SIGKILL)

    outcomes.append(done(pool, (ASK, 0, "sample_action"))[0])

    assert (outcomes, slots) == (samples, [0, 1])


@pytest.mark.parametrize(("name", "replayed"), [("Slow", 1), ("Unsaved", 3)])
def test_a_slow_episode_is_restored_from_a_snapshot_where_there_is_one(
    pool: ProcessHost, name: str, replayed: int
) -> None:
    (slot,) = started(pool, 1, name)
    for action in "abc":
        stepped(pool, [slot], action)
    os.kill(process_of(pool), signal.SIGKILL)

    assert len(pool._slots[slot]._actions) == replayed
    assert shown(stepped(pool, [slot], "d"))[slot] == alone(slot, *"abcd")[3]


@pytest.fixture
def never_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore episodes by their actions alone: after steps that a busy machine makes slow, too."""
    monkeypatch.setattr("gem.hosting._slots._SAVE_AFTER_S", math.inf)


@pytest.mark.usefixtures("never_saved")
def test_a_long_episode_is_saved_now_and_then(
    pool: ProcessHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem.hosting._slots._SAVE_AFTER_STEPS", 2)
    (slot,) = started(pool, 1)
    for action in "abcd":
        stepped(pool, [slot], action)

    assert pool._slots[slot]._actions == ["d"]


@pytest.mark.usefixtures("never_saved")
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
    hasty: ProcessHost, harm: str, text: str
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


@pytest.mark.usefixtures("never_saved")
def test_an_episode_that_does_not_follow_its_seed_is_lost_rather_than_changed(
    pool: ProcessHost,
) -> None:
    (slot,) = started(pool, 1, "Wandering")
    stepped(pool, [slot])
    os.kill(process_of(pool), signal.SIGKILL)

    failure = stepped(pool, [slot])[slot]

    assert failure.reason == "worker_lost"
    assert "led to another observation" in failure.text


def test_what_is_under_way_is_stopped_on_request(pool: ProcessHost) -> None:
    hanging, other = started(pool, 2)
    pool.stop(other)  # nothing is under way in it
    pool.submit([(STEP, hanging, "hang")])
    pool.stop(hanging)

    [(slot, outcome)] = pool.collect()

    assert (slot, outcome.reason) == (hanging, "step_timeout")
    assert stepped(pool, [other])[other][2:4] == (False, False)


def test_an_episode_that_the_caller_gave_up_begins_anew(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1)
    pool.give_up(slot)

    with pytest.raises(ResetNeeded):
        pool.submit([(STEP, slot, "a")])
    assert done(pool, (RESET, slot, 1))[slot][0].startswith("at ")


def test_workers_that_never_come_up_lose_their_episodes_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ProcessHost(1, start_method="fork") as pool:
        slots = [pool.open(Recipe("trouble:Walk")) for _ in range(2)]
        pool._hello = b"no message"
        os.kill(process_of(pool), signal.SIGKILL)

        outcomes = done(pool, *((RESET, slot, 0) for slot in slots))

        assert {outcome.reason for outcome in outcomes.values()} == {"worker_lost"}
        assert pool.restarts == 3


def test_a_start_that_is_refused_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "no more processes")

    with monkeypatch.context() as patch:
        forks = iter([os.fork])  # the supervisor is forked here, and forks there

        def fork() -> int:
            return next(forks, refused)()

        patch.setattr(os, "fork", fork)
        with ProcessHost(1, start_method="fork") as pool:
            slot = pool.open(Recipe("trouble:Walk"))
            outcome = done(pool, (RESET, slot, 0))[slot]

    assert outcome.reason == "worker_lost"
    assert outcome.text.startswith("its worker could not be started: Resource temporarily")


@pytest.mark.parametrize("limit", ["most_memory_bytes", "most_answer_bytes"])
@pytest.mark.parametrize("value", ["1", 0, True, 1.5])
def test_a_limit_that_is_no_number_of_bytes_is_refused_before_a_worker_starts(
    limit: str, value: Any
) -> None:
    with pytest.raises(BadArguments, match=f"{limit}={value!r} was asked for"):
        ProcessHost(1, **{limit: value})

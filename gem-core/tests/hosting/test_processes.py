"""A pool of worker processes: batches, use out of turn, slots that are dropped, its supervisor."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any, get_args

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")

import numpy as np

import gem
from gem.content import Action, ToolCall
from gem.errors import BadArguments, EnvBusy, EnvClosed, GemError, OpaqueError, ResetNeeded
from gem.hosting import ASK, DROP, MAKE, RESET, STEP, Failure
from gem.hosting._processes import ProcessHost
from gem.hosting._recipes import Recipe
from gem.hosting._supervisor import StartMethod
from gem.testing.envs import Guess

from .batches import alone, done, processes_of, shown, started, stepped

METHODS = get_args(StartMethod)


@pytest.mark.parametrize("method", METHODS)
def test_an_episode_is_the_same_in_whatever_process(method: StartMethod) -> None:
    with ProcessHost(2, start_method=method) as pool:
        slots = started(pool, 3)

        steps = [shown(stepped(pool, slots, action)) for action in ("a", "b")]

        assert len({*processes_of(pool), os.getpid()}) == 3
    assert [[step[slot] for step in steps] for slot in slots] == [
        alone(slot, "a", "b") for slot in slots
    ]


def test_the_supervisor_loads_what_serves_once_for_all_workers(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Else each worker that replaces another would load it anew, in twice the time."""
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")  # every process tells what it loads
    with ProcessHost(3, start_method="forkserver") as pool:
        started(pool, 3)
        assert len(processes_of(pool)) == 3
    loaded = [line.rpartition("|")[2].strip() for line in capfd.readouterr().err.splitlines()]
    assert loaded.count("gem.hosting._serving") == 1
    assert loaded.count("gem.registry") == 1


@pytest.mark.parametrize("method", METHODS)
def test_what_an_environment_prints_leaves_the_host_s_stdout_alone(
    method: StartMethod, capfd: pytest.CaptureFixture[str]
) -> None:
    with ProcessHost(1, start_method=method) as pool:
        slots = started(pool, 1, "Talking")
        stepped(pool, slots, "up")

    out, err = capfd.readouterr()
    assert out == ""
    assert "written\n" in err


def test_making_tells_what_the_environment_is(pool: ProcessHost) -> None:
    slot = pool.open(Recipe("trouble:Walk", ["concat"], {"length": 5}))

    told = done(pool, (MAKE, slot))[slot]

    assert told["spec"].kwargs == {"length": 5}
    assert (told["max_turns"], told["rewrites_history"]) == (5, True)


def test_a_recipe_that_is_data_already_is_taken_as_it_is(pool: ProcessHost) -> None:
    slot = pool.open(Recipe("trouble:Walk", ["concat"], {"length": 5}).as_data())

    assert done(pool, (MAKE, slot))[slot]["max_turns"] == 5


def test_a_wrapper_class_is_found_by_its_name(pool: ProcessHost) -> None:
    import troubled  # type: ignore[import-not-found]  # by the path that the fixture adds

    (slot,) = started(pool, 1, wrappers=[troubled.Loud])

    assert stepped(pool, [slot], "up")[slot][0].startswith("0: UP NONE AT")


def test_a_step_is_a_plain_tuple_of_its_five_fields(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1)
    step = stepped(pool, [slot])[slot]

    assert (type(step), len(step), step[2:4]) == (tuple, 5, (False, False))


def test_an_action_keeps_its_calls(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1)
    action = Action("go", tool_calls=[ToolCall("1", "search")])

    assert "go (ToolCall(id='1', name='search'" in stepped(pool, [slot], action)[slot][0]


def test_hints_are_answered_in_the_worker(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1)

    assert done(pool, (ASK, slot, "sample_action"))[slot].startswith("go ")
    assert done(pool, (ASK, slot, "solve")) == {slot: None}


def test_options_and_repeats_reach_the_reset(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1)
    samples = []
    for repeat in (0, 1, 1):
        done(pool, (RESET, slot, 7, {}, repeat))
        samples.append(done(pool, (ASK, slot, "sample_action"))[slot])

    assert samples[0] != samples[1] == samples[2]
    assert done(pool, (RESET, slot, 7, {"harm": "raise"}, 0))[slot].reason == "env_error"


def test_any_int_is_a_seed(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1)

    outcomes = [done(pool, (RESET, slot, seed)) for seed in (7, np.int64(7))]

    assert outcomes[0] == outcomes[1]


def test_slots_are_shared_out_evenly(pool: ProcessHost) -> None:
    slots = started(pool, 4)

    homes = [step[4]["pid"] for step in stepped(pool, slots).values()]

    assert sorted(homes.count(process) for process in processes_of(pool)) == [2, 2]


def test_what_is_ready_is_collected_without_the_rest(pool: ProcessHost) -> None:
    slow, quick = started(pool, 2)
    pool.submit([(STEP, slow, "hang"), (STEP, quick, "a")])

    first = pool.collect(1)
    pool.stop(slow)
    rest = pool.collect(9)

    assert [[slot for slot, _ in ready] for ready in (first, rest)] == [[quick], [slow]]


def test_nothing_is_ready_where_nothing_is_under_way(pool: ProcessHost) -> None:
    assert pool.collect(1) == []


def test_waiting_has_an_end(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1)
    pool.submit([(STEP, slot, "hang")])

    assert pool.collect(1, timeout_s=0.01) == []
    pool._close_timeout_s = 0.01


def test_large_batches_cross_both_ways(pool: ProcessHost) -> None:
    slots = started(pool, 4)
    action = "x" * (1 << 20)

    assert all(action in step[0] for step in stepped(pool, slots, action).values())


def test_what_a_busy_worker_does_not_take_yet_is_sent_when_it_does() -> None:
    with ProcessHost(1, start_method="fork") as pool:
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
    with ProcessHost(1, start_method="fork") as pool:
        slot = pool.open(Recipe("live:Own"))

        assert done(pool, (MAKE, slot))[slot]["spec"].kwargs == {"highest": 5}
    with ProcessHost(1) as pool, pytest.raises(OpaqueError, match="start_method='fork'"):
        pool.open(Recipe("live:Own"))


def test_a_call_out_of_turn_is_refused_and_none_of_its_batch_is_sent(pool: ProcessHost) -> None:
    slots = started(pool, 2)
    new = pool.open(Recipe("trouble:Walk"))

    with pytest.raises(ResetNeeded, match=f"Slot {new} was called, and has no episode"):
        pool.submit([(STEP, slots[0], "a"), (STEP, new, "a")])
    with pytest.raises(EnvBusy, match="Collect its outcome first"):
        pool.submit([(STEP, slots[0], "a"), (STEP, slots[0], "a")])
    with pytest.raises(EnvClosed, match="no environment is in it"):
        pool.submit([(STEP, 99, "a")])
    assert shown(stepped(pool, slots, "a")) == {slot: alone(slot, "a")[0] for slot in slots}


def test_an_ended_episode_takes_no_step(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1, length=1)
    stepped(pool, [slot])

    with pytest.raises(ResetNeeded):
        pool.submit([(STEP, slot, "a")])
    done(pool, (RESET, slot, 7))
    assert shown(stepped(pool, [slot], "a"))[slot][0] == alone(7, "a")[0][0]


def test_an_action_that_is_no_data_costs_its_own_episode(pool: ProcessHost) -> None:
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
        ({"num_workers": 0}, "num_workers=0"),
        ({"num_workers": 1, "start_method": "thread"}, "It is one of 'forkserver', 'spawn'"),
        ({"num_workers": 1, "timeout_s": 0}, "It is a number of seconds above 0"),
    ],
)
def test_a_pool_that_cannot_be_is_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(BadArguments, match=what):
        ProcessHost(**options)


def test_a_dropped_slot_is_closed_and_free(pool: ProcessHost) -> None:
    slots = started(pool, 2)
    never_made = pool.open(Recipe("trouble:Walk"))

    assert done(pool, (DROP, slots[0]), (DROP, never_made)) == {slots[0]: None, never_made: None}
    with pytest.raises(EnvClosed):
        pool.submit([(RESET, slots[0], 1)])


def test_a_drop_that_fails_is_warned_of(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1, "BadCloser")

    with pytest.warns(RuntimeWarning, match="Closing an environment failed: RuntimeError: out of"):
        assert done(pool, (DROP, slot)) == {slot: None}


def test_without_its_supervisor_a_pool_says_so_and_is_closed(pool: ProcessHost) -> None:
    (slot,) = started(pool, 1)
    os.kill(pool._supervisor._forked, signal.SIGKILL)

    pool.submit([(STEP, slot, "hang")])
    with pytest.raises(GemError, match=r"the supervisor of the workers ended\. Make another one"):
        pool.collect(1)
    with pytest.raises(EnvClosed):
        pool.collect()


def test_a_pool_of_many_descriptors_that_cannot_be_is_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_left() -> int:
        raise OSError(24, "Too many open files")

    before = set(map(str, Path("/proc/self/fd").iterdir()))
    monkeypatch.setattr("gem.hosting._worker.new_heartbeat", none_left)

    with pytest.raises(OSError, match="Too many"):
        ProcessHost(1, start_method="fork").open(Recipe("trouble:Walk"))

    assert set(map(str, Path("/proc/self/fd").iterdir())) <= before  # others' may be freed

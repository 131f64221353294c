"""Whatever ends a run in processes, nothing of it is left: no process, thread or descriptor."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.execution.hazards import TURNS, Hazard
from tests.execution.playing import spec_of
from tests.execution.residue import (
    Holdings,
    descendants,
    holdings,
    named_memory,
    named_memory_that_stays,
    remains,
    running,
)

import gem
from gem import EnvSpec
from gem._python import sync_async
from gem.env import episode_seed
from gem.hosting._supervisor import StartMethod

ROOT = Path(__file__).parents[2]
METHODS = get_args(StartMethod)
NUM_ENVS = 8
KINDS = ["", "crash", "hang", "deaf"]


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Holdings:
    monkeypatch.setattr(sync_async, "_IDLE_S", 0.01)  # or a thread that waits for work stays 5 s
    gc.collect()
    return holdings()


def envs(kind: str, turn: int = 2) -> list[EnvSpec]:
    """Return environments, of which one in two has this fault in its first episode."""
    return [
        spec_of(Hazard, blocking=True, faults={f"{episode_seed(0, index, 0)}": [kind, turn]})
        if kind and index % 2
        else spec_of(Hazard, blocking=True)
        for index in range(NUM_ENVS)
    ]


def options(method: str = "forkserver") -> dict[str, Any]:
    return {"backend": "process", "num_workers": 2, "backend_options": {"start_method": method}}


def limit_s_of(kind: str) -> float:
    """Return how long a step may take: not long where one never ends, which its test sits out."""
    return 0.3 if kind in ("hang", "deaf") else 60.0


def vector(kind: str = "", method: str = "forkserver", timeout_s: float | None = None) -> Any:
    limit_s = timeout_s or limit_s_of(kind)
    return gem.make_vec(envs(kind), seed=0, step_timeout_s=limit_s, **options(method))


def rollout(kind: str = "", method: str = "forkserver", timeout_s: float | None = None) -> Any:
    return gem.rollout(
        lambda _: "go on",
        envs(kind),
        episodes=3,
        concurrency=NUM_ENVS,
        step_timeout_s=timeout_s or limit_s_of(kind),
        **options(method),
    )


def step_all(made: Any, *, error: type[Exception] | None = None) -> None:
    made.reset()
    for _ in range(TURNS):
        made.step(["go on"] * NUM_ENVS)
    if error is not None:
        raise error


# vectors


@pytest.mark.parametrize("method", METHODS)
def test_closing_a_vector_leaves_nothing(before: Holdings, method: str) -> None:
    with vector(method=method) as made:
        step_all(made)
        held = holdings()

    assert len(held.processes - before.processes) >= 2
    assert remains(before) == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_beside_a_vector_leaves_nothing(before: Holdings, kind: str) -> None:
    with pytest.raises(ZeroDivisionError), vector(kind) as made:
        step_all(made, error=ZeroDivisionError)

    assert remains(before) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_vector_closed_in_the_middle_of_steps_leaves_nothing(before: Holdings, kind: str) -> None:
    made = vector(kind)
    made.reset()
    for _ in range(2):
        made.step(["go on"] * NUM_ENVS)
    made.send(["go on"] * NUM_ENVS)
    made.close()

    assert remains(before) == []


def test_a_vector_that_cannot_be_made_leaves_nothing(before: Holdings) -> None:
    broken = spec_of(Hazard, blocking=True, faults={}, rate=0.0).model_copy(
        update={"target": "tests.execution.hazards:Nowhere"}
    )
    with pytest.raises(gem.GemError):
        gem.make_vec([*envs(""), broken], **options())

    assert remains(before) == []


def test_a_vector_that_is_forgotten_leaves_nothing(before: Holdings) -> None:
    made = vector()
    step_all(made)
    del made
    gc.collect()

    assert remains(before) == []


# rollouts


@pytest.mark.parametrize("method", METHODS)
def test_a_rollout_to_its_end_leaves_nothing(before: Holdings, method: str) -> None:
    async def play() -> tuple[int, Holdings]:
        held, number = before, 0
        async for _ in rollout(method=method):
            held, number = holdings() if number == 0 else held, number + 1
        return number, held

    number, held = asyncio.run(play())

    assert number == 3 * NUM_ENVS
    assert len(held.processes - before.processes) >= 2
    assert remains(before) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_rollout_that_is_left_and_closed_leaves_nothing(before: Holdings, kind: str) -> None:
    async def play() -> list[str]:
        async with aclosing(rollout(kind)) as episodes:
            async for _ in episodes:
                break
        return holdings().beside(before)

    left = asyncio.run(play())

    assert not [each for each in left if each.startswith("process")]
    assert remains(before) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_rollout_that_is_left_leaves_nothing_after_its_loop(before: Holdings, kind: str) -> None:
    async def play() -> None:
        async for _ in rollout(kind):
            break

    asyncio.run(play())
    gc.collect()

    assert remains(before) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_rollout_that_is_cancelled_leaves_nothing(before: Holdings, kind: str) -> None:
    async def play() -> None:
        begun = asyncio.Event()

        async def read() -> None:
            async for _ in rollout(kind, timeout_s=1):
                begun.set()

        task = asyncio.ensure_future(read())
        await begun.wait()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()

    asyncio.run(play())
    gc.collect()

    assert remains(before) == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_beside_a_rollout_leaves_nothing(before: Holdings, kind: str) -> None:
    async def play() -> None:
        async for _ in rollout(kind):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(play())
    gc.collect()

    assert remains(before) == []


def test_groups_that_are_left_leave_nothing(before: Holdings) -> None:
    async def play() -> None:
        async for _ in rollout().groups():
            break

    asyncio.run(play())
    gc.collect()

    assert remains(before) == []


# threads


@pytest.mark.parametrize("backend", ["thread", "own"])
def test_threads_of_a_vector_end_with_it(before: Holdings, backend: str) -> None:
    with gem.make_vec(envs("raise"), seed=0, backend=backend) as made:
        step_all(made)

    assert remains(before) == []


@pytest.mark.parametrize("backend", ["inline", "thread", "own"])
def test_threads_of_a_rollout_that_is_left_end_with_it(before: Holdings, backend: str) -> None:
    async def play() -> None:
        run = gem.rollout(lambda _: "go on", envs("raise"), episodes=3, backend=backend)
        async with aclosing(run) as episodes:
            async for _ in episodes:
                break

    asyncio.run(play())

    assert remains(before) == []


# a parent that is killed

SCRIPT = """
import asyncio
import sys

sys.path.insert(0, sys.argv[1])


def main():
    from tests.execution import test_leaks

    getattr(test_leaks, sys.argv[2])(sys.argv[3], sys.argv[4])


main()
"""


def stepping_vector(kind: str, method: str) -> None:
    """Step in a process that will be killed meanwhile."""
    with vector(kind, method, timeout_s=600) as made:
        made.reset()
        for _ in range(2):
            made.step(["go on"] * NUM_ENVS)
        made.send(["go on"] * NUM_ENVS)
        made.recv(NUM_ENVS // 2 if kind == "" else 1, timeout_s=0.5)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        signal.pause()


def rolling_out(kind: str, method: str) -> None:
    """Roll out in a process that will be killed meanwhile."""
    arrived: list[int] = []
    all_are_there = asyncio.Event()  # or a worker might still be on its way

    async def policy(request: gem.Request) -> str:
        if request.turn == 2:
            arrived.append(request.seed)
            if len(arrived) == NUM_ENVS:
                all_are_there.set()
                sys.stdout.write("ready\n")
                sys.stdout.flush()
            await all_are_there.wait()
        if request.turn > 2:
            await asyncio.Event().wait()
        return "go on"

    async def play() -> None:
        specs = envs(kind)
        async for _ in gem.rollout(policy, specs, concurrency=NUM_ENVS, **options(method)):
            pass

    asyncio.run(play())


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Any]:
    parents: list[subprocess.Popen[str]] = []

    def kill(door: str, kind: str, method: str) -> list[int]:
        command = [sys.executable, "-c", SCRIPT, f"{ROOT}", door, kind, method]
        parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
        parents.append(parent)
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        processes = descendants(parent.pid)
        parent.kill()
        return processes

    yield kill
    for parent in parents:
        with parent:
            parent.kill()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["", "deaf"])
@pytest.mark.parametrize("door", ["stepping_vector", "rolling_out"])
def test_a_parent_that_is_killed_takes_all_along(
    killed: Any, door: str, kind: str, method: str
) -> None:
    shared = named_memory()
    processes = killed(door, kind, method)

    assert len(processes) >= 3  # two workers, and who keeps them
    assert running(processes) == []
    assert named_memory_that_stays(shared) == []

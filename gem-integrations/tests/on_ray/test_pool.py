"""What is lost in Ray costs its own episode: environments, processes and whole actors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

import gem
from gem.hosting import ASK, DROP, RESET, STEP, Failure
from gem.hosting._recipes import Recipe
from gem.specs import EnvSpec

pytestmark = pytest.mark.slow

STOPPED = {"raise": "env_error", "hang": "step_timeout", "crash": "worker_lost"}


@pytest.fixture(scope="module")
def pool() -> Iterator[Any]:
    """Return a pool of two actors."""
    from gem_integrations.ray.cluster import connect

    connect()
    from gem_integrations.ray.host import RayHost

    with RayHost(2, timeout_s=5.0) as pool:
        yield pool


def done(pool: Any, *commands: tuple[Any, ...]) -> list[Any]:
    """Submit commands and return the outcome of each."""
    pool.submit(commands)
    outcomes = dict(pool.collect(len(commands)))
    return [outcomes[command[1]] for command in commands]


def started(pool: Any, *envs: EnvSpec) -> list[int]:
    """Open slots and reset them, each with its number as the seed."""
    slots = [pool.open(Recipe(env)) for env in envs]
    done(pool, *((RESET, slot, slot) for slot in slots))
    return slots


def lose_actors(pool: Any) -> None:
    """Have Ray end every actor, and wait for that: until then they still answer."""
    import ray

    for actor in pool.actors:
        ray.kill(actor)
        with suppress(ray.exceptions.RayActorError):
            while True:
                ray.get(actor.__ray_ready__.remote())


def alone(env: EnvSpec, seed: int, actions: str) -> list[Any]:
    """Return what these one-letter actions lead to in an environment of this process."""
    with gem.make(env) as here:
        here.reset(seed=seed)
        return [tuple(here.step(action)) for action in actions]


@pytest.mark.parametrize("harm", STOPPED)
def test_an_environment_that_does_harm_ends_its_own_episode(
    pool: Any, walk: EnvSpec, harm: str
) -> None:
    bad, *others = started(pool, *[walk] * 5)
    done(pool, *((STEP, slot, "a") for slot in others))

    harmed, *second = done(pool, (STEP, bad, harm), *((STEP, slot, "b") for slot in others))
    third = done(pool, *((STEP, slot, "c") for slot in others))

    assert harmed.reason == STOPPED[harm]
    assert list(zip(second, third, strict=True)) == [
        tuple(alone(walk, slot, "abc")[1:]) for slot in others
    ]


def test_an_environment_that_did_harm_can_be_reset(pool: Any, walk: EnvSpec) -> None:
    [slot] = started(pool, walk)
    done(pool, (STEP, slot, "crash"))

    done(pool, (RESET, slot, 7))

    assert done(pool, (STEP, slot, "a")) == alone(walk, 7, "a")


def test_processes_that_were_replaced_are_counted(pool: Any, walk: EnvSpec) -> None:
    [slot] = started(pool, walk)
    before = pool.restarts

    done(pool, (STEP, slot, "crash"))
    done(pool, (RESET, slot, 0))

    assert pool.restarts == before + 1


def test_what_lost_actors_held_goes_on_in_others(pool: Any, mixed: list[EnvSpec]) -> None:
    walk, *_, slow, _ = mixed  # the slow ones from a snapshot, the others by their actions
    slots = started(pool, walk, walk, walk, slow, slow)
    before = pool.restarts
    for action in "ab":
        done(pool, *((STEP, slot, action) for slot in slots))

    lose_actors(pool)
    after = done(pool, *((STEP, slot, "c") for slot in slots))

    kinds = zip([walk, walk, walk, slow, slow], slots, strict=True)
    assert after == [alone(kind, slot, "abc")[2] for kind, slot in kinds]
    assert pool.restarts == before + 2


def test_a_step_is_taken_again_whose_actor_was_lost_meanwhile(pool: Any, walk: EnvSpec) -> None:
    slow = walk.model_copy(update={"kwargs": {"step_s": 0.5}})
    [slot] = started(pool, slow)
    pool.submit([(STEP, slot, "a")])

    lose_actors(pool)

    assert pool.collect(1) == [(slot, alone(slow, slot, "a")[0])]


def test_a_sample_that_was_drawn_counts_when_an_episode_goes_on(pool: Any, walk: EnvSpec) -> None:
    [slot] = started(pool, walk)
    with gem.make(walk) as here:
        here.reset(seed=slot)
        samples = [here.sample_action() for _ in range(2)]
    first = done(pool, (ASK, slot, "sample_action"))

    lose_actors(pool)

    assert [*first, *done(pool, (ASK, slot, "sample_action"))] == samples


def test_what_an_actor_never_had_can_be_dropped(pool: Any, walk: EnvSpec) -> None:
    [slot] = started(pool, walk)

    lose_actors(pool)

    assert done(pool, (DROP, slot)) == [None]


def test_actors_that_are_lost_again_and_again_end_an_episode_and_no_more(
    pool: Any, walk: EnvSpec
) -> None:
    bad, good = started(pool, walk, walk)

    harmed, other = done(pool, (STEP, bad, "kill the actor"), (STEP, good, "a"))

    assert harmed.reason == "worker_lost"
    assert "its actor was lost" in harmed.text
    assert other == alone(walk, good, "a")[0]
    assert not isinstance(done(pool, (RESET, bad, 0))[0], Failure)


def test_a_command_that_nobody_waits_for_can_be_stopped(walk: EnvSpec) -> None:
    from gem_integrations.ray.host import RayHost

    with RayHost(1) as patient:
        [slot] = started(patient, walk)
        patient.submit([(STEP, slot, "hang")])
        assert patient.collect(1, timeout_s=0.05) == []

        patient.stop(slot)

        [(_, outcome)] = patient.collect(1)
    assert outcome.reason == "step_timeout"
    assert patient.interrupts == 1

"""Environments by slot: their failures are answers, their episodes can be restored."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gem.content import Action
from gem.errors import text_of
from gem.hosting import Failure
from gem.hosting._heartbeat import REVIVING, SINCE, Heartbeat, new_heartbeat
from gem.hosting._messages import (
    ASK,
    DONE,
    DROP,
    MAKE,
    RESET,
    REVIVE,
    SAVE,
    SAVED,
    STEP,
    EpisodeSoFar,
    pack_action,
)
from gem.hosting._recipes import Recipe
from gem.hosting._worker_envs import WorkerEnvs


@pytest.fixture
def heartbeat() -> Iterator[Heartbeat]:
    descriptor = new_heartbeat()
    heartbeat = Heartbeat(descriptor)
    os.close(descriptor)
    yield heartbeat
    heartbeat.close()


@pytest.fixture
def envs(heartbeat: Heartbeat) -> WorkerEnvs:
    return WorkerEnvs(heartbeat)


def recipe(name: str, **kwargs: Any) -> tuple[Any, ...]:
    return tuple(Recipe(f"trouble:{name}", (), kwargs).as_data())


def played(envs: WorkerEnvs, slot: int, name: str, *actions: str) -> list[Any]:
    """Reset a slot and step it; return what was shown."""
    first = envs.answer((RESET, slot, 7, {}, 0, recipe(name)))[1][0]
    return [first, *(envs.answer((STEP, slot, action))[1][0] for action in actions)]


def test_making_tells_what_the_environment_is(envs: WorkerEnvs) -> None:
    status, told = envs.answer((MAKE, 0, recipe("Walk", length=9)))

    assert status == DONE
    assert json.loads(told["spec"])["kwargs"] == {"length": 9}
    assert (told["max_turns"], told["tools"], told["num_tasks"]) == (9, [], None)


def test_a_reset_and_a_step_answer_plain_tuples(envs: WorkerEnvs) -> None:
    observation, info, shown = envs.answer((RESET, 0, 7, {}, 0, recipe("Walk")))[1]
    status, step = envs.answer((STEP, 0, "on"))

    assert (observation[:3], info, shown) == ("at ", {}, [(False, False, [])])
    assert (status, type(step), len(step)) == (DONE, tuple, 5)


def test_an_action_comes_to_the_environment_as_one(envs: WorkerEnvs) -> None:
    played(envs, 0, "Walk")

    assert "go () at" in envs.answer((STEP, 0, pack_action(Action("go"))))[1][0]


def test_an_error_fails_every_command_until_the_slot_is_made_anew(
    envs: WorkerEnvs, placed: Callable[[str, str], str]
) -> None:
    played(envs, 0, "Walk")
    failure = DONE, Failure("env_error", placed("RuntimeError: out of order", "do_harm"))

    assert envs.answer((STEP, 0, "raise")) == failure
    assert envs.answer((STEP, 0, "on")) == failure
    assert envs.answer((SAVE, 0, "on")) == failure
    assert envs.answer((ASK, 0, "solve")) == failure
    assert played(envs, 0, "Walk", "on")[1].startswith("0: on")


def test_a_slot_that_is_made_is_reset_without_its_recipe(envs: WorkerEnvs) -> None:
    envs.answer((MAKE, 0, recipe("Walk")))

    first = envs.answer((RESET, 0, 7, {}, 0))
    again = envs.answer((RESET, 0, 7, {}, 0))

    assert first == again
    assert first[0] == DONE


@pytest.mark.parametrize("harm", ["raise", "leave"])
def test_an_error_in_make_or_reset_is_an_answer(envs: WorkerEnvs, harm: str) -> None:
    unmade = envs.answer((MAKE, 0, recipe("Walk", harm=harm)))
    unset = envs.answer((RESET, 1, 7, {"harm": harm}, 0, recipe("Walk")))

    for kind, failure in (unmade, unset):
        assert (kind, failure.reason) == (DONE, "env_error")


def test_making_has_no_deadline(envs: WorkerEnvs, heartbeat: Heartbeat) -> None:
    envs.answer((MAKE, 0, recipe("Walk", harm="raise")))

    assert heartbeat.cells[SINCE] == math.inf


def test_want_of_memory_is_the_workers_problem(envs: WorkerEnvs) -> None:
    with pytest.raises(MemoryError):
        envs.answer((MAKE, 0, recipe("NoMemory")))


def test_another_try_samples_otherwise(envs: WorkerEnvs) -> None:
    def sampled(repeat: int) -> object:
        envs.answer((RESET, 0, 7, {}, repeat, recipe("Walk")))
        return envs.answer((ASK, 0, "sample_action"))

    assert sampled(0) == sampled(0)
    assert sampled(1) == sampled(1)
    assert sampled(0) != sampled(1)


def test_dropping_closes_and_tells_what_went_wrong(
    envs: WorkerEnvs, placed: Callable[[str, str], str]
) -> None:
    played(envs, 0, "Walk")
    played(envs, 1, "BadCloser")

    assert envs.answer((DROP, 0)) == (DONE, None)
    assert envs.answer((DROP, 0)) == (DONE, None)
    failure = Failure("env_error", placed("RuntimeError: out of order", "do_harm"))
    assert envs.answer((DROP, 1)) == (DONE, failure)


def test_closing_closes_all(envs: WorkerEnvs, placed: Callable[[str, str], str]) -> None:
    for slot, name in enumerate(["BadCloser", "Walk", "BadCloser"]):
        played(envs, slot, name)

    assert envs.close() == [placed("RuntimeError: out of order", "do_harm")] * 2
    assert envs.close() == []


def test_one_that_failed_is_closed_though_that_fails_too(envs: WorkerEnvs) -> None:
    played(envs, 0, "BadCloser")
    envs.answer((STEP, 0, "raise"))

    assert envs.close() == []


# restoring


def test_an_episode_is_restored_by_its_seed_and_actions(
    envs: WorkerEnvs, heartbeat: Heartbeat
) -> None:
    shown = played(envs, 0, "Walk", "a", "b", "c")
    so_far = EpisodeSoFar((7, {}, 0), None, ["a", "b"], shown[2])

    assert envs.answer((REVIVE, 1, recipe("Walk"), so_far, (STEP, 1, "c")))[1][0] == shown[3]
    assert heartbeat.cells[REVIVING] == 0


def test_samples_that_were_drawn_are_drawn_again(envs: WorkerEnvs) -> None:
    played(envs, 0, "Walk")
    samples = [envs.answer((ASK, 0, "sample_action")) for _ in range(3)]
    so_far = EpisodeSoFar((7, {}, 0), None, [0, 0], None)

    assert envs.answer((REVIVE, 1, recipe("Walk"), so_far, (ASK, 1, "sample_action"))) == samples[2]


@pytest.mark.parametrize("samples", [0, 2])
def test_an_episode_is_restored_from_its_snapshot(envs: WorkerEnvs, samples: int) -> None:
    played(envs, 0, "Walk", "a")
    for _ in range(samples):
        envs.answer((ASK, 0, "sample_action"))
    status, _, saved = envs.answer((SAVE, 0, "b"))
    expected = [envs.answer((ASK, 0, "sample_action")), envs.answer((STEP, 0, "c"))]
    so_far = EpisodeSoFar((7, {}, 0), saved, [], None)

    assert status == SAVED
    assert (
        envs.answer((REVIVE, 1, recipe("Walk"), so_far, (ASK, 1, "sample_action"))) == expected[0]
    )
    assert envs.answer((STEP, 1, "c")) == expected[1]


def test_one_without_snapshots_says_so(envs: WorkerEnvs) -> None:
    played(envs, 0, "Unsaved")

    assert envs.answer((SAVE, 0, "a"))[2] is None


@pytest.mark.parametrize(
    ("actions", "last", "text"),
    [
        (["a", "raise"], None, "Restoring it failed: RuntimeError: out of order"),
        (["a"], "elsewhere", "led to another observation"),
        ([], "elsewhere", "led to another observation"),
    ],
)
def test_an_episode_that_cannot_be_restored_is_lost(
    envs: WorkerEnvs, actions: list[str], last: str | None, text: str
) -> None:
    so_far = EpisodeSoFar((7, {}, 0), None, actions, last)

    kind, failure = envs.answer((REVIVE, 0, recipe("Walk"), so_far, (STEP, 0, "b")))

    assert (kind, failure.reason) == (DONE, "worker_lost")
    assert text in failure.text


def test_want_of_memory_while_restoring_is_the_workers_problem(envs: WorkerEnvs) -> None:
    so_far = EpisodeSoFar((7, {}, 0), None, [], None)

    with pytest.raises(MemoryError):
        envs.answer((REVIVE, 0, recipe("NoMemory"), so_far, (STEP, 0, "b")))


def test_a_long_error_is_cut() -> None:
    assert len(text_of(ValueError("x" * 100_000))) == 10_003

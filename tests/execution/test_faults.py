"""The worst happens to some of 256 environments: their episodes end by it, and no other changes."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.execution.hazards import FAULTS, IN_RESET, Hazard
from tests.execution.playing import Key, Played, played, rolled_out, spec_of, stepped_through

import gem
from gem import EnvSpec
from gem.env import episode_seed

SEED = 5
EPISODES = 3
FAULTY_EPISODE = 1
NUM_ENVS = 256
STARTS = [*product(FAULTS, [2]), *product(["raise", "crash", "hang", "large"], [IN_RESET])]
FEW = [("raise", IN_RESET), ("crash", 2), ("memory", 2), ("unpicklable", 2)]


def placed(starts: Sequence[tuple[str, int]]) -> dict[int, tuple[str, int]]:
    """Return which environment gets which fault, at which turn: each fault in both workers."""
    return {3 + 9 * at: start for at, start in enumerate(start for start in starts for _ in "12")}


def envs(faults: Mapping[int, tuple[str, int]]) -> list[EnvSpec]:
    """Return the environments, some of which have a fault in one episode."""
    return [
        spec_of(Hazard, blocking=True, faults=dict(_planned(index, faults)))
        for index in range(NUM_ENVS)
    ]


def _planned(index: int, faults: Mapping[int, tuple[str, int]]) -> Iterator[tuple[str, list[Any]]]:
    if index in faults:
        yield str(episode_seed(SEED, index, FAULTY_EPISODE)), list(faults[index])


def address_space_bytes() -> int:
    """Return how much this process has, with which a fork begins: less would be no limit for it.

    Gigabytes, where other tests have loaded what they need.
    """
    pages, *_ = Path("/proc/self/statm").read_text().split()
    return int(pages) * resource.getpagesize()


async def go_on(request: gem.Request) -> str:
    return "go on"


def by_vector(faults: Mapping[int, tuple[str, int]], backend: str, **options: Any) -> Any:
    with gem.make_vec(envs(faults), backend=backend, seed=SEED, **options) as vector:
        return stepped_through(vector, lambda *_: "go on", episodes=EPISODES)


def by_rollout(faults: Mapping[int, tuple[str, int]], backend: str, **options: Any) -> Any:
    options = {"episodes": EPISODES, "seed": SEED, "concurrency": NUM_ENVS, **options}
    return played(asyncio.run(rolled_out(go_on, envs(faults), backend=backend, **options)))


@pytest.fixture(scope="module")
def well() -> Mapping[Key, Played]:
    return dict(by_vector({}, "sync"))


def test_without_faults_every_episode_ends_by_its_limit(well: Mapping[Key, Played]) -> None:
    assert by_rollout({}, "inline") == well
    assert {(each.stop_reason, each.error) for each in well.values()} == {("truncated", None)}


@pytest.mark.parametrize("door", [by_vector, by_rollout])
@pytest.mark.parametrize(
    ("start_method", "starts", "timeout_s"),
    [("forkserver", STARTS, 3.0), ("fork", FEW, 60.0), ("spawn", FEW, 60.0)],  # FEW hangs nowhere
)
def test_exactly_the_faulty_episodes_are_lost(
    well: Mapping[Key, Played],
    door: Any,
    start_method: str,
    starts: Sequence[tuple[str, int]],
    timeout_s: float,
) -> None:
    faults = placed(starts)
    options: dict[str, Any] = {"num_workers": 2, "step_timeout_s": timeout_s}
    limits = {"most_memory_bytes": address_space_bytes() + (4 << 30)}
    options["backend_options"] = {"start_method": start_method, **limits}
    found: dict[Key, Played] = door(faults, "process", **options)

    lost = {(index, FAULTY_EPISODE): FAULTS[kind] for index, (kind, _) in faults.items()}
    for key, (reason, text) in lost.items():
        assert found[key].stop_reason == reason, (faults[key[0]], found[key])
        assert text in (found[key].error or ""), faults[key[0]]
    assert {key: each for key, each in found.items() if key not in lost and each != well[key]} == {}
    assert found.keys() == well.keys()

"""A worker dies while several seats play: that episode alone is lost, by nobody's fault."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from tests.execution.hazards import FAULTS, SeatedHazard
from tests.execution.playing import Key, rolled_out, spec_of

import gem
from gem import Episode
from gem.env import episode_seed

SEED = 5
EPISODES = 3
NUM_ENVS = 12
# By environment, in its second episode: at the last action of a round, and of a seat alone.
HARMS = {1: ("crash", 1), 4: ("exit", 4), 6: ("crash", 5), 9: ("raise", 4)}
FAULTY_EPISODE = 1


class Saying:
    """Says something of its own at each turn, and looks at a sample of its seat."""

    wants = ("sample",)

    def __init__(self, name: str) -> None:
        self.name = name

    async def __call__(self, request: gem.Request) -> str:
        await asyncio.sleep(0)
        return f"{self.name} {request.turn} {request.sample}"


def played(harms: Mapping[int, tuple[str, int]], backend: str, **options: Any) -> Any:
    """Return every episode, with these harms in the faulty one of an environment."""
    envs = []
    for index in range(NUM_ENVS):
        seed = episode_seed(SEED, index, FAULTY_EPISODE)
        faults = {str(seed): list(harms[index])} if index in harms else {}
        envs.append(spec_of(SeatedHazard, blocking=True, faults=faults))
    options = {"episodes": EPISODES, "seed": SEED, "concurrency": NUM_ENVS, **options}
    return asyncio.run(rolled_out([Saying("a"), Saying("b")], envs, backend=backend, **options))


@pytest.fixture(scope="module")
def well() -> dict[Key, Episode]:
    episodes: dict[Key, Episode] = played({}, "inline")
    return episodes


@pytest.fixture(scope="module", params=["forkserver", "fork"])
def harmed(request: pytest.FixtureRequest) -> dict[Key, Episode]:
    options: dict[str, Any] = {"backend_options": {"start_method": request.param}}
    episodes: dict[Key, Episode] = played(HARMS, "process", num_workers=2, **options)
    return episodes


def story(episode: Episode) -> list[Any]:
    """Return all that happened to the seats, and nothing of how the environment was made."""
    turns = [(turn.seat, turn.observation, turn.outcome()) for turn in episode.turns]
    return [*turns, episode.stop_reason, episode.seats]


def test_no_episode_is_lost_but_those_whose_worker_was(
    well: dict[Key, Episode], harmed: dict[Key, Episode]
) -> None:
    lost = {(index, FAULTY_EPISODE) for index in HARMS}

    assert harmed.keys() == well.keys()
    assert {key for key, episode in harmed.items() if episode.is_error} == lost
    assert {key for key in well if story(harmed[key]) != story(well[key])} == lost


@pytest.mark.parametrize("index", HARMS)
def test_the_lost_episode_ends_there_for_every_seat(
    well: dict[Key, Episode], harmed: dict[Key, Episode], index: int
) -> None:
    kind, turn = HARMS[index]
    reason, text = FAULTS[kind]
    episode = harmed[index, FAULTY_EPISODE]
    before = well[index, FAULTY_EPISODE].turns[:turn]

    assert (episode.stop_reason, episode.stopped_by) == (reason, None)
    assert text in (episode.error or "")
    assert [each.outcome() for each in episode.played_turns] == [each.outcome() for each in before]
    # What was earned before stays, the action that was not taken earns nobody anything.
    for seat, outcome in enumerate(episode.seats):
        earned = sum(each.rewards[seat] for each in before if each.rewards)
        assert (outcome.success, outcome.total_reward) == (None, earned)


def test_the_same_seed_gives_the_same_episode_again(
    well: dict[Key, Episode], harmed: dict[Key, Episode]
) -> None:
    again = played({}, "process", num_workers=2)
    harmed_again = played(HARMS, "process", num_workers=1)

    assert {key: story(each) for key, each in again.items()} == {
        key: story(each) for key, each in well.items()
    }
    for index in HARMS:
        key = index, FAULTY_EPISODE
        assert story(harmed_again[key]) == story(harmed[key])

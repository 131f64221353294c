"""A curriculum that a trainer updates between batches: planned, recorded, replayed."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

import gem
from gem._python.seeding import episode_seed
from gem.errors import BadArguments, OpaqueError
from gem.rollouts._planning import PlannedEpisode, plan_episodes
from gem.rollouts._schedules import Schedule
from gem.specs import DataSource, EnvSpec, ObsoleteKwarg

GUESS = EnvSpec(id="test:Guess", target="gem.testing.envs:Guess", blocking=False)
COIN = EnvSpec(id="test:Coin", target="gem.testing.envs:Coin", blocking=False)


def schedule(guess: float = 3.0, coin: float = 1.0) -> Schedule:
    return Schedule([{"env": GUESS, "weight": guess}, {"env": COIN, "weight": coin}])


def plan(curriculum: Schedule, episodes: int = 400, **kwargs: Any) -> list[PlannedEpisode]:
    return plan_episodes(curriculum, episodes=episodes, **kwargs)


def played(curriculum: Schedule, **kwargs: Any) -> list[gem.Episode]:
    async def play() -> list[gem.Episode]:
        run = gem.rollout(lambda request: "\\boxed{7}", curriculum, **kwargs)
        episodes = [episode async for episode in run]
        return sorted(episodes, key=lambda each: each.episode_index)

    return asyncio.run(play())


def test_episodes_come_as_the_weights_say() -> None:
    drawn = Counter(each.env_index for each in plan(schedule()))

    assert sum(drawn.values()) == 400
    assert 270 < drawn[0] < 330


def test_a_plan_depends_on_the_seed_and_the_weights_alone() -> None:
    assert plan(schedule()) == plan(schedule())
    assert plan(schedule(), 50) == plan(schedule())[:50]
    assert plan(schedule(), seed=1) != plan(schedule())


def test_weights_change_which_episodes_there_are_and_never_their_seeds() -> None:
    for each in (*plan(schedule()), *plan(schedule(1, 9))):
        assert each.seed == episode_seed(0, each.env_index, each.episode_index)


def test_tasks_of_a_finite_component_are_spread_over_the_run() -> None:
    tasks = Counter(each.task for each in plan(schedule(1, 1), 41) if each.env_index == 1)

    assert set(tasks) == {0, 1}
    assert abs(tasks[0] - tasks[1]) <= 1


def test_repeats_share_component_seed_and_task() -> None:
    groups = plan(schedule(), 20, repeats=3)

    assert len(groups) == 60
    assert len({each._replace(repeat=0) for each in groups}) == 20


def test_an_update_holds_from_the_next_run_on() -> None:
    curriculum = schedule()
    before = played(curriculum, episodes=20)
    curriculum.update(weights={"test:Guess": 0}, kwargs={"test:Coin": {}})
    after = played(curriculum, episodes=20)

    assert {episode.env_id for episode in before} == {"test:Guess", "test:Coin"}
    assert {episode.env_id for episode in after} == {"test:Coin"}
    assert curriculum.weights == {"test:Guess": 0, "test:Coin": 1}


def test_a_run_that_was_begun_goes_on_as_planned() -> None:
    async def play() -> set[str]:
        curriculum, seen = schedule(), set()
        async for episode in gem.rollout(lambda request: "x", curriculum, episodes=20):
            curriculum.update(weights={"test:Guess": 0})
            seen.add(episode.env_id)
        return seen

    assert asyncio.run(play()) == {"test:Guess", "test:Coin"}


def test_arguments_rise_with_progress_and_are_on_record() -> None:
    gem.register(GUESS)
    curriculum = Schedule([{"env": GUESS, "kwargs": {"highest": 3}, "name": "guess"}])
    found = []
    for progress in (3, 9):
        curriculum.update(kwargs={"guess": {"highest": progress}})
        [episode] = played(curriculum)
        found.append((episode.env_kwargs["highest"], gem.replay(episode).state))

    assert found == [(3, "same"), (9, "same")]


@pytest.mark.parametrize("backend", ["inline", "thread", "process"])
def test_a_run_is_the_same_on_every_backend(backend: str) -> None:
    prints = [each.fingerprint() for each in played(schedule(), episodes=12, backend=backend)]

    assert prints == [each.fingerprint() for each in played(schedule(), episodes=12)]


def test_wrappers_are_the_components_own() -> None:
    curriculum = Schedule(
        [
            {"env": GUESS, "wrappers": [{"id": "time_limit", "max_turns": 1}], "name": "short"},
            {"env": GUESS, "wrappers": ["episode_tracking"]},
        ]
    )
    lengths = {episode.env_index: len(episode.turns) for episode in played(curriculum, episodes=20)}

    assert lengths[0] == 1
    assert lengths[1] > 1
    assert [spec.wrappers[0].id for spec in curriculum[:]] == ["time_limit", "episode_tracking"]


def test_its_components_make_the_same_schedule_again() -> None:
    curriculum = schedule()
    curriculum.update(weights={"test:Coin": 7})

    assert plan(Schedule(curriculum.components)) == plan(curriculum)
    assert repr(curriculum) == "<Schedule {'test:Guess': 3.0, 'test:Coin': 7.0}>"


@pytest.mark.vector
def test_a_vector_takes_the_mixture_of_the_moment() -> None:
    curriculum = schedule()
    curriculum.update(weights={"test:Coin": 0})
    with gem.make_vec(curriculum.mixture(), num_envs=4, seed=0) as vector:
        _, infos = vector.reset()

    assert {info["component"]["name"] for info in infos} == {"test:Guess"}


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"weights": {"guess": 1}}, "'guess', and it has 'test:Guess', 'test:Coin'"),
        ({"kwargs": {"coin": {}}}, "'coin'"),
        ({"weights": {"test:Guess": -1}}, "weight"),
        ({"weights": {"test:Guess": 0, "test:Coin": 0}}, "sum of weights above 0"),
    ],
)
def test_an_update_that_does_not_fit_changes_nothing(update: Any, message: str) -> None:
    curriculum = schedule()
    before = curriculum.components
    with pytest.raises(BadArguments, match=message):
        curriculum.update(**update)

    assert curriculum.components == before


def test_all_episodes_of_a_schedule_are_no_number() -> None:
    with pytest.raises(BadArguments, match="Give a number"):
        plan_episodes(schedule(), episodes="all")


def test_a_live_argument_is_refused_by_name() -> None:
    curriculum = Schedule([{"env": GUESS, "kwargs": {"highest": object()}}])
    with pytest.raises(OpaqueError, match="highest"):
        plan(curriculum, 1)


SUMS = EnvSpec(
    id="test:Sums",
    target="gem.testing.envs:Coin",
    kwargs={"source": DataSource(hub="acme/sums", split="train")},
    obsolete_kwargs={"dataset_name": ObsoleteKwarg(instead="source.hub")},
)


def test_a_component_changes_only_the_fields_of_a_source_that_it_names() -> None:
    [found] = Schedule([{"env": SUMS, "kwargs": {"source": {"revision": "v1"}}}])

    assert found.kwargs["source"] == {"hub": "acme/sums", "split": "train", "revision": "v1"}


def test_a_component_takes_arguments_of_earlier_releases() -> None:
    with pytest.warns(DeprecationWarning, match="'dataset_name'"):
        [found] = Schedule([{"env": SUMS, "kwargs": {"dataset_name": "acme/other"}}])

    assert found.kwargs == {"source": {"hub": "acme/other", "split": "train"}}

"""A schedule chooses the environment of each episode, and a trainer steers it between batches."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import gem
from gem.content import ImagePart
from gem.errors import BadArguments
from gem.specs import EnvSpec
from gem_integrations.curricula import Curriculum
from gem_integrations.episodes import EnvOptions
from gem_integrations.faults import UnplayableError

tried: list[tuple[str, int]] = []


class First(gem.Env):
    """Shows its level, and cannot begin at level 13."""

    def __init__(self, level: int = 1) -> None:
        self.level = level

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        tried.append((type(self).__name__, self.level))
        if self.level == 13:
            raise OSError("there is no such level")
        return f"level {self.level}", {}

    def step(self, action: str) -> gem.Step:
        return gem.Step("", 1.0, True, False, {})


class Second(First):
    """Another one."""


gem.register("curricula:First", First)
gem.register("curricula:Second", Second)
COMPONENTS: list[dict[str, Any]] = [
    {"env": "curricula:First", "weight": 3, "name": "one"},
    {"env": "curricula:Second", "kwargs": {"level": 2}, "wrappers": ["concat"], "name": "two"},
]


@pytest.fixture(autouse=True)
def _tries() -> None:
    tried.clear()


def over(env: Any, **given: Any) -> Curriculum[EnvOptions]:
    return Curriculum(env, given, framework="Anything", kind=EnvOptions)


def test_an_id_is_every_episode_and_tried_once() -> None:
    one = over("curricula:First", env_kwargs={"level": 4}, max_turns=3)
    chosen = [one.choose(0, number) for number in range(9)]

    assert {index for index, _ in chosen} == {0}
    assert all(options is one.any_options for _, options in chosen)
    assert tried == [("First", 4)]


def test_a_schedule_chooses_what_rollout_chooses_with_that_seed() -> None:
    schedule = gem.Schedule(COMPONENTS)
    chosen = [over(schedule).choose(7, number)[1].env_id for number in range(16)]

    async def played() -> list[str]:
        run = gem.rollout(lambda request: "x", schedule, episodes=16, seed=7)
        return [episode.env_id async for episode in run]

    assert set(chosen) == {"curricula:First", "curricula:Second"}
    assert sorted(asyncio.run(played())) == sorted(chosen)


def test_every_component_is_tried_before_any_episode() -> None:
    over(gem.Schedule(COMPONENTS))

    assert tried == [("First", 1), ("Second", 2)]


def test_weights_are_those_of_the_moment() -> None:
    schedule = gem.Schedule(COMPONENTS)
    steered = over(schedule)
    schedule.update(weights={"one": 0})

    assert {steered.choose(0, number)[0] for number in range(16)} == {1}
    assert len(tried) == 2  # weights are nothing to try again


def test_changed_arguments_are_tried_before_their_first_episode() -> None:
    schedule = gem.Schedule(COMPONENTS)
    steered = over(schedule)
    schedule.update(weights={"two": 0}, kwargs={"one": {"level": 5}})
    levels = [steered.choose(0, number)[1].env_kwargs for number in range(4)]

    assert levels == [{"level": 5}] * 4
    assert tried[2:] == [("First", 5)]
    schedule.update(kwargs={"one": {"level": 13}})
    with pytest.raises(UnplayableError, match="there is no such level"):
        steered.choose(0, 0)


def test_options_hold_for_every_component_and_wrappers_come_around_theirs() -> None:
    steered = over(gem.Schedule(COMPONENTS), wrappers=["episode_tracking"], max_turns=3)
    options = [steered.choose(0, number)[1] for number in range(16)]

    assert {each.max_turns for each in options} == {3}
    assert {each.wrappers for each in options} == {
        ("episode_tracking",),
        ("concat", "episode_tracking"),
    }


def test_faults_are_counted_by_component() -> None:
    steered = over(gem.Schedule(COMPONENTS))
    faults = {id(steered.choose(0, number)[1].faults) for number in range(16)}

    assert len(faults) == 2


def test_arguments_beside_a_schedule_are_refused() -> None:
    with pytest.raises(BadArguments, match="each of its components has its own"):
        over(gem.Schedule(COMPONENTS), env_kwargs={"level": 1})


def test_a_component_that_is_a_spec_is_refused() -> None:
    spec = EnvSpec(id="curricula:Spec", target=f"{__name__}:First")

    with pytest.raises(BadArguments, match=r"gem\.register"):
        over(gem.Schedule([{"env": spec}]))


class Drawn(First):
    """Shows a picture at level 2."""

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed)
        return ((ImagePart(b"a picture"),) if self.level == 2 else "text"), {}


gem.register("curricula:Drawn", Drawn)


def test_one_component_that_shows_an_image_is_enough_for_all() -> None:
    schedule = gem.Schedule([*COMPONENTS, {"env": "curricula:Drawn", "kwargs": {"level": 2}}])
    seeing: Curriculum[EnvOptions] = Curriculum(
        schedule, {}, framework="Anything", kind=EnvOptions, takes_images=True
    )

    assert seeing.shows_images
    assert not over("curricula:Drawn").shows_images
    with pytest.raises(BadArguments, match="its observations hold images"):
        over(schedule)


def test_an_image_after_a_change_is_refused_where_the_model_turned_out_to_see_none() -> None:
    schedule = gem.Schedule([{"env": "curricula:Drawn", "name": "drawn"}])
    steered: Curriculum[EnvOptions] = Curriculum(
        schedule, {}, framework="Anything", kind=EnvOptions, takes_images=True
    )
    steered.takes_images = steered.shows_images
    schedule.update(kwargs={"drawn": {"level": 2}})

    with pytest.raises(BadArguments, match="its observations hold images"):
        steered.choose(0, 0)

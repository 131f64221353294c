"""What follows the end of an episode, by `autoreset`."""

from __future__ import annotations

import pytest

from gem.errors import (
    BadArguments,
    ResetNeeded,
)
from gem.vector import make_vec

from .envs import first_of, started


def test_same_step_starts_the_next_episode_and_keeps_the_end_in_info() -> None:
    step = started(1, length=1).step(["a"])

    assert step.observations == [first_of(0, 1)]
    assert (step.rewards.tolist(), step.terminated.tolist()) == ([1.0], [True])
    (info,) = step.infos
    assert info["final_observation"] == "1"
    assert info["final_info"] == {"number": 1}
    assert f"from {info['start']}" == first_of(0, 1)


def test_a_truncated_episode_is_not_terminated() -> None:
    step = started(1, length=1).step(["cut"])

    assert (step.terminated.tolist(), step.truncated.tolist()) == ([False], [True])


def test_next_step_starts_it_in_the_step_after_and_ignores_the_action() -> None:
    vector = started(2, length=2, autoreset="next_step")
    vector.step({0: "a"})
    end = vector.step(["a", "a"])

    after = vector.step(["raise", "a"])

    assert (end.observations, end.terminated.tolist()) == (["2", "1"], [True, False])
    assert end.infos[0] == {"number": 2}
    assert after.observations == [first_of(0, 1), "2"]
    assert (after.rewards.tolist(), after.terminated.tolist()) == ([0.0, 1.0], [False, True])
    assert vector.step({0: "a"}).observations == ["1"]


def test_off_refuses_an_ended_environment_before_any_is_stepped() -> None:
    vector = started(2, length=2, autoreset="off")
    vector.step({1: "a"})
    vector.step({1: "a"})

    with pytest.raises(ResetNeeded, match=r"step was called for \[1\], whose episodes ended"):
        vector.step(["a", "a"])

    assert vector.step({0: "a"}).observations == ["1"]


def test_off_goes_on_once_the_ended_are_reset() -> None:
    vector = started(2, length=1, autoreset="off")
    vector.step(["a", "a"])

    observations, infos = vector.reset(indices=[1])

    assert observations == [first_of(1, 1)]
    assert [f"from {info['start']}" for info in infos] == observations
    assert vector.step({1: "a"}).observations == ["1"]


def test_environments_can_be_reset_one_by_one_from_the_start() -> None:
    vector = make_vec("vec:Count", num_envs=2, seed=5)
    vector.reset(indices=[1])

    assert vector.step({1: "a"}).observations == ["1"]
    with pytest.raises(ResetNeeded):
        vector.step(["a", "a"])


def test_a_seed_restarts_all_and_so_takes_no_indices() -> None:
    with pytest.raises(BadArguments, match="A seed restarts every environment"):
        started(2).reset(3, indices=[0])


def test_an_index_given_twice_is_refused() -> None:
    with pytest.raises(BadArguments, match="name an environment twice"):
        started(2).reset(indices=[0, 0])

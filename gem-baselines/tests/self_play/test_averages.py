"""The baselines of seats: read before they are moved, one a role."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from gem.episode import Episode
from gem_baselines.learning_policy import Floats, Per
from gem_baselines.self_play import MovingAverages
from gem_baselines.training.advantages import Terms, estimator_named

MakeEpisode = Callable[..., Episode]


def no_values(episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
    raise AssertionError("no critic is asked")


def test_an_average_begins_at_0_and_is_read_before_it_moves() -> None:
    averages = MovingAverages(decay=0.95)

    read = [averages.read_then_add("first", 1.0) for _ in range(3)]

    assert read == pytest.approx([0.0, 0.05, 0.0975])
    assert averages.values == {"first": pytest.approx(0.142625)}


def test_roles_do_not_share_an_average() -> None:
    averages = MovingAverages(decay=0.5)

    averages.read_then_add("first", 1.0)

    assert averages.read_then_add("second", -1.0) == 0.0


def test_an_episode_is_not_in_its_own_baseline(episode: MakeEpisode) -> None:
    averages = MovingAverages(decay=0.5)
    terms = Terms(1.0, 1.0, 0.0, no_values, averages, ["a", "b", "a"])
    played = [episode([0.0, 1.0]), episode([-1.0]), episode([1.0])]

    credit = estimator_named("seat_average", {})(played, terms)

    assert [own.tolist() for own in credit.advantages] == [[1.0, 1.0], [-1.0], [0.5]]


def test_with_a_discount_the_average_is_of_the_return_from_the_start(episode: MakeEpisode) -> None:
    averages = MovingAverages(decay=0.0)
    terms = Terms(0.5, 1.0, 0.0, no_values, averages)

    credit = estimator_named("seat_average", {})([episode([0.0, 1.0]), episode([1.0])], terms)

    assert np.concatenate(credit.advantages).tolist() == [0.5, 1.0, 0.5]

"""Each estimator, on records small enough to reckon by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gem.episode import Episode
from gem.errors import BadArguments
from gem_baselines.learning_policy import Floats
from gem_baselines.training.advantages import ESTIMATORS, Credit, Terms, estimator_named

MakeEpisode = Callable[..., Episode]


def ones(episodes: Sequence[Episode]) -> Sequence[Floats]:
    return [np.ones(len(episode.turns)) for episode in episodes]


def credit(name: str, episodes: Sequence[Episode], **options: Any) -> Credit:
    terms = Terms(gamma=0.5, lam=0.0, baseline=0.25, values=ones)
    return estimator_named(name, options)(episodes, terms)


def advantages(name: str, episodes: Sequence[Episode], **options: Any) -> list[list[float]]:
    return [own.tolist() for own in credit(name, episodes, **options).advantages]


@pytest.fixture
def episodes(episode: MakeEpisode) -> list[Episode]:
    """Return two groups of two: the second of each earns nothing."""
    return [
        episode([0.0, 1.0], start=0),
        episode([0.0], start=0, repeat=1),
        episode([3.0], start=1),
        episode([0.0, 0.0], start=1, repeat=1),
    ]


def test_raw_is_the_discounted_return_of_each_turn(episodes: list[Episode]) -> None:
    assert advantages("raw", episodes) == [[0.5, 1.0], [0.0], [3.0], [0.0, 0.0]]


def test_constant_takes_away_the_mean_of_earlier_batches(episodes: list[Episode]) -> None:
    assert advantages("constant", episodes) == [[0.25, 0.75], [-0.25], [2.75], [-0.25, -0.25]]


def test_signed_pays_minus_one_for_a_failure(episodes: list[Episode]) -> None:
    assert advantages("signed", episodes) == [[0.5, 1.0], [-1.0], [3.0], [-0.5, -1.0]]


def test_rebn_normalises_over_all_turns(episodes: list[Episode]) -> None:
    flat = np.concatenate(credit("rebn", episodes).advantages)
    raw = np.array([0.5, 1.0, 0.0, 3.0, 0.0, 0.0])

    assert np.allclose(flat, (raw - raw.mean()) / raw.std())


def test_rloo_compares_with_the_others_of_the_start(episodes: list[Episode]) -> None:
    assert advantages("rloo", episodes) == [[1.0, 1.0], [-1.0], [3.0], [-3.0, -3.0]]


def test_grpo_normalises_each_start(episodes: list[Episode]) -> None:
    assert advantages("grpo", episodes) == [[1.0, 1.0], [-1.0], [1.0], [-1.0, -1.0]]


def test_dr_grpo_divides_by_nothing(episodes: list[Episode]) -> None:
    assert advantages("dr_grpo", episodes) == [[0.5, 0.5], [-0.5], [1.5], [-1.5, -1.5]]


def test_a_comparison_may_be_of_discounted_returns(episodes: list[Episode]) -> None:
    discounted = advantages("dr_grpo", episodes, discounted=True)

    assert discounted == [[0.25, 0.25], [-0.25], [1.5], [-1.5, -1.5]]


def test_ppo_is_what_a_critic_did_not_expect(episodes: list[Episode]) -> None:
    plain = credit("ppo", episodes, normalise=False)
    flat = np.concatenate(credit("ppo", episodes).advantages)

    assert [own.tolist() for own in plain.advantages] == [[-0.5, 0.0], [-1.0], [2.0], [-0.5, -1.0]]
    assert plain.value_targets is not None
    assert [own.tolist() for own in plain.value_targets] == [[0.5, 1.0], [0.0], [3.0], [0.5, 0.0]]
    assert np.allclose([flat.mean(), flat.std()], [0.0, 1.0])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_turn_gets_an_advantage(name: str, episodes: list[Episode]) -> None:
    assert [len(own) for own in credit(name, episodes).advantages] == [2, 1, 1, 2]


def test_an_option_that_an_estimator_does_not_take_is_named() -> None:
    with pytest.raises(BadArguments, match="it takes no 'discounted'"):
        estimator_named("rebn", {"discounted": True})


def test_an_unknown_estimator_gets_the_nearest() -> None:
    with pytest.raises(BadArguments, match="Did you mean 'rebn'"):
        estimator_named("rbn", {})

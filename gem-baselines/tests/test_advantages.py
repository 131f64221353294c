"""Each estimator, on records small enough to reckon by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gem.episode import Episode
from gem.errors import BadArguments
from gem_baselines.learning_policy import Floats, Per
from gem_baselines.training.advantages import ESTIMATORS, Credit, Terms, Values, estimator_named

MakeEpisode = Callable[..., Episode]


def ones(episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
    return [np.ones(sum(entries(episode, per))) for episode in episodes]


def entries(episode: Episode, per: Per) -> list[int]:
    """Return how many entries each turn has."""
    return [1 if per == "turn" else sum(turn.mask or ()) for turn in episode.turns]


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


def critic_of(token_values: Sequence[Floats]) -> Values:
    """Return a critic that expects these values, and is asked by token."""

    def values(episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
        assert per == "token"
        return token_values

    return values


def token_advantages(
    episode: Episode, values: Floats, *, gammas: tuple[float, float], lams: tuple[float, float]
) -> list[float]:
    """Reckon the sum of each token's own and later surprises; the first discount is of turns."""
    ends = [int(end) - 1 for end in np.cumsum(entries(episode, "token"))]
    rewards = np.zeros(len(values))
    for end, turn in zip(ends, episode.turns, strict=True):
        rewards[end] = turn.reward
    advantages = []
    for token in range(len(values)):
        total = 0.0
        weight = 1.0
        for later in range(token, len(values)):
            kind = 0 if later in ends else 1
            following = values[later + 1] if later + 1 < len(values) else 0.0
            total += weight * (rewards[later] + gammas[kind] * following - values[later])
            weight *= gammas[kind] * lams[kind]
        advantages.append(total)
    return advantages


def test_ppo_by_token_is_the_sum_of_discounted_surprises(episode: MakeEpisode) -> None:
    rng = np.random.default_rng(0)
    played = [
        episode([0.3, -1.0, 2.0], num_tokens=[2, 1, 4]),
        episode([1.0], num_tokens=[3]),
        episode([]),
    ]
    values = [rng.normal(size=7), rng.normal(size=3), np.zeros(0)]
    terms = Terms(0.9, 0.8, 0.0, critic_of(values))
    options = {"token_gamma": 0.7, "token_lam": 0.6}

    plain = estimator_named("ppo_token", {**options, "normalise": False})(played, terms)
    normalised = estimator_named("ppo_token", options)(played, terms)

    expected = [
        token_advantages(own, own_values, gammas=(0.9, 0.7), lams=(0.8, 0.6))
        for own, own_values in zip(played, values, strict=True)
    ]
    assert [own.tolist() for own in plain.advantages] == [pytest.approx(own) for own in expected]
    assert plain.value_targets is not None
    assert np.allclose(plain.value_targets[0], values[0] + expected[0])
    flat = np.concatenate(expected)
    assert np.allclose(
        np.concatenate(normalised.advantages), (flat - flat.mean()) / flat.std()
    )  # over tokens, and not over turns


def test_by_default_the_length_of_an_answer_discounts_nothing(episode: MakeEpisode) -> None:
    nothing = Terms(0.5, 0.5, 0.0, critic_of([np.zeros(5)]))
    played = [episode([0.0, 1.0], num_tokens=[3, 2])]

    [own] = estimator_named("ppo_token", {"normalise": False})(played, nothing).advantages

    assert own.tolist() == [0.25, 0.25, 0.25, 1.0, 1.0]


def test_with_a_token_a_turn_ppo_by_token_is_ppo_by_turn(episodes: list[Episode]) -> None:
    assert advantages("ppo_token", episodes) == advantages("ppo", episodes)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_turn_or_token_gets_an_advantage(name: str, episode: MakeEpisode) -> None:
    played = [episode([0.0, 1.0], num_tokens=[2, 3]), episode([], repeat=1)]
    per = ESTIMATORS[name].per

    credited = credit(name, played)

    assert credited.per == per
    assert [len(own) for own in credited.advantages] == [5 if per == "token" else 2, 0]


def test_an_option_that_an_estimator_does_not_take_is_named() -> None:
    with pytest.raises(BadArguments, match="it takes no 'discounted'"):
        estimator_named("rebn", {"discounted": True})


def test_an_unknown_estimator_gets_the_nearest() -> None:
    with pytest.raises(BadArguments, match="Did you mean 'rebn'"):
        estimator_named("rbn", {})

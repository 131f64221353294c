"""What a policy-gradient loss multiplies the log-probability of each token by.

Rewards in, coefficients out; `gem.returns`, which gem-train holds, does the sums. Knows nothing
about logs, tokens' texts or pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem import returns
from gem.errors import BadArguments

__all__ = [
    "ESTIMATORS",
    "NORMALISERS",
    "Credit",
    "CreditError",
    "Estimator",
    "Normaliser",
    "Played",
    "credit_of",
]

Floats = NDArray[np.float64]


class CreditError(Exception):
    """Credit that cannot be had of these episodes; its text is one line for a person."""


class Played(NamedTuple):
    """What credit needs to know of an episode, turn by turn.

    `generated_counts` has how many tokens the model said in each turn, None where a turn has none
    on record; `values` is what a critic expected before each turn, None where one is not on record.
    """

    rewards: tuple[float, ...]
    generated_counts: tuple[int, ...] | None = None
    values: tuple[float, ...] | None = None
    succeeded: bool = False


class Credit(NamedTuple):
    """Of each turn of one episode: its return, its advantage, and the coefficient of its tokens.

    The loss of a batch is minus the sum, over every token that the model said, of its coefficient
    times its log-probability.
    """

    returns: tuple[float, ...]
    advantages: tuple[float, ...]
    coefficients: tuple[float, ...]


class Estimator(NamedTuple):
    """A way to make advantages of rewards. `title` is its name for people, `about` what it does.

    `batch` says over which episodes: "run", those of a policy, or "task", its tries of one task.
    """

    title: str
    batch: str
    about: str
    bias: str
    advantages: Callable[[Sequence[Played], float, float], list[Floats]]


class Normaliser(NamedTuple):
    """What the sum over tokens is divided by: `share` of one of the episodes of a batch."""

    title: str
    bias: str
    share: Callable[[Sequence[Played], Played], float]


def credit_of(
    batch: Sequence[Played],
    place: int,
    *,
    estimator: str = "rebn",
    gamma: float = 1.0,
    lam: float = 0.95,
    normaliser: str = "sum",
) -> Credit:
    """Return the credit of the episode that stands at a place in its batch.

    `gamma` discounts rewards, and `lam` is the lambda of `gae`, both from 0 to 1. Raises
    CreditError where these episodes have none, MissingRequirement without gem-train.
    """
    episode = batch[place]
    try:
        # Rewards may be so large that a sum or a square of them is no number: this is said below.
        with np.errstate(over="ignore", invalid="ignore"):
            to_go = returns.discounted_returns(episode.rewards, gamma)
            advantages = ESTIMATORS[estimator].advantages(batch, gamma, lam)[place]
            coefficients = advantages * NORMALISERS[normaliser].share(batch, episode)
    except BadArguments as error:
        raise CreditError(f"This batch has no advantages: {error}") from error
    if not np.isfinite(np.concatenate([to_go, advantages, coefficients])).all():
        raise CreditError("This batch has no advantages: sums of its rewards are too large.")
    return Credit(
        returns=tuple(to_go.tolist()),
        advantages=tuple(advantages.tolist()),
        coefficients=tuple(coefficients.tolist()),
    )


def _own_returns(batch: Sequence[Played], gamma: float, _: float) -> list[Floats]:
    return [returns.discounted_returns(episode.rewards, gamma) for episode in batch]


def _signed(batch: Sequence[Played], gamma: float, _: float) -> list[Floats]:
    changed = [
        returns.signed_rewards(episode.rewards, succeeded=episode.succeeded) for episode in batch
    ]
    return [returns.discounted_returns(rewards, gamma) for rewards in changed]


def _gae(batch: Sequence[Played], gamma: float, lam: float) -> list[Floats]:
    found = []
    for episode in batch:
        if episode.values is None:
            raise CreditError(
                "GAE needs what a critic expected before each turn, and this log does not have it "
                'in every turn of the batch. It is read from info["critic_value"].'
            )
        found.append(returns.gae(episode.rewards, episode.values, gamma, lam))
    return found


def _rebn(batch: Sequence[Played], gamma: float, lam: float) -> list[Floats]:
    to_go = np.concatenate(_own_returns(batch, gamma, lam))
    return _by_episode(returns.rebn(to_go), batch)


def _rebn_leave_one_out(batch: Sequence[Played], gamma: float, lam: float) -> list[Floats]:
    to_go = np.concatenate(_own_returns(batch, gamma, lam))
    return _by_episode(returns.rebn_leave_one_out(to_go, _owners(batch)), batch)


def _mt_rloo(batch: Sequence[Played], gamma: float, lam: float) -> list[Floats]:
    to_go = np.concatenate(_own_returns(batch, gamma, lam))
    one_group = np.zeros(len(to_go), np.int64)
    return _by_episode(returns.mt_rloo(to_go, one_group, _owners(batch)), batch)


def _mt_grpo(batch: Sequence[Played], _gamma: float, _lam: float) -> list[Floats]:
    rewards = np.concatenate([np.array(episode.rewards, np.float64) for episode in batch])
    one_group = np.zeros(len(rewards), np.int64)
    return _by_episode(returns.mt_grpo(rewards, one_group, _owners(batch)), batch)


def _owners(batch: Sequence[Played]) -> NDArray[np.int64]:
    """Return for each turn of a batch the place of its episode."""
    return np.repeat(np.arange(len(batch)), [len(episode.rewards) for episode in batch])


def _by_episode(of_turns: Floats, batch: Sequence[Played]) -> list[Floats]:
    """Cut what all turns of a batch have into parts, one for each episode."""
    ends = np.cumsum([len(episode.rewards) for episode in batch])
    return np.split(of_turns, ends[:-1])


def _of_group(name: str) -> Callable[[Sequence[Played], float, float], list[Floats]]:
    """Give every turn what `gem.returns` gives its episode, in one group of the whole batch."""

    def by_episode(batch: Sequence[Played], gamma: float, lam: float) -> list[Floats]:
        to_go = _own_returns(batch, gamma, lam)
        totals = [float(each[0]) if len(each) else 0.0 for each in to_go]
        of_episodes = getattr(returns, name)(totals, np.zeros(len(totals), np.int64))
        return [
            returns.to_turns([advantage], [len(episode.rewards)])
            for advantage, episode in zip(of_episodes.tolist(), batch, strict=True)
        ]

    return by_episode


ESTIMATORS: Mapping[str, Estimator] = {
    "rebn": Estimator(
        "ReBN",
        "run",
        "the return from each turn on, less the mean and divided by the deviation over all turns",
        "biased by O(1/episodes)",
        _rebn,
    ),
    "rebn_leave_one_out": Estimator(
        "ReBN, own episode left out",
        "run",
        "the return from each turn on, less the mean and divided by the deviation over all turns "
        "of the other episodes",
        "unbiased up to its scale",
        _rebn_leave_one_out,
    ),
    "grpo": Estimator(
        "GRPO",
        "task",
        "the return of the episode, less the mean and divided by the deviation of the group",
        "biased at any size of batch and group",
        _of_group("grpo"),
    ),
    "dr_grpo": Estimator(
        "Dr. GRPO",
        "task",
        "the return of the episode, less the mean of the group",
        "unbiased up to the factor 1 - 1/tries",
        _of_group("dr_grpo"),
    ),
    "rloo": Estimator(
        "RLOO",
        "task",
        "the return of the episode, less the mean of the other tries",
        "unbiased",
        _of_group("rloo"),
    ),
    "mt_rloo": Estimator(
        "MT-RLOO",
        "task",
        "the return from each turn on, less the mean of the other tries that have a turn of this "
        "number",
        "unbiased",
        _mt_rloo,
    ),
    "mt_grpo": Estimator(
        "MT-GRPO",
        "task",
        "the last reward, and before it the turn's own, both undiscounted, each less the mean and "
        "divided by the deviation of the tries that have it",
        "biased at any size of batch and group",
        _mt_grpo,
    ),
    "discounted_returns": Estimator(
        "Returns",
        "run",
        "the return from each turn on",
        "unbiased, with much variance",
        _own_returns,
    ),
    "signed_rewards": Estimator(
        "Signed rewards",
        "run",
        "the return from each turn on, 1 less where the episode did not succeed",
        "unbiased for these rewards, which are other ones",
        _signed,
    ),
    "gae": Estimator(
        "GAE",
        "run",
        "what each turn and those after it earn beyond what a critic expected, nothing being "
        "expected after the last",
        "unbiased where the critic is exact or lambda is 1",
        _gae,
    ),
}
"""By the name that each has in `gem.returns`."""


def _token_count(episode: Played) -> int:
    if episode.generated_counts is None:
        raise CreditError(
            "To divide by tokens they must be counted, and this batch has turns without token ids."
        )
    return sum(episode.generated_counts)


def _share_of_tokens(batch: Sequence[Played], _: Played) -> float:
    return 1.0 / max(sum(map(_token_count, batch)), 1)


def _share_of_own_tokens(batch: Sequence[Played], episode: Played) -> float:
    return 1.0 / (len(batch) * max(_token_count(episode), 1))


NORMALISERS: Mapping[str, Normaliser] = {
    "sum": Normaliser("1: a sum", "", lambda batch, episode: 1.0),
    "episodes": Normaliser("episodes", "", lambda batch, episode: 1.0 / len(batch)),
    "tokens": Normaliser("tokens of the batch", "biased by O(1/episodes)", _share_of_tokens),
    "own_tokens": Normaliser(
        "own tokens, then episodes", "biased at any size of batch", _share_of_own_tokens
    ),
}

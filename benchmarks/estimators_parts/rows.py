"""The estimators that are measured: a row of a table each, and what is known of their bias."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gem.returns import dr_grpo, grpo, mt_grpo, mt_rloo, rebn, rebn_leave_one_out, rloo

TESTS = Path(__file__).parents[2] / "gem-train" / "tests"
sys.path.insert(0, str(TESTS))  # the environments are those of gem-train's tests
measuring = import_module("gradients.measuring")
shipped = import_module("gradients.shipped")


class OfBatch(NamedTuple):
    """An estimator over a batch: what is normalised, and how; as it is where `normalise` is None.

    `shrinks` where its error depends on how many episodes there are.
    """

    title: str
    advantage: str
    verdict: str
    numbers: Callable[[Any], Any]
    normalise: Callable[[Any, Any], Any] | None = None
    shrinks: bool = False


class OfGroup(NamedTuple):
    """An estimator over groups. `target` names the property of a policy that it aims at."""

    title: str
    advantage: str
    target: str
    verdict: str
    estimate: Callable[[Any], Any]


def over_all(numbers: Any, _: Any) -> Any:
    """Normalise over all turns."""
    return rebn(numbers)


def own_turns(numbers: Any, episodes: Any) -> Any:
    """Normalise over all turns, and take a mean in each episode."""
    _, owner, lengths = np.unique(episodes, return_inverse=True, return_counts=True)
    return rebn(numbers) / lengths[owner]


def turns_by(estimate: Callable[..., Any]) -> Callable[[Any], Any]:
    """Give each turn what an estimator of returns, groups and episodes gives it."""
    return lambda batch: estimate(batch.returns, batch.batch, batch.episode)


def rewards_by(**options: Any) -> Callable[[Any], Any]:
    """Give each turn what MT-GRPO gives it."""
    estimate: Any = partial(mt_grpo, **options)
    return lambda batch: estimate(batch.rewards, batch.batch, batch.episode)


def of_batches() -> list[OfBatch]:
    """Return the rows of the first table."""
    exact = measuring.advantages_of_exact_critic
    constant = measuring.advantages_of_constant_critic
    returns = measuring.own_returns
    mean_of_others = partial(rebn_leave_one_out, std=False)
    return [
        OfBatch("`discounted_returns` (REINFORCE)", "G", "unbiased, much variance", returns),
        OfBatch(
            "`discounted_returns` less a constant",
            "G - b, b fixed beforehand",
            "unbiased",
            measuring.own_returns_less(0.7),
        ),
        OfBatch(
            "`rebn`",
            "(G - mean) / std, over all turns",
            "**biased, O(1/episodes)**: consistent",
            returns,
            over_all,
            shrinks=True,
        ),
        OfBatch(
            "`rebn`, then a mean over the episode's own turns",
            "the same / T",
            "biased at any size",
            returns,
            own_turns,
            shrinks=True,
        ),
        OfBatch(
            "`rebn_leave_one_out`, `std=False`",
            "G - mean, over turns of other episodes",
            "**unbiased**",
            returns,
            mean_of_others,
        ),
        OfBatch(
            "`rebn_leave_one_out`",
            "(G - mean) / std, over turns of other episodes",
            "**unbiased up to scale**; 16 episodes or more",
            returns,
            rebn_leave_one_out,
        ),
        OfBatch("`gae`, exact critic, lambda 0.95", "as its paper", "unbiased", exact(0.95)),
        OfBatch("`gae`, constant critic, lambda 1", "G - V", "unbiased", constant(1.0)),
        OfBatch(
            "`gae`, constant critic, lambda 0.95",
            "as its paper",
            "biased at any size",
            constant(0.95),
        ),
        OfBatch(
            "`rebn` of `gae` (whitening), exact critic, lambda 0.95",
            "(A - mean) / std, over all turns",
            "biased, O(1/episodes)",
            exact(0.95),
            over_all,
            shrinks=True,
        ),
        OfBatch(
            "`rebn` of `gae`, constant critic, lambda 0.95",
            "the same",
            "biased at any size",
            constant(0.95),
            over_all,
            shrinks=True,
        ),
        OfBatch(
            "`rebn_leave_one_out` of `gae`, exact critic, lambda 0.95",
            "(A - mean) / std, over turns of other episodes",
            "unbiased up to scale",
            exact(0.95),
            rebn_leave_one_out,
        ),
    ]


def of_groups() -> list[OfGroup]:
    """Return the rows of the second table."""
    sums = shipped.sums_of_rewards
    returns = shipped.returns_of_episodes
    of_episodes = shipped.of_episodes
    padded = partial(mt_rloo, ended="zero")
    return [
        OfGroup(
            "`rloo` of sums of rewards",
            "R - mean of the others",
            "undiscounted",
            "**unbiased**",
            of_episodes(rloo, sums),
        ),
        OfGroup(
            "`rloo` of discounted returns of episodes",
            "G(0) - mean of the others",
            "discounted",
            "**unbiased**",
            of_episodes(rloo, returns),
        ),
        OfGroup(
            "`dr_grpo`",
            "R - mean of the group",
            "undiscounted",
            "unbiased up to the factor 1 - 1/M",
            of_episodes(dr_grpo, sums),
        ),
        OfGroup(
            "`grpo`",
            "(R - mean) / std, of the group",
            "undiscounted",
            "biased; with several starts at any size",
            of_episodes(grpo, sums),
        ),
        OfGroup(
            "`mt_rloo`",
            "G - mean of the others alive at t",
            "turns_own",
            "**unbiased**",
            turns_by(mt_rloo),
        ),
        OfGroup(
            '`mt_rloo`, `ended="zero"`',
            "G - mean of the others, ended = 0",
            "turns_own",
            "**unbiased**",
            turns_by(padded),
        ),
        OfGroup(
            "`mt_grpo` (as published)",
            "own reward and outcome, each normalised at its index",
            "undiscounted",
            "biased at any size",
            rewards_by(),
        ),
        OfGroup(
            "`mt_grpo`, `std=False`",
            "the same, divided by nothing",
            "undiscounted",
            "biased: no credit for later turns",
            rewards_by(std=False),
        ),
        OfGroup(
            "`mt_grpo`, `std=False, later_turns=True`",
            "the same, with the rewards of later turns",
            "undiscounted",
            "biased where lengths vary and earlier turns pay",
            rewards_by(std=False, later_turns=True),
        ),
        OfGroup(
            "`rloo` of turns",
            "G - mean of the group's other turns",
            "turns_own",
            "biased, O(1/M)",
            lambda batch: rloo(batch.returns, batch.batch),
        ),
        OfGroup(
            "`grpo` of turns",
            "(G - mean) / std, of the group's turns",
            "turns_own",
            "biased; with several starts at any size",
            lambda batch: grpo(batch.returns, batch.batch),
        ),
    ]

"""MT-GRPO as it was published is biased where lengths vary, by what a formula says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from gem.returns import mt_grpo

from .closed_forms import natural_mt_grpo
from .enumeration import (
    Batch,
    Floats,
    Turns,
    direction_error,
    expected_updates,
    groups,
    policies,
    relative_error,
)
from .small_environments import SmallEnvironment, chain, invest, tree

SIZE = 4
varied = pytest.mark.parametrize("make", [chain, tree])


def updates(turns: Turns, **options: Any) -> list[Floats]:
    estimate: Any = partial(mt_grpo, **options)

    def of_batch(batch: Batch) -> Any:
        return estimate(batch.rewards, batch.batch, batch.episode)

    return expected_updates(turns, groups(turns, SIZE), of_batch, policies(turns))


@varied
def test_without_deviations_it_is_what_the_closed_form_says(
    make: Callable[[], SmallEnvironment],
) -> None:
    turns = Turns(make())

    found = updates(turns, std=False, later_turns=True)

    for update, policy in zip(found, policies(turns), strict=True):
        assert relative_error(update, natural_mt_grpo(policy, SIZE)) < 1e-9
        assert direction_error(update, policy.undiscounted) > 0.1


@varied
@pytest.mark.parametrize("later_turns", [False, True])
def test_with_deviations_it_points_elsewhere(
    make: Callable[[], SmallEnvironment], later_turns: bool
) -> None:
    turns = Turns(make())

    found = updates(turns, later_turns=later_turns)

    for update, policy in zip(found, policies(turns), strict=True):
        assert direction_error(update, policy.undiscounted) > 0.1


def test_where_all_episodes_are_as_long_later_turns_make_it_right() -> None:
    turns = Turns(invest())

    found = updates(turns, std=False, later_turns=True)

    for update, policy in zip(found, policies(turns), strict=True):
        assert relative_error(update, (1 - 1 / SIZE) * policy.undiscounted) < 1e-9


def test_where_a_turn_pays_later_its_own_reward_alone_is_not_enough() -> None:
    turns = Turns(invest())

    found = updates(turns, std=False)

    for update, policy in zip(found, policies(turns), strict=True):
        assert direction_error(update, policy.undiscounted) > 0.5

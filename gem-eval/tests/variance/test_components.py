from __future__ import annotations

import numpy as np
import pytest

from gem_eval.variance.components import ENVIRONMENT, FIRST, SECOND, TOGETHER, components

TRUE = {FIRST: 1.0, SECOND: 0.25, TOGETHER: 0.5, ENVIRONMENT: 0.1}


def drawn(tasks: int, firsts: int, seconds: int, gradings: int) -> list[np.ndarray]:
    """Draw scores whose parts have the variances of TRUE."""
    rng = np.random.default_rng(0)

    def effect(name: str, *shape: int) -> np.ndarray:
        return rng.normal(0.0, TRUE[name] ** 0.5, shape)

    return [
        rng.normal(0.0, 3.0)
        + effect(FIRST, firsts, 1, 1)
        + effect(SECOND, 1, seconds, 1)
        + effect(TOGETHER, firsts, seconds, 1)
        + effect(ENVIRONMENT, firsts, seconds, gradings)
        for _ in range(tasks)
    ]


def test_each_part_is_found_beside_the_others() -> None:
    found = components([cube.tolist() for cube in drawn(2_000, 4, 3, 2)]).variances
    for name, true in TRUE.items():
        value, interval = found[name]
        assert value == pytest.approx(true, rel=0.1)
        assert interval is not None
        assert interval[0] < true < interval[1]


def test_one_player_alone_has_all_that_grading_does_not() -> None:
    found = components([cube.tolist() for cube in drawn(2_000, 4, 1, 2)]).variances
    # Of one seed of the second player, what both do together is the first one's.
    assert found[FIRST].value == pytest.approx(TRUE[FIRST] + TRUE[TOGETHER], rel=0.1)
    assert (found[SECOND].value, found[TOGETHER].value) == (0.0, 0.0)
    assert found[ENVIRONMENT].value == pytest.approx(TRUE[ENVIRONMENT], rel=0.1)


def test_what_tasks_differ_by_is_found_beside_what_is_drawn() -> None:
    found = components([cube.tolist() for cube in drawn(2_000, 4, 3, 2)])
    for estimate, true in (
        (found.between_tasks, 9.0),
        (found.same_tasks, sum(TRUE.values())),
        (found.new_tasks, 9.0 + sum(TRUE.values())),
    ):
        assert estimate.value == pytest.approx(true, rel=0.1)
        assert estimate.ci95 is not None
        assert estimate.ci95[0] < true < estimate.ci95[1]


def test_what_is_known_to_be_absent_is_nothing() -> None:
    found = components([cube.tolist() for cube in drawn(20, 4, 3, 2)], [SECOND, TOGETHER])
    assert found.variances[SECOND] == found.variances[TOGETHER] == (0.0, (0.0, 0.0))
    assert found.same_tasks.value == pytest.approx(
        (found.variances[FIRST].value or 0.0) + (found.variances[ENVIRONMENT].value or 0.0)
    )


def test_scores_that_are_alike_have_no_noise() -> None:
    found = components([[[[1.0, 1.0]] * 3] * 2] * 5)
    assert found.mean.value == 1.0
    assert {estimate.value for estimate in found.variances.values()} == {0.0}


def test_tasks_that_differ_are_no_noise() -> None:
    found = components([[[[float(task)]] * 3] * 3 for task in range(5)])
    assert {estimate.value for estimate in found.variances.values()} == {0.0}
    assert found.between_tasks.value == pytest.approx(2.5)

"""Training as it is, on a CPU: GRPOTrainer, our rollout function, and one of our games.

The code is that of the example `trl_learning.py`; its control differs in one switch.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "trainers"
sys.path.insert(0, str(EXAMPLES))

from trl_learning import MAXIMUM, SEEDS, curve, gain, random_returns

STEPS = 40


@pytest.fixture(scope="session")
def third_of_the_gap() -> float:
    """A third of what lies between the random policy and the maximum."""
    returns = list(random_returns())
    return (MAXIMUM - sum(returns) / len(returns)) / 3


@pytest.mark.parametrize("seed", SEEDS)
def test_training_raises_the_return(
    tmp_path: Path, third_of_the_gap: float, shown: Counter[str], seed: int
) -> None:
    means = curve(seed, is_control=False, steps=STEPS, folder=str(tmp_path))

    assert gain(means) >= third_of_the_gap
    shown["training_steps"] += len(means)


@pytest.mark.parametrize("seed", SEEDS)
def test_shuffled_rewards_do_not(
    tmp_path: Path, third_of_the_gap: float, shown: Counter[str], seed: int
) -> None:
    means = curve(seed, is_control=True, steps=STEPS, folder=str(tmp_path))

    assert gain(means) < third_of_the_gap
    shown["training_steps"] += len(means)

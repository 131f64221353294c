"""What is learnt: a table of intervals finds bisection, and only a discount makes it hurry."""

from __future__ import annotations

from pathlib import Path

import pytest

import gem
from gem_baselines.training import Experiment, train
from gem_baselines.training.training import Training

pytest.importorskip("gem_envs_games", reason="gem-envs-games is not installed")
pytestmark = pytest.mark.slow

GAME = "game:GuessTheNumber-v0"
OPTIMUM = 2.9  # guesses on average, by bisection of 1 to 10


def trained(folder: Path, *, gamma: float, max_turns: int, updates: int) -> Training:
    kwargs = {"min_number": 1, "max_number": 10, "max_turns": max_turns}
    plain = {
        "env": GAME,
        "env_kwargs": kwargs,
        "policy_kwargs": {"view": "interval", "learning_rate": 0.1},
        "gamma": gamma,
        "updates": updates,
        "eval_every": 0,
    }
    return train(Experiment.of(plain), folder)


def test_rebn_finds_bisection(tmp_path: Path) -> None:
    training = trained(tmp_path, gamma=0.9, max_turns=10, updates=80)
    kwargs = training.folder.experiment.env_kwargs

    turns = {}
    for greedy in (False, True):
        training.policy.is_greedy = greedy
        episodes = gem.run(training.policy, GAME, env_kwargs=kwargs, episodes=1000, seed=1)
        assert all(episode.success for episode in episodes)
        turns[greedy] = sum(len(episode.turns) for episode in episodes) / 1000

    assert turns[True] == pytest.approx(OPTIMUM, abs=0.1)
    assert turns[False] == pytest.approx(OPTIMUM, abs=0.1)


def test_without_a_discount_and_a_limit_that_binds_it_takes_its_time(tmp_path: Path) -> None:
    last = {}
    for gamma in (0.9, 1.0):
        training = trained(tmp_path / str(gamma), gamma=gamma, max_turns=30, updates=40)
        last[gamma] = sum(line["turns"] for line in training.folder.metrics[-10:]) / 10

    assert last[1.0] > last[0.9] + 1.0

"""Rewards: groups with nothing to compare, apart by what they earn, and a reward that parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gem_baselines.doctor.run import Evaluation, Played, Run, Sample

from .made import changed_samples, changed_series, found, made_run, sentence_of


def flat(run: Run, *, success: bool, since: int = 0) -> Run:
    """Return the run with groups in which all are right, or all wrong, from a sample on."""

    def member(each: Played) -> Played:
        return each._replace(
            success=success,
            rewards=np.array([0.0, float(success)]),
            advantages=np.zeros(2),
        )

    def of_sample(sample: Sample) -> Sample:
        if sample.update < since:
            return sample
        return replace(sample, played=list(map(member, sample.played)), shown=[])

    return changed_samples(run, of_sample)


def rloo_run() -> Run:
    return made_run(estimator="rloo")


def test_groups_that_are_all_wrong_are_suspect() -> None:
    finding = found(flat(rloo_run(), success=False))["signal"]

    assert finding.severity == "suspect"
    assert "0% are all right, 100% all wrong" in finding.sentence
    assert "too hard" in finding.sentence


def test_groups_that_are_all_right_from_the_first_update_on_are_suspect() -> None:
    finding = found(flat(rloo_run(), success=True))["signal"]

    assert finding.severity == "suspect"
    assert "100% are all right, 0% all wrong" in finding.sentence
    assert "too easy" in finding.sentence


def test_groups_that_are_all_right_at_last_are_a_note() -> None:
    finding = found(flat(rloo_run(), success=True, since=40))["signal"]

    assert finding.severity == "note"
    assert "The task is learnt" in finding.sentence


def evaluated(run: Run, *, rewards: np.ndarray) -> Run:
    """Return the run with evaluations in which episodes earn this."""
    success = (rewards > 0.5).astype(np.float64)
    turns = np.tile([2.0, 4.0], len(rewards) // 2)
    evaluations = [Evaluation(update, rewards, success, turns) for update in range(0, 100, 10)]
    return replace(run, evaluations=evaluations)


def test_a_reward_that_only_training_pays_is_found() -> None:
    run = changed_series(made_run(repeats=1), reward=np.full(120, 0.9))
    rewards = np.tile([0.0, 1.0], 50)

    sentence = sentence_of(evaluated(run, rewards=rewards), "evaluation")

    assert "a mean reward of 0.900 in training and 0.500 on held-out episodes" in sentence


def test_a_reward_that_holds_is_no_finding() -> None:
    chance = np.random.default_rng(0)
    reward = 0.5 + chance.normal(0.0, 0.5 / np.sqrt(16), 120)
    run = changed_series(made_run(), reward=reward, success=reward)

    assert found(evaluated(run, rewards=np.tile([0.0, 1.0], 50))) == {}


def test_a_reward_that_falls_where_it_is_held_out_is_found() -> None:
    run = changed_series(
        made_run(), reward=np.linspace(0.0, 1.0, 40), eval_reward=np.linspace(0.8, 0.1, 40)
    )

    assert "rises by 0.513 in training and falls" in sentence_of(run, "evaluation_figure")

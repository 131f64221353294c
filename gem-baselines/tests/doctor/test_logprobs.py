"""Sampler and learner: other weights, another temperature, other draws, steps that lead away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gem_baselines.doctor.run import Sample, ShownRow
from gem_baselines.learning_policy import Floats

from .made import changed_rows, changed_samples, changed_series, found, made_run, sentence_of


def learning(row: ShownRow, learner: Floats) -> ShownRow:
    """Return a row whose learner computes these logprobs, and moves as it did."""
    return row._replace(learner=learner, learner_after=learner + row.learner_after - row.learner)


def test_another_temperature_is_named() -> None:
    run = changed_rows(made_run(), lambda row: learning(row, 1.5 * row.learner))

    sentence = sentence_of(run, "logprobs")

    assert "in 12 of 12 samples" in sentence
    assert "as at another temperature (slope 1.50)" in sentence


def test_weights_that_are_stale_after_the_first_updates_are_named() -> None:
    def stale(sample: Sample) -> Sample:
        chance = np.random.default_rng(sample.update)
        if sample.update < 20:
            return sample
        shown = [
            each._replace(
                rows=tuple(
                    learning(row, row.learner + chance.normal(0.0, 0.2, len(row.learner)))
                    for row in each.rows or ()
                )
            )
            for each in sample.shown
        ]
        return replace(sample, shown=shown)

    sentence = sentence_of(changed_samples(made_run(), stale), "logprobs")

    assert "in 10 of 12 samples" in sentence
    assert "stale weights or a stale cache" in sentence


def test_rounding_is_no_finding() -> None:
    run = changed_rows(made_run(), lambda row: learning(row, row.learner + 1e-5))

    assert found(run) == {}


def test_bfloat16_may_be_further_apart_than_float32() -> None:
    def apart(**settings: object) -> dict[str, object]:
        run = made_run(**settings)
        return dict(found(changed_rows(run, lambda row: learning(row, row.learner + 0.01))))

    assert set(apart()) == {"logprobs"}
    assert apart(policy_kwargs={"learning": {"precision": "bf16"}}) == {}


def test_a_distance_in_the_runs_own_figures_is_found() -> None:
    run = changed_series(made_run(), logprob_gap=np.full(40, 0.3))

    assert "0.3 nats apart" in sentence_of(run, "logprobs")


def test_tokens_that_are_drawn_too_greedily_are_found() -> None:
    """A policy whose recorded distribution is wider than what its tokens were drawn from."""

    def wider(row: ShownRow) -> ShownRow:
        assert row.entropies is not None
        return row._replace(entropies=row.entropies + 0.3 * (row.entropies > 0))

    sentence = sentence_of(changed_rows(made_run(), wider), "sampling")

    assert sentence.startswith("Improbable tokens are drawn too seldom")
    assert "top-k" in sentence


def test_updates_that_move_nothing_are_found() -> None:
    run = changed_rows(made_run(), lambda row: row._replace(learner_after=row.learner))

    assert "12 of 12 updates change no probability" in sentence_of(run, "direction")


def test_updates_that_move_against_the_advantages_are_found() -> None:
    run = changed_rows(
        made_run(),
        lambda row: row._replace(learner_after=2 * row.learner - row.learner_after),
    )

    assert "The loss has the wrong sign" in sentence_of(run, "direction")

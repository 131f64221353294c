"""The course of a training: entropy, steps, lengths, limits and errors; and what is healthy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gem_baselines.doctor.run import Run, Sample

from .made import changed_samples, changed_series, found, made_run, sentence_of

CHANCE = np.random.default_rng(3)
NOISE = CHANCE.normal(0.0, 0.02, 120)


def test_an_entropy_that_collapses_at_once_is_found() -> None:
    entropy = np.where(np.arange(120) < 30, 1.5, 0.02) + abs(NOISE) / 10

    sentence = sentence_of(changed_series(made_run(), entropy=entropy), "entropy")

    assert sentence.startswith("The entropy collapses in one update: from 1.5")
    assert "from update 31 on" in sentence


def test_an_entropy_that_falls_in_vain_is_found() -> None:
    run = changed_series(made_run(), entropy=1.5 * np.exp(-np.arange(120) / 15), reward=0.3 + NOISE)

    assert "and the reward goes from 0.298 to 0.299" in sentence_of(run, "entropy")


def test_a_policy_that_becomes_sure_as_it_earns_more_is_healthy() -> None:
    run = changed_series(made_run(), entropy=1.5 * np.exp(-np.arange(120) / 15))

    assert found(run) == {}


def test_steps_that_leave_the_clip_behind_are_found() -> None:
    run = changed_series(made_run(), clip_share=np.full(40, 0.7))

    assert "0.7 of what is learnt from is beyond the clip" in sentence_of(run, "steps")


def test_answers_that_grow_into_their_limit_are_found() -> None:
    def longer(sample: Sample) -> Sample:
        cut = sample.update // 3
        played = [
            each._replace(
                answer_tokens=np.full(len(each.rewards), 5.0 + sample.update),
                cut_answers=min(len(each.rewards), cut),
            )
            for each in sample.played
        ]
        return replace(sample, played=played)

    sentence = sentence_of(changed_samples(made_run(), longer), "answers")

    assert "Answers grow: from 11.0 tokens to 106.0" in sentence


def test_the_same_is_found_in_figures_alone() -> None:
    growing = np.linspace(20.0, 200.0, 40)
    run = replace(made_run(), samples=[])

    changed = changed_series(run, answer_tokens=growing, cut_share=growing / 250)

    assert "a limit cuts 72% of them at last" in sentence_of(changed, "answers")


def more_cut_off(run: Run) -> Run:
    def of_sample(sample: Sample) -> Sample:
        played = [
            each._replace(stop_reason="truncated" if place < sample.update / 8 else "terminated")
            for place, each in enumerate(sample.played)
        ]
        return replace(sample, played=played, shown=[])

    return changed_samples(run, of_sample)


def test_limits_that_cut_off_more_and_more_are_found_where_nothing_is_gained() -> None:
    run = more_cut_off(made_run())

    assert "cut_off" not in found(run)
    changed = changed_series(run, reward=0.5 + NOISE)
    assert "Limits cut off more and more episodes" in found(changed)["cut_off"].sentence


def test_errors_are_found() -> None:
    run = changed_series(made_run(), errors=np.linspace(0.0, 0.4, 40))

    sentence = sentence_of(run, "errors")

    assert "Errors end 20.0% of the episodes" in sentence
    assert "and they become more" in sentence

"""What was played: how episodes end, which are left out, how groups start, what comes again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gem_baselines.doctor.reading import read_training
from gem_baselines.doctor.replaying import REPLAY
from gem_baselines.doctor.run import Run, Sample
from gem_baselines.training import Experiment, train

from .made import changed_played, changed_samples, found, made_run, sentence_of


def with_episodes(run: Run, **changes: Any) -> Run:
    """Return the run with each record that is shown changed."""

    def of_sample(sample: Sample) -> Sample:
        shown = [each._replace(episode=replace(each.episode, **changes)) for each in sample.shown]
        return replace(sample, shown=shown)

    return changed_samples(run, of_sample)


def cut_off(sample: Sample) -> Sample:
    """Return a sample in which a limit ended every episode that is shown, by its last turn."""
    shown = []
    for each in sample.shown:
        *before, last = each.episode.turns
        turns = (*before, replace(last, terminated=False, truncated=True))
        shown.append(each._replace(episode=replace(each.episode, turns=turns)))
    return replace(sample, shown=shown)


def test_a_truncated_episode_that_counts_as_ended_is_found() -> None:
    sentence = sentence_of(changed_samples(made_run(), cut_off), "endings")

    assert sentence.startswith("A truncated episode counts as ended")
    assert "192 of 192 episodes" in sentence


def test_rewards_that_do_not_add_up_are_found() -> None:
    run = with_episodes(made_run(), total_reward=9.0)

    assert "Rewards of turns and of their episode differ" in sentence_of(run, "endings")


def test_cut_off_episodes_that_are_thrown_away_are_found() -> None:
    run = made_run(estimator="raw")

    def thrown(each: Any) -> Any:
        if each.repeat:
            return each
        return each._replace(stop_reason="max_turns", is_learnt=False)

    findings = found(changed_played(run, thrown))

    assert "48 of 192 episodes were played and not learnt from" in findings["left_out"].sentence
    assert "never pays for being slow" in findings["left_out"].sentence


def test_an_episode_that_an_error_ended_may_be_left_out() -> None:
    run = made_run(estimator="raw")

    def failed(each: Any) -> Any:
        if each.repeat:
            return each
        return each._replace(stop_reason="env_error", is_learnt=False)

    assert "left_out" not in found(changed_played(run, failed))


def test_a_group_of_different_starts_is_found() -> None:
    run = changed_played(made_run(), lambda each: each._replace(seed=each.seed * 4 + each.repeat))

    assert "48 of 48 groups" in sentence_of(run, "starts")


def test_a_group_that_begins_otherwise_from_one_seed_is_found() -> None:
    run = made_run()
    sample = run.samples[0]
    first, *others = sample.shown
    turns = (replace(first.episode.turns[0], observation="left over"), *first.episode.turns[1:])
    odd = first._replace(episode=replace(first.episode, turns=turns))
    changed = replace(run, samples=[replace(sample, shown=[odd, *others]), *run.samples[1:]])

    assert "keeps something between episodes" in sentence_of(changed, "starts")


def test_updates_that_play_the_same_seeds_are_found() -> None:
    run = changed_played(made_run(), lambda each: each._replace(seed=each.start[1]))

    assert "update 11 those of update 1" in sentence_of(run, "same_episodes")


def test_replaying_finds_an_episode_that_does_not_come_again(
    experiment: Any, tmp_path: Any
) -> None:
    settings: Experiment = experiment(updates=1)
    train(settings, tmp_path)
    run = read_training(tmp_path)
    sample = run.samples[0]
    first, *others = sample.shown
    turns = tuple(replace(turn, reward=0.5) for turn in first.episode.turns)
    odd = first._replace(episode=replace(first.episode, turns=turns))
    changed = replace(run, samples=[replace(sample, shown=[odd, *others])])

    assert list(REPLAY.rule(run)) == []
    (finding,) = REPLAY.rule(changed)
    assert "1 of 4 sampled episodes do not come again" in finding.sentence
    assert "reward was 0.5" in finding.sentence

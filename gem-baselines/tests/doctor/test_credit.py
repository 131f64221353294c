"""Advantages: what each estimator should give, and what is said of those that are others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gem.episode import Episode
from gem_baselines.doctor.diagnosis import diagnosed
from gem_baselines.doctor.expected import KNOWN, Credit, expected_advantages, expected_targets
from gem_baselines.doctor.run import Played, Run
from gem_baselines.learning_policy import Floats, Per
from gem_baselines.training.advantages import ESTIMATORS, Terms, Values, estimator_named

from .made import SETTINGS, changed_played, found, made_run, sentence_of

OPTIONS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in KNOWN),
    ("rebn_leave_one_out", {"std": False}),
    ("rloo", {"discounted": True}),
    ("grpo", {"discounted": True}),
    ("mt_rloo", {"ended": "zero"}),
    ("mt_grpo", {"std": False, "later_turns": True}),
    ("mt_grpo", {"later_turns": True, "turn_weight": 0.5}),
    ("ppo", {"normalise": False}),
    ("ppo_token", {"token_gamma": 0.8, "token_lam": 0.7, "normalise": False}),
]


def known(values: list[Floats]) -> Values:
    """Return a critic that expects these values, whatever it is shown."""

    def expected(episodes: Sequence[Episode], *, per: Per = "turn") -> list[Floats]:
        return values

    return expected


def _values(episode: Played, per: Per) -> Floats:
    """Return values by turn, or others by token."""
    assert episode.values is not None
    assert episode.answer_tokens is not None
    if per == "turn":
        return episode.values
    return np.linspace(-0.5, 1.0, int(episode.answer_tokens.sum())) ** 2


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_it_expects_what_the_estimator_gives(name: str, options: dict[str, Any]) -> None:
    run = made_run()
    for sample in run.samples[:3]:
        episodes: list[Episode] = [shown.episode for shown in sample.shown]
        values = [_values(each, ESTIMATORS[name].per) for each in sample.played]
        given = estimator_named(name, options)(episodes, Terms(0.9, 0.95, 0.3, known(values)))
        played = [
            each._replace(values=own) for each, own in zip(sample.played, values, strict=True)
        ]
        rewards = [each.rewards.tolist() for each in played]
        batch = Credit(played, rewards, 0.9, 0.95, 0.3)

        due = expected_advantages(name, options, batch)

        assert [len(own) for own in due] == [len(own) for own in given.advantages]
        assert np.allclose(np.concatenate(due), np.concatenate(given.advantages), atol=1e-12)
        if given.value_targets is not None:
            targets = np.concatenate(expected_targets(name, options, batch))
            assert np.allclose(targets, np.concatenate(given.value_targets), atol=1e-12)


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_it_expects_of_an_episode_without_a_turn_what_the_estimator_gives(
    name: str, options: dict[str, Any]
) -> None:
    (sample, *_) = made_run().samples
    nothing = np.zeros(0)
    # A first prompt that is too long: one of a group, all but one of another, and a whole group.
    is_empty = [number in (0, 5, 6, 7, 8, 9, 10, 11) for number in range(len(sample.played))]
    played = [
        each._replace(rewards=nothing, answer_tokens=nothing, values=nothing)
        if has_no_turn
        else each._replace(values=_values(each, ESTIMATORS[name].per))
        for each, has_no_turn in zip(sample.played, is_empty, strict=True)
    ]
    episodes: list[Episode] = [
        replace(shown.episode, turns=()) if has_no_turn else shown.episode
        for shown, has_no_turn in zip(sample.shown, is_empty, strict=True)
    ]
    values = [each.values for each in played if each.values is not None]
    given = estimator_named(name, options)(episodes, Terms(0.9, 0.95, 0.3, known(values)))

    batch = Credit(played, [each.rewards.tolist() for each in played], 0.9, 0.95, 0.3)
    due = expected_advantages(name, options, batch)

    assert [len(own) for own in due] == [len(own) for own in given.advantages]
    assert np.allclose(np.concatenate(due), np.concatenate(given.advantages), atol=1e-12)


def test_a_run_that_does_what_it_says_has_no_finding() -> None:
    assert found(made_run()) == {}


def credited(run: Run, rewards_of: Callable[[Sequence[Played]], list[Floats]], gamma: float) -> Run:
    """Return the run with the advantages that other rewards and another discount give."""
    advantages: list[Floats] = []
    for sample in run.samples:
        rewards = [own.tolist() for own in rewards_of(sample.played)]
        batch = Credit(sample.played, rewards, gamma)
        due = expected_advantages(run.settings["estimator"], {}, batch)
        advantages += map(np.array, due)
    following = iter(advantages)
    return changed_played(run, lambda each: each._replace(advantages=next(following)))


def as_played(episodes: Sequence[Played]) -> list[Floats]:
    return [each.rewards for each in episodes]


def late(episodes: Sequence[Played]) -> list[Floats]:
    return [np.array([0.0, *each.rewards[:-1]]) for each in episodes]


def negated(each: Played) -> Played:
    assert each.advantages is not None
    return each._replace(advantages=-each.advantages)


def halved(each: Played) -> Played:
    assert each.advantages is not None
    return each._replace(advantages=0.5 * each.advantages)


def test_a_sign_that_is_turned_round_is_named() -> None:
    finding = found(changed_played(made_run(), negated))["advantages"]

    assert finding.severity == "wrong"
    assert "every sign is turned round" in finding.sentence
    assert "in 12 of 12 updates" in finding.sentence
    assert finding.figures["given"] == -finding.figures["expected"]
    assert finding.place is not None
    assert finding.place.turn is not None


def test_a_multiple_is_named_with_its_factor() -> None:
    changed = changed_played(made_run(), halved)

    assert "a multiple of it (0.5 times)" in sentence_of(changed, "advantages")


def test_a_reward_one_turn_late_is_named() -> None:
    changed = credited(made_run(), late, 0.9)

    assert sentence_of(changed, "advantages").endswith("each reward stands one turn late.")


def test_a_forgotten_discount_is_named() -> None:
    changed = credited(made_run(), as_played, 1.0)

    assert "rewards are not discounted" in sentence_of(changed, "advantages")


def test_a_return_that_runs_on_into_the_episode_before_is_named() -> None:
    def run_on(episodes: Sequence[Played]) -> list[Floats]:
        later = 0.0
        found: list[Floats] = []
        for each in reversed(episodes):
            rewards = each.rewards.copy()
            rewards[-1] += 0.9 * later
            later = sum(0.9**turn * reward for turn, reward in enumerate(rewards))
            found.append(rewards)
        return found[::-1]

    changed = credited(made_run(), run_on, 0.9)

    assert "not set back to 0 between two episodes" in sentence_of(changed, "advantages")


def test_an_estimator_that_is_not_known_is_not_checked() -> None:
    unknown = diagnosed(replace(made_run(), settings={**SETTINGS, "estimator": "own"}))

    assert "'own' is not" in unknown.unchecked["advantages"]


def test_targets_of_a_critic_that_leave_its_values_out_are_found() -> None:
    run = made_run(estimator="ppo", estimator_kwargs={"normalise": False})
    assert found(run) == {}

    changed = changed_played(run, lambda each: each._replace(value_targets=each.advantages))

    assert set(found(changed)) == {"value_targets"}


def test_an_advantage_that_is_not_its_tokens_is_found_at_its_turn() -> None:
    run = made_run(estimator="ppo_token", estimator_kwargs={"normalise": False})
    assert found(run) == {}

    def with_another_end(each: Played) -> Played:
        assert each.advantages is not None
        changed = each.advantages.copy()
        changed[3] += 1.0  # of the second turn's end: an answer has two tokens
        return each._replace(advantages=changed)

    finding = found(changed_played(run, with_another_end))["advantages"]

    assert finding.place is not None
    assert finding.place.turn == 1
    assert finding.figures["tokens_that_differ"] == 16
    assert finding.figures["tokens"] > 64


def test_a_token_without_a_value_leaves_advantages_by_token_unchecked() -> None:
    run = made_run(estimator="ppo_token")

    def without_the_last(each: Played) -> Played:
        assert each.values is not None
        return each._replace(values=each.values[:-1])

    assert "advantages" not in found(changed_played(run, without_the_last))

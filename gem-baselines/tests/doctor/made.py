"""Runs that are made by hand: a policy of a few tokens plays, learns as it should, and is recorded.

Nothing is trained. A test then changes one thing, as a bug would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gem.episode import Episode, Turn
from gem_baselines.doctor.diagnosis import diagnosed
from gem_baselines.doctor.expected import Credit, expected_advantages
from gem_baselines.doctor.finding import Finding
from gem_baselines.doctor.run import Played, Run, Sample, Series, Shown, ShownRow
from gem_baselines.learning_policy import Floats
from gem_baselines.text import WordTokenizer
from gem_baselines.training.advantages import ESTIMATORS

TOKENIZER = WordTokenizer(["a", "b", "c", "d"])
END = TOKENIZER.end_id
SAMPLES = 12
EPISODES = 16
REPEATS = 4
SETTINGS: dict[str, Any] = {
    "estimator": "rebn",
    "estimator_kwargs": {},
    "gamma": 0.9,
    "lam": 0.95,
    "episodes": EPISODES,
    "repeats": REPEATS,
    "policy_kwargs": {},
}


def made_run(**settings: Any) -> Run:
    """Return a healthy run of these settings. The same settings give the same run."""
    chance = np.random.default_rng(7)
    plain = {**SETTINGS, **settings}
    samples = [_sample(chance, 1 + 10 * number, plain) for number in range(SAMPLES)]
    updates = np.arange(1.0, 10 * SAMPLES + 1)
    flat = chance.normal(0.0, 0.05, len(updates))
    series = {
        "reward": Series(updates, np.linspace(0.2, 0.8, len(updates)) + flat),
        "success": Series(updates, np.linspace(0.2, 0.8, len(updates)) + flat),
        "turns": Series(updates, 3.0 + flat),
        "errors": Series(updates, 0.0 * flat),
        "entropy": Series(updates, np.linspace(1.5, 0.9, len(updates)) + flat),
        "clip_share": Series(updates, 0.05 + 0.0 * flat),
    }
    return Run(Path("made"), "training", series, samples, (), plain, TOKENIZER)


def changed_rows(run: Run, change: Callable[[ShownRow], ShownRow]) -> Run:
    """Return the run with each row changed."""

    def of_shown(shown: Shown) -> Shown:
        return shown._replace(rows=tuple(map(change, shown.rows or ())))

    return changed_samples(run, lambda each: replace(each, shown=list(map(of_shown, each.shown))))


def changed_played(run: Run, change: Callable[[Played], Played]) -> Run:
    """Return the run with each episode in numbers changed."""
    return changed_samples(run, lambda each: replace(each, played=list(map(change, each.played))))


def changed_samples(run: Run, change: Callable[[Sample], Sample]) -> Run:
    """Return the run with each sample changed."""
    return replace(run, samples=list(map(change, run.samples)))


def changed_series(run: Run, **values: Floats) -> Run:
    """Return the run with other values of figures, from update 1 on."""
    series = {
        name: Series(np.arange(1.0, len(own) + 1), np.asarray(own, np.float64))
        for name, own in values.items()
    }
    return replace(run, series={**run.series, **series})


def found(run: Run) -> dict[str, Finding]:
    """Return what the doctor finds, by its check."""
    return {finding.check: finding for finding in diagnosed(run).findings}


def sentence_of(run: Run, check: str) -> str:
    """Return what is said by one check, which has to be the only one that finds anything."""
    findings = found(run)
    assert set(findings) == {check}
    return findings[check].sentence


def _sample(chance: np.random.Generator, update: int, settings: dict[str, Any]) -> Sample:
    logits = chance.normal(0.0, 1.0, 4)
    log_probs = logits - np.log(np.exp(logits).sum())
    entropy = float(-(np.exp(log_probs) * log_probs).sum())
    episodes = [_episode(chance, update, number, log_probs) for number in range(EPISODES)]
    values_a_turn = 2 if ESTIMATORS[settings["estimator"]].per == "token" else 1
    played = [_played(episode, values_a_turn) for episode in episodes]
    rewards = [each.rewards.tolist() for each in played]
    credit = Credit(played, rewards, settings["gamma"], settings["lam"])
    due = expected_advantages(settings["estimator"], settings["estimator_kwargs"], credit)
    arrays = [np.array(own) for own in due]
    played = [
        each._replace(advantages=own, value_targets=own + each.values)
        for each, own in zip(played, arrays, strict=True)
    ]
    shown = [
        Shown(number, episode, own, (_row(chance, episode, own, entropy),))
        for number, (episode, own) in enumerate(zip(episodes, arrays, strict=True))
    ]
    return Sample(update, played, shown)


def _episode(chance: np.random.Generator, update: int, number: int, log_probs: Floats) -> Episode:
    """Play two to four turns: a prompt of two tokens, and an answer of one token and the end."""
    start, repeat = divmod(number, REPEATS)
    num_turns = int(chance.integers(2, 5))
    turns = []
    for turn in range(num_turns):
        token = int(chance.choice(4, p=np.exp(log_probs)))
        is_last = turn == num_turns - 1
        turns.append(
            Turn(
                observation=f"start {start}" if turn == 0 else "go on",
                action="abcd"[token],
                reward=round(float(chance.random()), 2) if is_last else 0.25 * (token == 0),
                terminated=is_last,
                truncated=False,
                token_ids=(1, 2, 4 + token, END),
                mask=(0, 0, 1, 1),
                logprobs=(0.0, 0.0, float(log_probs[token]), 0.0),
                finish_reason="stop",
            )
        )
    total = sum(turn.reward for turn in turns)
    return Episode(
        env_id="made:Hand",
        env_kwargs={},
        wrappers=(),
        env_index=0,
        episode_index=start,
        repeat=repeat,
        seed=1000 * update + start,
        task=None,
        policy="made",
        turns=tuple(turns),
        final_observation=None,
        total_reward=total,
        terminated=True,
        truncated=False,
        stop_reason="terminated",
        error=None,
        success=total > 0.5,
        versions={},
        duration_s=0.0,
    )


def _played(episode: Episode, values_a_turn: int) -> Played:
    rewards = np.array([turn.reward for turn in episode.turns])
    return Played(
        start=(episode.env_index, episode.episode_index),
        repeat=episode.repeat,
        seed=episode.seed,
        task=None,
        stop_reason=episode.stop_reason,
        success=episode.success,
        rewards=rewards,
        answer_tokens=np.full(len(rewards), 2.0),
        cut_answers=0,
        is_learnt=True,
        advantages=None,
        values=0.5 * np.ones(values_a_turn * len(rewards)),
        value_targets=None,
    )


def _row(
    chance: np.random.Generator, episode: Episode, advantages: Floats, entropy: float
) -> ShownRow:
    ids = tuple(token for turn in episode.turns for token in turn.token_ids or ())
    logprobs = np.array([turn.logprobs[2:] for turn in episode.turns if turn.logprobs]).ravel()
    # An answer has two tokens, which share what the turn is given where that is one advantage.
    credit = advantages if len(advantages) == len(logprobs) else np.repeat(advantages, 2)
    learner = logprobs + chance.normal(0.0, 1e-7, len(logprobs))
    return ShownRow(
        ids=ids,
        places=tuple(place for place in range(len(ids)) if place % 4 >= 2),
        advantages=credit,
        sampler=logprobs,
        learner=learner,
        learner_after=learner + 0.01 * credit + chance.normal(0.0, 0.01, len(credit)),
        # Of each answer's token and of its end, which is certain.
        entropies=np.tile([entropy, 0.0], len(episode.turns)),
    )

"""Do the advantages follow from the rewards, by the estimator and discount of the experiment?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gem_baselines.doctor.expected import (
    KNOWN,
    WITH_CRITIC,
    Credit,
    Numbers,
    expected_advantages,
    expected_targets,
)
from gem_baselines.doctor.finding import Check, Finding, Place
from gem_baselines.doctor.run import Played, Run, Sample
from gem_baselines.learning_policy import Floats

__all__ = ["CHECKS"]

_TOLERANCE = 1e-6  # relative to the largest advantage of the batch


def advantages(run: Run) -> Iterator[Finding]:
    """Find advantages that are not those of the recorded rewards."""
    wrong: list[tuple[Sample, Floats, Floats]] = []
    looked = 0
    for sample in _credited(run):
        given = _joined([episode.advantages for episode in sample.learnt])
        due = _joined(_due(run, _credit_of(run, sample)))
        looked += 1
        if not _is_close(given, due):
            wrong.append((sample, given, due))
    if not wrong:
        return
    sample, given, due = max(wrong, key=lambda each: _distance(each[1], each[2]))
    apart = np.abs(given - due)
    episode, turn = _place_of(sample, int(apart.argmax()))
    guess = _explanation(run, [each[0] for each in wrong])
    credited = "tokens" if run.credits_tokens else "turns"
    yield Finding(
        "advantages",
        "wrong",
        f"The advantages are not those that {run.settings['estimator']!r} with gamma "
        f"{run.settings['gamma']:g} gives for the recorded rewards, in {len(wrong)} of {looked} "
        f"updates{guess}.",
        [each[0].update for each in wrong],
        {
            "given": float(given[apart.argmax()]),
            "expected": float(due[apart.argmax()]),
            f"{credited}_that_differ": float((apart > _bound(due)).sum()),
            credited: float(len(given)),
        },
        Place(sample.update, episode, sample.learnt[episode].seed, turn),
    )


def value_targets(run: Run) -> Iterator[Finding]:
    """Find targets of a critic that are not its values plus the advantages before normalising."""
    wrong = []
    looked = 0
    for sample in _credited(run):
        if any(each.value_targets is None or each.values is None for each in sample.learnt):
            continue
        looked += 1
        given = _joined([episode.value_targets for episode in sample.learnt])
        settings = run.settings
        credit = _credit_of(run, sample)
        targets = expected_targets(settings["estimator"], settings["estimator_kwargs"], credit)
        due = _joined(targets)
        if not _is_close(given, due):
            wrong.append((sample, given, due))
    if not wrong:
        return
    sample, given, due = wrong[0]
    apart = np.abs(given - due)
    episode, turn = _place_of(sample, int(apart.argmax()))
    yield Finding(
        "value_targets",
        "wrong",
        "What the critic is taught to expect is not its value plus the generalised advantage, in "
        f"{len(wrong)} of {looked} updates: {given[apart.argmax()]:.4g} in place of "
        f"{due[apart.argmax()]:.4g}.",
        [each[0].update for each in wrong],
        {"given": float(given[apart.argmax()]), "expected": float(due[apart.argmax()])},
        Place(sample.update, episode, sample.learnt[episode].seed, turn),
    )


def _credited(run: Run) -> list[Sample]:
    """Return the samples whose batches can be recomputed."""
    needs_values = run.settings.get("estimator") in WITH_CRITIC
    credits_tokens = run.credits_tokens
    found = []
    for sample in run.samples:
        batch = sample.learnt
        is_whole = all(each.advantages is not None for each in batch)
        if needs_values:
            is_whole = is_whole and all(each.values is not None for each in batch)
        if credits_tokens:
            is_whole = is_whole and all(map(_has_a_value_for_each_token, batch))
        if batch and is_whole:
            found.append(sample)
    return found


def _has_a_value_for_each_token(episode: Played) -> bool:
    values = episode.values
    tokens = episode.answer_tokens
    return values is not None and tokens is not None and len(values) == tokens.sum()


def _credit_of(run: Run, sample: Sample, *, gamma: float | None = None) -> Credit:
    return Credit(
        episodes=sample.learnt,
        rewards=[episode.rewards.tolist() for episode in sample.learnt],
        gamma=run.settings["gamma"] if gamma is None else gamma,
        lam=run.settings["lam"],
        baseline=sample.baseline,
    )


def _due(run: Run, credit: Credit) -> list[Numbers]:
    settings = run.settings
    return expected_advantages(settings["estimator"], settings["estimator_kwargs"], credit)


def _explanation(run: Run, samples: Sequence[Sample]) -> str:
    """Say which known mistake gives just these advantages, if there is one."""
    for text, change in _MISTAKES:
        if all(_is_explained(run, sample, change) for sample in samples):
            return f": {text}"
    ratios = [_ratio(run, sample) for sample in samples]
    if all(ratio is not None for ratio in ratios):
        return f": they are a multiple of it ({ratios[0]:.4g} times)"
    return ""


def _is_explained(run: Run, sample: Sample, change: str) -> bool:
    given = _joined([episode.advantages for episode in sample.learnt])
    due = _joined(_changed(run, sample, change))
    return _is_close(given, due)


def _changed(run: Run, sample: Sample, change: str) -> list[Numbers]:
    """Return the advantages that a known mistake would give."""
    credit = _credit_of(run, sample)
    if change == "sign":
        return [[-value for value in own] for own in _due(run, credit)]
    if change == "undiscounted":
        return _due(run, _credit_of(run, sample, gamma=1.0))
    if change == "whole return":
        return [[own[0]] * len(own) if own else [] for own in _due(run, credit)]
    rewards: list[Numbers] = []
    for own in credit.rewards:
        if change == "late":
            rewards.append([0.0, *own[:-1]] if own else [])
        elif change == "turned":
            rewards.append([*own[-1:], *own[:-1]])
        elif change == "early":
            rewards.append([*own[1:], 0.0] if own else [])
        else:
            rewards.append(list(own))
    if change == "residue":
        rewards = _with_residue(rewards, credit.gamma)
    changed = Credit(credit.episodes, rewards, credit.gamma, credit.lam, credit.baseline)
    return _due(run, changed)


def _with_residue(rewards: list[Numbers], gamma: float) -> list[Numbers]:
    """Add to the last reward of each episode what the one after it earns, discounted."""
    found: list[Numbers] = []
    later = 0.0
    for own in reversed(rewards):
        extended = list(own)
        if extended:
            extended[-1] += gamma * later
        total = later
        for reward in reversed(own):
            total = reward + gamma * total
        later = total
        found.append(extended)
    return found[::-1]


_MISTAKES = (
    ("every sign is turned round", "sign"),
    ("rewards are not discounted", "undiscounted"),
    ("each reward stands one turn late", "late"),
    ("each reward stands one turn late, the last one at the first turn", "turned"),
    ("each reward stands one turn early", "early"),
    ("the return is not set back to 0 between two episodes", "residue"),
    ("every turn has the return of its whole episode", "whole return"),
)


def _ratio(run: Run, sample: Sample) -> float | None:
    """Return what the advantages are a multiple of the expected ones by, None where of none."""
    given = _joined([episode.advantages for episode in sample.learnt])
    due = _joined(_due(run, _credit_of(run, sample)))
    square = float(due @ due)
    if square == 0.0:
        return None
    ratio = float(given @ due) / square
    return ratio if _is_close(given, ratio * due) else None


def _joined(arrays: Sequence[Floats | Numbers | None]) -> Floats:
    return np.concatenate([np.asarray(own, np.float64) for own in arrays if own is not None])


def _bound(due: Floats) -> float:
    return _TOLERANCE * max(1.0, float(np.abs(due).max(initial=0.0)))


def _is_close(given: Floats, due: Floats) -> bool:
    return given.shape == due.shape and _distance(given, due) <= _bound(due)


def _distance(given: Floats, due: Floats) -> float:
    return float(np.abs(given - due).max(initial=0.0))


def _place_of(sample: Sample, place: int) -> tuple[int, int]:
    """Return the episode and the turn of an entry of the whole batch."""
    for number, episode in enumerate(sample.learnt):
        entries = _entries_by_turn(episode)
        if place < sum(entries):
            ends = np.cumsum(entries)
            return number, int(np.searchsorted(ends, place, side="right"))
        place -= sum(entries)
    return 0, 0


def _entries_by_turn(episode: Played) -> list[int]:
    """Return how many advantages each turn has: one, or one for each token of its answer."""
    advantages = episode.advantages
    is_by_turn = advantages is None or len(advantages) == len(episode.rewards)
    if is_by_turn or episode.answer_tokens is None:
        return [1] * len(episode.rewards)
    return [int(tokens) for tokens in episode.answer_tokens]


def _lacks(run: Run) -> str:
    if not run.has_credit:
        return "the advantages of its updates"
    if run.settings.get("estimator") not in KNOWN:
        return f"an estimator that the doctor knows ({run.settings.get('estimator')!r} is not)"
    return ""


def _lacks_critic(run: Run) -> str:
    if run.settings.get("estimator") not in WITH_CRITIC:
        return "a critic"
    return _lacks(run)


CHECKS = (
    Check("advantages", "advantages follow from the recorded rewards", advantages, _lacks),
    Check("value_targets", "a critic is taught what it should be", value_targets, _lacks_critic),
)

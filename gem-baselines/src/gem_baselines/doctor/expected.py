"""The advantages that each estimator should give, from rewards alone and in plain loops.

It is written by the definitions and shares no code with `gem.returns`: a mistake there or in what
calls it shows as a difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gem_baselines.doctor.run import Played

__all__ = [
    "KNOWN",
    "WITH_CRITIC",
    "Credit",
    "discounted",
    "expected_advantages",
    "expected_targets",
]

_LEAST_STD = 1e-8
Numbers = list[float]


@dataclass(frozen=True, slots=True)
class Credit:
    """The episodes of one batch, and what an estimator looks at beside their rewards."""

    episodes: Sequence[Played]
    rewards: Sequence[Numbers]
    gamma: float
    lam: float = 0.95
    baseline: float = 0.0


def expected_advantages(name: str, options: Mapping[str, Any], batch: Credit) -> list[Numbers]:
    """Return the advantages of each episode: one a turn, or one a token where it credits tokens.

    Raises KeyError on an unknown name.
    """
    return KNOWN[name](batch, **options)


def expected_targets(name: str, options: Mapping[str, Any], batch: Credit) -> list[Numbers]:
    """Return what a critic should have expected: its value plus the advantage as it is at first.

    That is before each turn, or before each token where the estimator credits tokens. Raises
    KeyError where an estimator has no critic.
    """
    advantages = WITH_CRITIC[name](batch, **{**options, "normalise": False})
    return [
        [advantage + value for advantage, value in zip(own, _values(episode), strict=True)]
        for own, episode in zip(advantages, batch.episodes, strict=True)
    ]


def discounted(rewards: Sequence[float], gamma: float) -> Numbers:
    """Return what each turn earns from there on."""
    found = list(rewards)
    for turn in range(len(found) - 2, -1, -1):
        found[turn] += gamma * found[turn + 1]
    return found


def _raw(batch: Credit) -> list[Numbers]:
    return [discounted(own, batch.gamma) for own in batch.rewards]


def _constant(batch: Credit) -> list[Numbers]:
    return [[value - batch.baseline for value in own] for own in _raw(batch)]


def _signed(batch: Credit) -> list[Numbers]:
    found = []
    for own, episode in zip(batch.rewards, batch.episodes, strict=True):
        signed = list(own)
        if not episode.success and signed:
            signed[-1] -= 1.0
        found.append(discounted(signed, batch.gamma))
    return found


def _rebn(batch: Credit) -> list[Numbers]:
    return _normalised(_raw(batch))


def _rebn_leave_one_out(batch: Credit, std: bool = True) -> list[Numbers]:
    to_go = _raw(batch)
    everything = np.array(_joined(to_go))
    turns = [len(own) for own in to_go]
    owners = np.repeat(np.arange(len(to_go)), turns)
    found = []
    for number, own in enumerate(to_go):
        # An array: for each of a thousand episodes there are all turns of the others.
        others = everything[owners != number]
        mean = float(others.mean()) if len(others) else 0.0
        scale = float(others.std()) if std and len(others) else 1.0
        # Where the others are equal nothing can be said of their spread.
        is_known = len(others) > 0 and scale >= _LEAST_STD
        found.append([(value - mean) / scale if is_known else 0.0 for value in own])
    return found


def _rloo(batch: Credit, discounted: bool = False) -> list[Numbers]:
    return _by_group(batch, discounted, _against_others)


def _grpo(batch: Credit, discounted: bool = False) -> list[Numbers]:
    return _by_group(batch, discounted, _standardised)


def _dr_grpo(batch: Credit, discounted: bool = False) -> list[Numbers]:
    return _by_group(batch, discounted, _centred)


def _mt_rloo(batch: Credit, ended: str = "left_out") -> list[Numbers]:
    to_go = _raw(batch)
    groups = _groups(batch)
    found = []
    for number, own in enumerate(to_go):
        members = groups[batch.episodes[number].start]
        # An episode without a turn did not end early: it was never begun.
        peers = [to_go[other] for other in members if other != number and to_go[other]]
        advantages = []
        for turn, value in enumerate(own):
            compared = [peer[turn] if turn < len(peer) else 0.0 for peer in peers]
            if ended != "zero":
                compared = [peer[turn] for peer in peers if turn < len(peer)]
            advantages.append(value - _mean(compared))
        found.append(advantages)
    return found


def _mt_grpo(
    batch: Credit, std: bool = True, later_turns: bool = False, turn_weight: float = 1.0
) -> list[Numbers]:
    normalise = _standardised if std else _centred
    found: list[Numbers] = [[0.0] * len(own) for own in batch.rewards]
    for every_member in _groups(batch).values():
        # Without a turn an episode has no last reward: it is compared with none.
        members = [number for number in every_member if batch.rewards[number]]
        outcomes = normalise([batch.rewards[number][-1] for number in members])
        for number, outcome in zip(members, outcomes, strict=True):
            found[number] = [outcome] * len(batch.rewards[number])
        parts = {number: [0.0] * len(batch.rewards[number]) for number in members}
        turns = max((len(batch.rewards[number]) for number in members), default=0)
        for turn in range(turns - 1):
            # An episode's last turn is its outcome, and no reward of a turn.
            going_on = [number for number in members if turn < len(batch.rewards[number]) - 1]
            normalised = normalise([batch.rewards[number][turn] for number in going_on])
            for number, part in zip(going_on, normalised, strict=True):
                parts[number][turn] = part
        for number, part_of_turns in parts.items():
            credited = discounted(part_of_turns, 1.0) if later_turns else part_of_turns
            for turn, part in enumerate(credited):
                found[number][turn] += turn_weight * part
    return found


def _ppo(batch: Credit, normalise: bool = True) -> list[Numbers]:
    return _normalised(_gae(batch)) if normalise else _gae(batch)


def _gae(batch: Credit) -> list[Numbers]:
    found = []
    for rewards, episode in zip(batch.rewards, batch.episodes, strict=True):
        values = [*_values(episode), 0.0]
        surprises = [
            reward + batch.gamma * values[turn + 1] - values[turn]
            for turn, reward in enumerate(rewards)
        ]
        found.append(discounted(surprises, batch.gamma * batch.lam))
    return found


def _ppo_token(
    batch: Credit, token_gamma: float = 1.0, token_lam: float = 1.0, normalise: bool = True
) -> list[Numbers]:
    found = []
    for rewards, episode in zip(batch.rewards, batch.episodes, strict=True):
        assert episode.answer_tokens is not None, "the check looks only where there are tokens"
        steps: list[_Step] = []
        for reward, tokens in zip(rewards, episode.answer_tokens, strict=True):
            steps += [_Step(0.0, token_gamma, token_lam)] * (int(tokens) - 1)
            # A turn's last token earns its reward, and the next token is the next turn's.
            steps.append(_Step(reward, batch.gamma, batch.lam))
        found.append(_advantages_of_steps(steps, _values(episode)))
    return _normalised(found) if normalise else found


class _Step(NamedTuple):
    """What a token earns, and how what follows it counts."""

    reward: float
    gamma: float
    lam: float


def _advantages_of_steps(steps: Sequence[_Step], values: Numbers) -> Numbers:
    """Return the sum of the surprises from each step on, each discounted by those before it."""
    following = [*values[1:], 0.0][: len(values)]  # an episode may have no token at all
    surprises = [
        step.reward + step.gamma * later - now
        for step, now, later in zip(steps, values, following, strict=True)
    ]
    for place in range(len(steps) - 2, -1, -1):
        surprises[place] += steps[place].gamma * steps[place].lam * surprises[place + 1]
    return surprises


def _values(episode: Played) -> Numbers:
    assert episode.values is not None, "the check looks only where there are values"
    return [float(value) for value in episode.values]


def _groups(batch: Credit) -> dict[tuple[int, ...], list[int]]:
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, episode in enumerate(batch.episodes):
        groups.setdefault(episode.start, []).append(number)
    return groups


def _by_group(
    batch: Credit, is_discounted: bool, compare: Callable[[Numbers], Numbers]
) -> list[Numbers]:
    """Give every turn what its episode earned, compared within its group."""
    gamma = batch.gamma if is_discounted else 1.0
    earned = [discounted(own, gamma)[0] if own else 0.0 for own in batch.rewards]
    found: list[Numbers] = [[] for _ in batch.rewards]
    for members in _groups(batch).values():
        compared = compare([earned[number] for number in members])
        for number, advantage in zip(members, compared, strict=True):
            found[number] = [advantage] * len(batch.rewards[number])
    return found


def _normalised(by_episode: list[Numbers]) -> list[Numbers]:
    """Normalise over every turn of the batch."""
    everything = _joined(by_episode)
    mean = _mean(everything)
    scale = _deviation(everything)
    if scale < _LEAST_STD:
        return [[0.0] * len(own) for own in by_episode]
    return [[(value - mean) / scale for value in own] for own in by_episode]


def _against_others(values: Numbers) -> Numbers:
    total = math.fsum(values)
    if len(values) == 1:
        return [0.0]
    return [value - (total - value) / (len(values) - 1) for value in values]


def _centred(values: Numbers) -> Numbers:
    mean = _mean(values)
    return [value - mean for value in values]


def _standardised(values: Numbers) -> Numbers:
    scale = _deviation(values)
    return [value / scale if scale >= _LEAST_STD else 0.0 for value in _centred(values)]


def _joined(by_episode: Sequence[Numbers]) -> Numbers:
    return [value for own in by_episode for value in own]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _deviation(values: Sequence[float]) -> float:
    """Return the population's deviation, in two passes."""
    mean = _mean(values)
    return math.sqrt(_mean([(value - mean) ** 2 for value in values]))


WITH_CRITIC: Mapping[str, Callable[..., list[Numbers]]] = {
    "ppo": _ppo,
    "ppo_token": _ppo_token,
}
"""Those of them that ask a critic for values. Each takes `normalise`."""

KNOWN: Mapping[str, Callable[..., list[Numbers]]] = {
    "raw": _raw,
    "constant": _constant,
    "signed": _signed,
    "rebn": _rebn,
    "rebn_leave_one_out": _rebn_leave_one_out,
    "rloo": _rloo,
    "grpo": _grpo,
    "dr_grpo": _dr_grpo,
    "mt_rloo": _mt_rloo,
    "mt_grpo": _mt_grpo,
    **WITH_CRITIC,
}
"""Every estimator that the doctor can recompute, by its name."""

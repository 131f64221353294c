"""A batch of tiny episodes, the loss of a softmax model on it, and advantages by their definitions.

Written apart from `gem.returns` and from the viewer: this is what both are compared with.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gem import Episode, Turn
from gem_eval.finding import example_episode, example_turn
from gem_eval.run_folder import RunFolder
from gem_eval.settings import settings_from
from gem_eval.viewing.query import Query
from gem_eval.viewing.runs import Run, open_runs
from gem_eval.viewing.selection import Selection
from gem_eval.viewing.token_query import TokenQuery

VOCABULARY = 6
TASKS = 3
TRIES = 4
ESTIMATORS = (
    "rebn",
    "rebn_leave_one_out",
    "grpo",
    "dr_grpo",
    "rloo",
    "mt_rloo",
    "mt_grpo",
    "discounted_returns",
    "signed_rewards",
    "gae",
)
OF_TASK = ("grpo", "dr_grpo", "rloo", "mt_rloo", "mt_grpo")
NORMS = ("sum", "episodes", "tokens", "own_tokens")


class Said(NamedTuple):
    """A token that the model said: the one before it, itself, and the turn that it is of."""

    before: int
    token: int
    turn: int


def episodes() -> list[Episode]:
    """Return a log: tries of some tasks, and what is in no batch of theirs."""
    rng = random.Random(7)
    played = [
        _episode(rng, episode_index=task, repeat=repeat)
        for repeat in range(TRIES)
        for task in range(TASKS)
    ]
    error = _episode(rng, episode_index=9, success=None, stop_reason="env_error", error="it broke")
    return [*played, error, _episode(rng, policy="random")]


def _episode(rng: random.Random, **facts: Any) -> Episode:
    turns = [_turn(rng) for _ in range(rng.randint(1, 4))]
    turns[-1] = replace(turns[-1], terminated=True)
    usual = {"env_id": "tiny:Guess", "policy": "solver", "success": rng.random() < 0.5}
    return example_episode(*turns, **{**usual, **facts})


def _turn(rng: random.Random) -> Turn:
    mask = (0,) * rng.randint(1, 3) + (1,) * rng.randint(1, 4)
    return example_turn(
        "7",
        reward=rng.choice([0.0, 0.5, 1.0, -0.25]),
        token_ids=tuple(rng.randrange(VOCABULARY) for _ in mask),
        mask=mask,
        info={"critic_value": rng.random()},
    )


def make_run(folder: Path) -> Run:
    """Write the log as a run, and open it."""
    settings = settings_from({"envs": "tiny:Guess", "policies": ["solver", "random"]})
    made = RunFolder.create(folder, settings, ["gem-env", "eval"], total=None)
    lines = [f"{episode.to_json()}\n" for episode in episodes()]
    made.episodes_path.write_text("".join(lines), encoding="ascii")
    [run] = open_runs([str(folder)], None)
    run.refresh(budget_s=60)
    return run


def batch_of(line: int, estimator: str) -> list[int]:
    """Return the lines of the episodes that one is trained with, from 1."""
    every = range(1, TASKS * TRIES + 1)
    if estimator not in OF_TASK:
        return list(every)
    return [other for other in every if (other - line) % TASKS == 0]


def said_of(episode: Episode) -> Iterator[Said]:
    """Yield the tokens that the model said. The first of an episode stands after token 0."""
    before = 0
    for number, turn in enumerate(episode.turns):
        for token, bit in zip(turn.token_ids or (), turn.mask or (), strict=True):
            if bit:
                yield Said(before, token, number)
            before = token


def shown_coefficients(run: Run, line: int, query: TokenQuery) -> list[float]:
    """Return the coefficient that the token page shows of each token that the model said."""
    from gem_eval.viewing.token_page import token_values  # it needs the extra `view`

    values = token_values(run, line, replace(query, by="adv"), None)
    assert values is not None
    assert not values["unknown"], values["unknown"]
    shown = [each for section in values["sections"] for block in section.blocks for each in block]
    return [
        float(each.facts.rpartition("coefficient ")[2]) for each in shown if each.token.is_generated
    ]


def lines_of(run: Run) -> list[int]:
    """Return the lines of the episodes that have credit."""
    with run.index.reading() as db:
        found = Selection(db, Query(policy=("solver",)), run.env_ids).rows(100)
    return [row.line for row in found if row.outcome != "error"]


def advantages(estimator: str, batch: Sequence[Episode], gamma: float, lam: float) -> list[Any]:
    """Return the advantage of each turn of each episode, as the estimator is defined."""
    to_go = [_to_go([turn.reward for turn in episode.turns], gamma) for episode in batch]
    if estimator == "discounted_returns":
        return to_go
    if estimator == "rebn":
        every = [number for numbers in to_go for number in numbers]
        mean = sum(every) / len(every)
        std = math.sqrt(sum((number - mean) ** 2 for number in every) / len(every))
        return [[(number - mean) / std for number in numbers] for numbers in to_go]
    if estimator == "rebn_leave_one_out":
        return [_against_others(to_go, place) for place in range(len(to_go))]
    if estimator == "mt_rloo":
        return [_against_same_turns(to_go, place) for place in range(len(to_go))]
    if estimator == "mt_grpo":
        return _own_and_outcome([[turn.reward for turn in episode.turns] for episode in batch])
    if estimator == "signed_rewards":
        return [_signed(episode, gamma) for episode in batch]
    if estimator == "gae":
        return [_gae(episode, gamma, lam) for episode in batch]
    of_episodes = _of_group(estimator, [numbers[0] for numbers in to_go])
    return [
        [advantage] * len(numbers) for advantage, numbers in zip(of_episodes, to_go, strict=True)
    ]


def _to_go(rewards: Sequence[float], gamma: float) -> list[float]:
    return [
        sum(gamma ** (later - turn) * rewards[later] for later in range(turn, len(rewards)))
        for turn in range(len(rewards))
    ]


def _against_others(to_go: Sequence[Sequence[float]], place: int) -> list[float]:
    others = [number for at, numbers in enumerate(to_go) if at != place for number in numbers]
    mean, std = _moments(others)
    return [(number - mean) / std for number in to_go[place]]


def _against_same_turns(to_go: Sequence[Sequence[float]], place: int) -> list[float]:
    found = []
    for turn, number in enumerate(to_go[place]):
        others = [
            numbers[turn] for at, numbers in enumerate(to_go) if at != place and len(numbers) > turn
        ]
        found.append(number - (sum(others) / len(others) if others else 0.0))
    return found


def _own_and_outcome(rewards: Sequence[Sequence[float]]) -> list[list[float]]:
    outcomes = [earned[-1] for earned in rewards]
    found = []
    for earned in rewards:
        advantages = [_standardised(earned[-1], outcomes)] * len(earned)
        for turn, reward in enumerate(earned[:-1]):
            peers = [other[turn] for other in rewards if len(other) > turn + 1]
            advantages[turn] += _standardised(reward, peers)
        found.append(advantages)
    return found


def _standardised(number: float, numbers: Sequence[float]) -> float:
    mean, std = _moments(numbers)
    return (number - mean) / std if std > 1e-8 else 0.0


def _moments(numbers: Sequence[float]) -> tuple[float, float]:
    mean = sum(numbers) / len(numbers)
    return mean, math.sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers))


def _signed(episode: Episode, gamma: float) -> list[float]:
    rewards = [turn.reward for turn in episode.turns]
    if not episode.success:
        rewards[-1] -= 1.0
    return _to_go(rewards, gamma)


def _gae(episode: Episode, gamma: float, lam: float) -> list[float]:
    values = [turn.info["critic_value"] for turn in episode.turns] + [0.0]
    surprises = [
        turn.reward + gamma * values[number + 1] - values[number]
        for number, turn in enumerate(episode.turns)
    ]
    return _to_go(surprises, gamma * lam)


def _of_group(estimator: str, totals: Sequence[float]) -> list[float]:
    mean = sum(totals) / len(totals)
    if estimator == "dr_grpo":
        return [total - mean for total in totals]
    if estimator == "rloo":
        return [total - (sum(totals) - total) / (len(totals) - 1) for total in totals]
    std = math.sqrt(sum((total - mean) ** 2 for total in totals) / len(totals))
    return [(total - mean) / std for total in totals]


def share(norm: str, batch: Sequence[Episode], episode: Episode) -> float:
    """Return what the advantages of an episode are multiplied by in the loss of its batch."""
    own = len(list(said_of(episode)))
    every = sum(len(list(said_of(each))) for each in batch)
    shares = {
        "sum": 1.0,
        "episodes": 1 / len(batch),
        "tokens": 1 / every,
        "own_tokens": 1 / (len(batch) * own),
    }
    return shares[norm]


def log_probabilities(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-probability of each token after each token, of a table of logits."""
    shifted = table - table.max(axis=1, keepdims=True)
    normalised: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return normalised


def loss(
    table: NDArray[np.float64],
    batch: Sequence[Episode],
    estimator: str,
    *,
    gamma: float,
    lam: float,
    norm: str,
) -> float:
    """Return the policy-gradient loss of a batch: advantages are constants in it."""
    logs = log_probabilities(table)
    found = 0.0
    of_batch = advantages(estimator, batch, gamma, lam)
    for episode, of_episode in zip(batch, of_batch, strict=True):
        factor = share(norm, batch, episode)
        for token in said_of(episode):
            found -= of_episode[token.turn] * factor * logs[token.before, token.token]
    return float(found)

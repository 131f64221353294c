"""Oat: episodes of several seats through its actors, each seat's turns as samples of their own."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for test_contract.py

import pytest
from seats import BIDS, GAME, expected_parts
from test_contract import (  # noqa: F401 - fixtures
    Actor,
    MultiTurnActor,
    acting,
    ranks,
    store,
    stored,
    tokenizer,
)


@pytest.mark.parametrize("env_id", [GAME, BIDS])
def test_each_turn_is_a_sample_with_what_its_own_seat_earned(
    acting: Any,  # noqa: F811
    tokenizer: Any,  # noqa: F811
    shown: Counter[str],
    env_id: str,
) -> None:
    parts = expected_parts(tokenizer, env_id, 5)
    turns = sum(len(part.actions) for part in parts)
    actor = acting(Actor, 5, env_id=env_id, turn_reward="reward", max_model_len=4000)

    found = stored(actor, turns)

    at = 0
    for part in parts:
        for (start, stop), reward in zip(part.spans, part.rewards, strict=True):
            assert list(found[at].prompt_ids) == part.ids[:start]
            assert list(found[at].response_ids) == part.ids[start:stop]
            assert found[at].rewards == [0.0] * (stop - start - 1) + [reward]
            shown["tokens"] += stop
            shown["rewards"] += 1
            at += 1
    shown["episodes"] += 1


def test_each_part_is_a_trajectory_of_the_multi_turn_actor(
    acting: Any,  # noqa: F811
    tokenizer: Any,  # noqa: F811
) -> None:
    parts = expected_parts(tokenizer, GAME, 5)
    actor = acting(MultiTurnActor, 5, env_id=GAME, max_model_len=4000)

    trajectories, metrics = actor.collect_experience()

    assert [[turn.rewards for turn in each] for each in trajectories] == [
        part.rewards for part in parts
    ]
    assert [[turn.action for turn in each] for each in trajectories] == [
        part.actions for part in parts
    ]
    assert metrics["actor/episode_return"] == 0.0

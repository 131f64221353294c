"""A model that calls a tool as the chat template asks is understood, in Oat's own actor."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from harness import GAME
from templates import CALL, SEED, TOOLS, check, with_tools

sys.path.insert(0, str(Path(__file__).parent))  # for oat_rig.py

from oat.algorithms.ppo import PPOActor
from oat_rig import Engine, actors

from gem.tokens import Trajectory
from gem_integrations.oat import EnvActorMixin


class Actor(EnvActorMixin, PPOActor):
    """What a user writes, for the seed of the contract."""

    def seeds(self, round_index: int) -> list[int]:
        return [SEED]


class Caller(Engine):
    """Calls the tool first, and then answers as the script says."""

    first = CALL

    def made_tokenizer(self) -> Any:
        return with_tools(super().made_tokenizer())


def test_a_call_as_the_template_asks_for_it_is_answered(
    monkeypatch: pytest.MonkeyPatch, shown: Counter[str]
) -> None:
    stated = {
        "env_id": GAME["env_id"],
        "system_prompt": GAME["system_prompt"],
        "max_turns": GAME["max_turns"],
        "wrappers": json.dumps(TOOLS["wrappers"]),
    }
    with actors(monkeypatch, Actor, Caller) as make:
        actor = make(**stated)
        actor.init(0, "")

        [episode] = actor.played(1)

    *_, last = Trajectory.of(episode).sequences
    mask = [0] * len(last.prompt_ids) + list(last.response_mask)
    check(actor.tokenizer, last.ids, mask)
    shown["tokens"] += len(last.ids)

"""An Oat actor plays the components of a schedule, which it steers after each round."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from harness import GAME, PAYING

sys.path.insert(0, str(Path(__file__).parent))  # for oat_rig.py

from oat.algorithms.ppo import PPOActor
from oat_rig import Engine, actors

import gem
from gem.errors import BadArguments
from gem_integrations.oat import EnvActorMixin

COMPONENTS = [{"env": GAME["env_id"], "name": "game"}, {"env": PAYING, "name": "pays"}]


class Actor(EnvActorMixin, PPOActor):
    """What a user writes: it leaves a component out after the first round."""

    rounds: list[list[str]]

    def steer(self, schedule: gem.Schedule, episodes: Sequence[gem.Episode]) -> None:
        self.rounds = [*getattr(self, "rounds", []), [each.env_id for each in episodes]]
        schedule.update(weights={"pays": 0})


@pytest.fixture
def actor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with actors(monkeypatch, Actor) as make:
        yield make


def test_an_actor_plays_components_and_steers_them(actor: Any) -> None:
    made = actor(schedule=json.dumps(COMPONENTS), max_turns=4, num_envs=12)
    made.init(0, "")
    made.step([""] * 60)

    first, *others = made.rounds
    assert set(first) == {GAME["env_id"], PAYING}
    assert {env_id for each in others for env_id in each} == {GAME["env_id"]}


def test_an_environment_beside_a_schedule_is_refused(actor: Any) -> None:
    with pytest.raises(BadArguments, match="env_id or env_kwargs as well"):
        actor(schedule=json.dumps(COMPONENTS), env_id=PAYING).init(0, "")
    assert Engine.loaded == 0

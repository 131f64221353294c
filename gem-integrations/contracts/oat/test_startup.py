"""A fault that every episode has stops Oat's actor, or never lets it load its model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fragile import HOPELESS, TURNING
from harness import PAYING

sys.path.insert(0, str(Path(__file__).parent))  # for oat_rig.py

from oat.algorithms.ppo import PPOActor
from oat_rig import Engine, actors

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.faults import EPISODES
from gem_integrations.oat import EnvActorMixin


class Actor(EnvActorMixin, PPOActor):
    """What a user writes."""


@pytest.fixture
def actor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with actors(monkeypatch, Actor) as make:
        yield make


def test_no_model_is_loaded_for_what_cannot_begin(actor: Any) -> None:
    with pytest.raises(UnplayableError, match=r"none can begin: .* OSError: the board is lost"):
        actor(env_id=HOPELESS).init(0, "")
    assert Engine.loaded == 0


def test_nor_for_a_misspelt_argument(actor: Any) -> None:
    with pytest.raises(BadArguments, match="lenght"):
        actor(env_id=PAYING, env_kwargs='{"lenght": 3}').init(0, "")
    assert Engine.loaded == 0


@pytest.mark.parametrize("num_envs", [1, EPISODES])
def test_rounds_that_all_end_by_one_error_end_the_actor(actor: Any, num_envs: int) -> None:
    made = actor(env_id=TURNING, num_envs=num_envs)
    made.init(0, "")

    with pytest.raises(UnplayableError, match=f"the last {EPISODES} in this process all ended"):
        made.step([""] * EPISODES)

"""An Oat actor plays the components of a schedule, which it steers after each round."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import vllm
from harness import GAME, PAYING, chat_tokenizer, scripted
from oat.algorithms.ppo import PPOActor, PPOArgs
from pyarrow import plasma

import gem
from gem.errors import BadArguments
from gem_integrations.oat import EnvActorMixin, EnvArgs


@dataclass
class Args(EnvArgs, PPOArgs):
    """The arguments of a run."""


class Actor(EnvActorMixin, PPOActor):
    """What a user writes: it leaves a component out after the first round."""

    rounds: list[list[str]]

    def steer(self, schedule: gem.Schedule, episodes: Sequence[gem.Episode]) -> None:
        self.rounds = [*getattr(self, "rounds", []), [each.env_id for each in episodes]]
        schedule.update(weights={"pays": 0})


class Engine:
    """Stands for vllm's LLM. `loaded` says how many models were."""

    loaded = 0

    def __init__(self, **_: Any) -> None:
        type(self).loaded += 1
        self._tokenizer: Any = chat_tokenizer()
        self._tokenizer.bos_token = None

    def get_tokenizer(self) -> Any:
        return self._tokenizer

    def generate(self, *, prompt_token_ids: Any, **_: Any) -> list[Any]:
        return [self._answer(prompt) for prompt in prompt_token_ids]

    def _answer(self, prompt: list[int]) -> Any:
        said = scripted(self._tokenizer, prompt)
        told = [
            {id: SimpleNamespace(logprob=each)}
            for id, each in zip(said.ids, said.logprobs or (), strict=True)
        ]
        answer = SimpleNamespace(
            text="", token_ids=tuple(said.ids), logprobs=told, finish_reason="stop"
        )
        return SimpleNamespace(prompt_token_ids=prompt, outputs=[answer])


@pytest.fixture
def actor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return what makes an actor, not yet begun, of the options of a run."""
    monkeypatch.setattr(vllm, "LLM", Engine)
    monkeypatch.setattr(Engine, "loaded", 0)
    with plasma.start_plasma_store(plasma_store_memory=10_000_000) as (path, _):
        store = SimpleNamespace(get_shm_path=lambda: path)
        sizes = {"oracle": "", "num_samples": 1, "rollout_batch_size_per_device": 1}
        yield lambda **options: Actor(store, {}, Args(**{**sizes, **options}))


COMPONENTS = [{"env": GAME["env_id"], "name": "game"}, {"env": PAYING, "name": "pays"}]


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

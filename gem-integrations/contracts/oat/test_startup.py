"""A fault that every episode has stops Oat's actor, or never lets it load its model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import vllm
from fragile import HOPELESS, TURNING
from harness import PAYING, chat_tokenizer, scripted
from oat.algorithms.ppo import PPOActor, PPOArgs
from pyarrow import plasma

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.faults import EPISODES
from gem_integrations.oat import EnvActorMixin, EnvArgs


@dataclass
class Args(EnvArgs, PPOArgs):
    """The arguments of a run."""


class Actor(EnvActorMixin, PPOActor):
    """What a user writes."""


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

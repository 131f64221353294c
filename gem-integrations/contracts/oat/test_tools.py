"""A model that calls a tool as the chat template asks is understood, in Oat's own actor."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import vllm
from harness import GAME, chat_tokenizer, scripted
from oat.algorithms.ppo import PPOActor, PPOArgs
from pyarrow import plasma
from templates import CALL, SEED, TOOLS, check, with_tools

from gem.tokens import Trajectory
from gem_integrations.oat import EnvActorMixin, EnvArgs


@dataclass
class Args(EnvArgs, PPOArgs):
    """The arguments of a run."""


class Actor(EnvActorMixin, PPOActor):
    """What a user writes, for the seed of the contract."""

    def seeds(self, round_index: int) -> list[int]:
        return [SEED]


class Engine:
    """Stands for vllm's LLM: calls the tool first, and then answers as the script says."""

    def __init__(self, **_: Any) -> None:
        self._tokenizer: Any = with_tools(chat_tokenizer())
        self._tokenizer.bos_token = None

    def get_tokenizer(self) -> Any:
        return self._tokenizer

    def generate(self, *, prompt_token_ids: Any, sampling_params: Any, **_: Any) -> list[Any]:
        return [self._answer(prompt) for prompt in prompt_token_ids]

    def _answer(self, prompt: list[int]) -> Any:
        said = scripted(self._tokenizer, prompt, first=CALL)
        told = [
            {id: SimpleNamespace(logprob=each)}
            for id, each in zip(said.ids, said.logprobs or (), strict=True)
        ]
        answer = SimpleNamespace(
            text="", token_ids=tuple(said.ids), logprobs=told, finish_reason="stop"
        )
        return SimpleNamespace(prompt_token_ids=prompt, outputs=[answer])


def test_a_call_as_the_template_asks_for_it_is_answered(
    monkeypatch: pytest.MonkeyPatch, shown: Counter[str]
) -> None:
    monkeypatch.setattr(vllm, "LLM", Engine)
    with plasma.start_plasma_store(plasma_store_memory=10_000_000) as (path, _):
        store = SimpleNamespace(get_shm_path=lambda: path)
        sizes = {"oracle": "", "num_samples": 1, "rollout_batch_size_per_device": 1}
        stated = {
            "env_id": GAME["env_id"],
            "system_prompt": GAME["system_prompt"],
            "max_turns": GAME["max_turns"],
            "wrappers": json.dumps(TOOLS["wrappers"]),
        }
        actor = Actor(store, {}, Args(**{**sizes, **stated}))
        actor.init(0, "")

        [episode] = actor.played(1)

    *_, last = Trajectory.of(episode).sequences
    mask = [0] * len(last.prompt_ids) + list(last.response_mask)
    check(actor.tokenizer, last.ids, mask)
    shown["tokens"] += len(last.ids)

"""What the tests here act with: an engine that follows the script, and actors with a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import vllm
from harness import chat_tokenizer, scripted
from oat.algorithms.ppo import PPOArgs
from pyarrow import plasma

from gem_integrations.oat import EnvArgs


@dataclass
class Args(EnvArgs, PPOArgs):
    """The arguments of a run."""


class Engine:
    """Stands for vllm's LLM: answers as the script says, which begins with `first`.

    `loaded` says how many models were.
    """

    loaded = 0
    first = ""

    def __init__(self, **_: Any) -> None:
        type(self).loaded += 1
        self._tokenizer: Any = self.made_tokenizer()
        self._tokenizer.bos_token = None  # Oat would put it before every prompt

    def made_tokenizer(self) -> Any:
        return chat_tokenizer()

    def get_tokenizer(self) -> Any:
        return self._tokenizer

    def generate(self, *, prompt_token_ids: Any, **_: Any) -> list[Any]:
        return [self._answer(prompt) for prompt in prompt_token_ids]

    def _answer(self, prompt: list[int]) -> Any:
        said = scripted(self._tokenizer, prompt, first=self.first)
        logprobs = [
            {id: SimpleNamespace(logprob=each)}
            for id, each in zip(said.ids, said.logprobs or (), strict=True)
        ]
        answer = SimpleNamespace(
            text="", token_ids=tuple(said.ids), logprobs=logprobs, finish_reason="stop"
        )
        return SimpleNamespace(prompt_token_ids=prompt, outputs=[answer])


@contextmanager
def actors(
    monkeypatch: pytest.MonkeyPatch, cls: type[Any], engine: type[Engine] = Engine
) -> Iterator[Callable[..., Any]]:
    """Yield what makes an actor of `cls`, not yet begun, of the options of a run."""
    monkeypatch.setattr(vllm, "LLM", engine)
    monkeypatch.setattr(engine, "loaded", 0)
    with plasma.start_plasma_store(plasma_store_memory=10_000_000) as (path, _):
        store = SimpleNamespace(get_shm_path=lambda: path)
        sizes = {"oracle": "", "num_samples": 1, "rollout_batch_size_per_device": 1}
        yield lambda **options: cls(store, {}, Args(**{**sizes, **options}))

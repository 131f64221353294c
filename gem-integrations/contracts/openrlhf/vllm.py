"""Stands for vLLM, which needs a GPU: the six names that OpenRLHF's rollouts import, no more.

`AsyncEngineArgs`, `AsyncLLMEngine`, `SamplingParams`, `__version__`, `inputs.TokensPrompt` and
`utils.random_uuid`. The engine answers by a script in place of a model.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import uuid4

__version__ = "0.29.0"
__path__: list[str] = []


class SamplingParams(SimpleNamespace):
    """Keep what was asked for."""


class AsyncEngineArgs(SimpleNamespace):
    """`script` is called with the ids of a prompt and a budget, and returns what is said."""


class AsyncLLMEngine:
    """Answer by a script; remember the prompts, their images and the parameters."""

    def __init__(self, script: Any) -> None:
        self.script = script
        self.asked: list[list[int]] = []
        self.images: list[list[Any]] = []
        self.params: list[SamplingParams] = []
        self.output_processor = SimpleNamespace(get_num_unfinished_requests=lambda: 0)

    @classmethod
    def from_engine_args(cls, args: AsyncEngineArgs) -> AsyncLLMEngine:
        return cls(args.script)

    async def is_sleeping(self) -> bool:
        return False

    async def generate(
        self, prompt: dict[str, Any], params: SamplingParams, *, request_id: str
    ) -> AsyncIterator[Any]:
        ids = prompt["prompt_token_ids"]
        self.asked.append(ids)
        self.images.append(prompt.get("multi_modal_data", {}).get("image", []))
        self.params.append(params)
        said = self.script(ids, params.max_tokens)
        told = [
            {id: SimpleNamespace(logprob=logprob)}
            for id, logprob in zip(said.ids, said.logprobs, strict=True)
        ]
        answer = SimpleNamespace(
            token_ids=list(said.ids),
            text="",
            logprobs=None if params.logprobs is None else told,
            finish_reason=said.finish_reason,
        )
        yield SimpleNamespace(outputs=[answer])


def _submodule(name: str, **names: Any) -> None:
    module = ModuleType(f"vllm.{name}")
    vars(module).update(names)
    sys.modules[module.__name__] = module


_submodule("inputs", TokensPrompt=dict)
_submodule("utils", random_uuid=lambda: uuid4().hex)

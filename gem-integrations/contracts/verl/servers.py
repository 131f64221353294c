"""What stands for verl's inference servers."""

from __future__ import annotations

from typing import Any

from harness import scripted
from verl.workers.rollout.llm_server import LLMServerClient
from verl.workers.rollout.replica import TokenOutput


class Servers(LLMServerClient):
    """Answer by the script, and remember who was asked what."""

    def __init__(self, config: Any, tokenizer: Any) -> None:
        super().__init__(config)
        self.tokenizer = tokenizer
        self.first = ""
        self.tells_logprobs = True
        self.keeps_to_budget = True
        self.error: Exception | None = None
        self.asked: dict[str, list[list[int]]] = {}
        self.params: list[dict[str, Any]] = []
        self.images: list[Any] = []
        self.processor_options: list[Any] = []

    async def generate(
        self,
        request_id: str,
        *,
        prompt_ids: Any,
        sampling_params: Any,
        image_data: Any = None,
        mm_processor_kwargs: Any = None,
        **others: Any,
    ) -> TokenOutput:
        assert set(others) == {"priority"}
        turns = self.asked.setdefault(request_id, [])
        turns.append(prompt_ids)
        self.params.append(sampling_params)
        self.images.append(image_data)
        self.processor_options.append(mm_processor_kwargs)
        if self.error is not None:
            raise self.error
        budget = sampling_params["max_tokens"] if self.keeps_to_budget else None
        said = scripted(self.tokenizer, prompt_ids, budget, first=self.first)
        version = 10 + len(turns)
        return TokenOutput(
            token_ids=said.ids,
            log_probs=said.logprobs if self.tells_logprobs else None,
            stop_reason="completed",
            extra_fields={"min_global_steps": version, "max_global_steps": version},
        )

"""What the tests here train: a tiny model, and trainers that keep what reached their loss."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from datasets import Dataset
from harness import scripted
from transformers import LlamaConfig, LlamaForCausalLM, set_seed
from transformers.generation import GenerateDecoderOnlyOutput
from trl import GRPOConfig, GRPOTrainer

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
torch.set_num_threads(1)

CONFIG = {
    "per_device_train_batch_size": 4,
    "per_device_eval_batch_size": 4,
    "num_generations": 2,
    "max_steps": 1,
    "max_completion_length": 1000,
    "use_cpu": True,
    "bf16": False,
    "beta": 0.0,
    "top_k": 0,
    "report_to": [],
    "save_strategy": "no",
    "disable_tqdm": True,
    "gradient_checkpointing": False,
    "shuffle_dataset": False,
}


class Received(NamedTuple):
    """One episode as TRL took it: what it cut, padded and masked, undone."""

    prompt_ids: list[int]
    response_ids: list[int]
    response_mask: list[int]
    logprobs: list[float]
    advantage: float


class Scripted(LlamaForCausalLM):
    """A model of Llama's that speaks by the script: only `generate` is replaced."""

    tokenizer: Any
    first = ""
    error: Exception | None = None
    asked: list[list[int]]

    def generate(self, input_ids: Any, attention_mask: Any, generation_config: Any) -> Any:
        """Answer each row, padded to the longest; the scores say what the script says."""
        if self.error is not None:
            raise self.error
        prompts = [
            ids[mask.bool()].tolist() for ids, mask in zip(input_ids, attention_mask, strict=True)
        ]
        self.asked += prompts
        most = generation_config.max_new_tokens
        said = [scripted(self.tokenizer, each, most, first=self.first) for each in prompts]
        width = max(len(each.ids) for each in said)
        filler = generation_config.pad_token_id
        ids = [[*each.ids, *[filler] * (width - len(each.ids))] for each in said]
        told = [[*(each.logprobs or ()), *[-1.0] * (width - len(each.ids))] for each in said]
        return GenerateDecoderOnlyOutput(
            sequences=torch.cat([input_ids, torch.tensor(ids)], 1),
            scores=_scores(torch.tensor(ids), torch.tensor(told), len(self.tokenizer)),
        )


def _scores(ids: Any, logprobs: Any, words: int) -> tuple[Any, ...]:
    """Return scores of which softmax gives each token its logprob, and all others an equal one."""
    others = torch.log1p(-logprobs.exp()) - torch.log(torch.tensor(words - 1.0))
    scores = others[..., None].repeat(1, 1, words).scatter(2, ids[..., None], logprobs[..., None])
    return tuple(scores.unbind(1))


class Watched(GRPOTrainer):  # type: ignore[misc]
    """A trainer that keeps what it made of each batch, and what reward functions were given."""

    def __init__(self, **options: Any) -> None:
        self.batches: list[list[Received]] = []
        self.given: list[dict[str, Any]] = []
        self.outputs: list[dict[str, Any]] = []
        super().__init__(**options)

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        out: dict[str, Any] = super()._generate_and_score_completions(inputs)
        self.outputs.append(out)
        self.batches.append([_received(out, at) for at in range(len(inputs))])
        return out

    def _calculate_rewards(self, inputs: Any, *others: Any) -> Any:
        keys = [each for each in inputs[0] if each != "prompt"]
        self.given.append({key: [each[key] for each in inputs] for key in keys})
        return super()._calculate_rewards(inputs, *others)


def _received(out: dict[str, Any], at: int) -> Received:
    prompt, response = out["prompt_mask"][at].bool(), out["completion_ids"][at]
    kept = out["completion_mask"][at].bool()
    return Received(
        prompt_ids=out["prompt_ids"][at][prompt].tolist(),
        response_ids=response[kept].tolist(),
        response_mask=out["tool_mask"][at][kept].tolist() if "tool_mask" in out else [],
        logprobs=out["sampling_per_token_logps"][at][kept].tolist()
        if "sampling_per_token_logps" in out
        else [],
        advantage=float(out["advantages"][at]),
    )


def tiny(tokenizer: Any, kind: type[LlamaForCausalLM] = LlamaForCausalLM, **options: Any) -> Any:
    """Return a model with random weights, the same ones each time."""
    set_seed(0)
    config = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "max_position_embeddings": 4096}
    model = kind(LlamaConfig(vocab_size=len(tokenizer), **config | heads | options))
    if isinstance(model, Scripted):
        model.tokenizer, model.asked = tokenizer, []
    return model


def trainer_of(
    tokenizer: Any, model: Any, prompts: Sequence[Any], folder: Any, **options: Any
) -> Watched:
    """Return a trainer over these prompts; options that GRPOConfig has go there."""
    fields = GRPOConfig.__dataclass_fields__.keys()
    config = CONFIG | {key: options.pop(key) for key in list(options) if key in fields}
    data = Dataset.from_list(
        [each if isinstance(each, dict) else {"prompt": each} for each in prompts]
    )
    return Watched(
        model=model,
        args=GRPOConfig(output_dir=str(folder), **config),
        train_dataset=data,
        eval_dataset=data,
        processing_class=tokenizer,
        **options,
    )

"""Sample from a causal language model of transformers, many prompts at once.

Knows nothing about requests. Needs torch and transformers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
)
from transformers.utils import logging

from gem.content import normalise_text

__all__ = ["LoadedModel", "Sample"]

_SEEDS = 2**63


class Sample(NamedTuple):
    """An answer. Ids and logprobs are of its tokens, with the one that ends it where there is one.

    `is_cut` says that it reached its limit instead.
    """

    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    is_cut: bool


class LoadedModel:
    """A model and its tokenizer, from a folder. Raises what transformers does."""

    def __init__(self, folder: Path, *, device: str | None, dtype: str) -> None:
        own = {"local_files_only": True, "trust_remote_code": False}
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, **own)
        with _without_bars():
            model = AutoModelForCausalLM.from_pretrained(
                folder, dtype=dtype, use_safetensors=True, **own
            )
        chosen = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._model: Any = model.to(chosen).eval()
        self._ends = _ends_of(self._model, self._tokenizer)
        # Or what the model's folder says of sampling would fill in what is not said here.
        self._model.generation_config = GenerationConfig()

    @property
    def context(self) -> int:
        """How many tokens the model reads at most, its answer included."""
        config = self._model.config.get_text_config()
        return int(getattr(config, "max_position_embeddings", None) or 2**31)

    def tokens_of(self, prompt: str) -> list[int]:
        """Return the tokens of a finished prompt. A lone surrogate, which has none, is U+FFFD."""
        return list(self._tokenizer(normalise_text(prompt), add_special_tokens=False)["input_ids"])

    def tokens_of_chat(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]]
    ) -> list[int]:
        """Return the tokens of a conversation, up to where the model goes on."""
        text = self._tokenizer.apply_chat_template(
            list(messages), tools=list(tools) or None, add_generation_prompt=True, tokenize=False
        )
        return self.tokens_of(text)

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        limits: Sequence[int],
        seeds: Sequence[int],
        temperature: float,
        top_p: float,
    ) -> list[Sample]:
        """Return an answer to each prompt, of so many tokens at most, drawn by its own seed."""
        if not prompts:
            return []
        longest = max(map(len, prompts))
        if len(prompts) > 1 and longest + max(limits) > self.context:
            # All rows go on until the last has ended: some would leave the model's context.
            alone = zip(prompts, limits, seeds, strict=True)
            return [
                self.sample(
                    [prompt], limits=[limit], seeds=[seed], temperature=temperature, top_p=top_p
                )[0]
                for prompt, limit, seed in alone
            ]
        filler = self._ends[0] if self._ends else 0
        # Filled up on the left: what is generated stands in the same column for all.
        rows = [[filler] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
        seen = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        draws = _Draws(seeds, temperature, top_p)
        device = self._model.device
        config = GenerationConfig(
            max_new_tokens=max(limits),
            do_sample=False,  # the likeliest of what `draws` makes of the scores is what is drawn
            eos_token_id=self._ends or None,
            pad_token_id=filler,
        )
        with torch.inference_mode():
            whole = self._model.generate(
                input_ids=torch.tensor(rows, device=device),
                attention_mask=torch.tensor(seen, device=device),
                generation_config=config,
                logits_processor=LogitsProcessorList([draws]),
            )
        ids = whole[:, longest:].tolist()
        logprobs = torch.stack(draws.logprobs, dim=1).tolist()
        return [self._sample(*row) for row in zip(ids, logprobs, limits, strict=True)]

    def _sample(self, ids: list[int], logprobs: list[float], limit: int) -> Sample:
        # A row goes on until the last of all has ended: with fillers, or beyond its own limit.
        end = next((place for place, id in enumerate(ids[:limit]) if id in self._ends), None)
        length = limit if end is None else end + 1
        token_ids = tuple(ids[:length])
        text = self._tokenizer.decode(token_ids, skip_special_tokens=True)
        return Sample(text, token_ids, tuple(logprobs[:length]), is_cut=end is None)


class _Draws(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Makes the likeliest token that which a seed draws, by Gumbel's noise: a generator a row.

    The maximum of logits with such noise is distributed as a sample of them is (Gumbel 1954), so
    that what a row draws does not depend on how many others there are.
    """

    def __init__(self, seeds: Sequence[int], temperature: float, top_p: float) -> None:
        # On the processor, whose numbers are the same on every machine.
        self._generators = [torch.Generator().manual_seed(seed % _SEEDS) for seed in seeds]
        self._temperature = temperature
        self._top_p = top_p
        self.logprobs: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        logprobs = scores.float().log_softmax(dim=-1)
        drawn = logprobs
        if self._temperature > 0:
            drawn = (logprobs / self._temperature).log_softmax(dim=-1)
            drawn = _nucleus(drawn, self._top_p) + self._noise(drawn)
        choice = drawn.argmax(dim=-1, keepdim=True)
        self.logprobs.append(logprobs.gather(1, choice)[:, 0].cpu())
        return drawn

    def _noise(self, like: torch.Tensor) -> torch.Tensor:
        size = like.shape[-1]
        rows = [torch.rand(size, generator=generator) for generator in self._generators]
        # 0 has no logarithm; the least positive number of this type stands for it.
        uniform = torch.stack(rows).clamp_min(torch.finfo(torch.float32).tiny)
        return -torch.log(-torch.log(uniform)).to(like.device)


@contextmanager
def _without_bars() -> Iterator[None]:
    """Keep transformers from drawing bars into the line that says how far a run is."""
    were_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if were_shown:
            logging.enable_progress_bar()


def _nucleus(logprobs: torch.Tensor, top_p: float) -> torch.Tensor:
    """Leave the likeliest tokens that together have a chance of top_p, one at least."""
    if top_p >= 1:
        return logprobs
    ranked, order = logprobs.sort(dim=-1, descending=True)
    before = ranked.exp().cumsum(dim=-1) - ranked.exp()
    kept = ranked.masked_fill(before >= top_p, -torch.inf)
    return torch.empty_like(logprobs).scatter(1, order, kept)


def _ends_of(model: Any, tokenizer: Any) -> list[int]:
    """Return the ids that end an answer."""
    ends = model.generation_config.eos_token_id
    if ends is None:
        ends = tokenizer.eos_token_id
    if ends is None:
        return []
    return list(ends) if isinstance(ends, (list, tuple)) else [int(ends)]

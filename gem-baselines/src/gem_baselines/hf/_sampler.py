"""Sample from a model of transformers by its own `generate`. Needs torch and transformers.

Knows nothing about requests or text.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
)

from gem_baselines._sampling import Answer, Question
from gem_baselines.hf._model import HFModel

__all__ = ["LocalSampler"]


class LocalSampler:
    """Continues sequences in batches of `rows_at_once`, filled up on the left, with a cache.

    Each sequence draws from a generator of its own, made of its seed. What it draws from depends
    on the others of its batch by rounding alone, about 1e-6 in a logprob. Nothing is kept from
    one call to the next.
    """

    def __init__(
        self,
        model: HFModel,
        *,
        end_ids: Sequence[int],
        temperature: float,
        rows_at_once: int,
        is_bf16: bool,
    ) -> None:
        self._model = model
        self._end_ids = sorted(end_ids)
        self._temperature = temperature
        self._rows_at_once = rows_at_once
        self._is_bf16 = is_bf16

    def refresh(self) -> None:
        """Sample from the new weights from now on: they are read at each call."""

    def sample(self, questions: Sequence[Question], *, is_greedy: bool) -> list[Answer]:
        """Return a continuation of each sequence, up to an end token or its limit.

        A logprob is of the distribution that was drawn from, the model's at the sampler's
        temperature; with `is_greedy` the most probable token is taken, with its logprob there.
        """
        answers: dict[int, Answer] = {}
        # Those of similar length go together, which leaves little padding.
        order = sorted(range(len(questions)), key=lambda number: len(questions[number].ids))
        for begin in range(0, len(order), self._rows_at_once):
            numbers = order[begin : begin + self._rows_at_once]
            for part in self._fitting(questions, numbers):
                found = self._continued([questions[number] for number in part], is_greedy=is_greedy)
                answers.update(zip(part, found, strict=True))
        return [answers[number] for number in range(len(questions))]

    def _fitting(self, questions: Sequence[Question], numbers: Sequence[int]) -> list[list[int]]:
        """Return the numbers in parts that may be continued together; they come shortest first.

        A row that has ended is continued by padding until the last has ended, and might leave the
        model's context.
        """
        context = self._model.context
        parts: list[list[int]] = []
        most_tokens = 0  # that a row of the last part may be continued by
        for number in numbers:
            question = questions[number]
            most_tokens = max(most_tokens, question.limit)
            # The rows of a part are as long as its last one, being filled up on the left.
            fits = context is None or len(question.ids) + most_tokens <= context
            if parts and fits:
                parts[-1].append(number)
            else:
                parts.append([number])
                most_tokens = question.limit
        return parts

    def _continued(self, questions: Sequence[Question], *, is_greedy: bool) -> list[Answer]:
        longest = max(len(question.ids) for question in questions)
        filler = self._end_ids[0] if self._end_ids else 0
        num_missing = [longest - len(question.ids) for question in questions]
        ids = [
            [filler] * missing + list(question.ids)
            for missing, question in zip(num_missing, questions, strict=True)
        ]
        mask = [[0] * missing + [1] * (longest - missing) for missing in num_missing]
        seeds = None if is_greedy else [question.seed for question in questions]
        draws = _Draws(seeds, self._temperature)
        limits = [question.limit for question in questions]
        device = self._model.device
        config = GenerationConfig(
            max_new_tokens=max(limits),
            do_sample=False,  # the likeliest of what `draws` leaves of the scores is what was drawn
            eos_token_id=self._end_ids or None,
            pad_token_id=filler,
        )
        with torch.inference_mode(), self._autocast():
            whole = self._model.inner.generate(
                input_ids=torch.tensor(ids, device=device),
                attention_mask=torch.tensor(mask, device=device),
                generation_config=config,
                logits_processor=LogitsProcessorList([draws]),
                stopping_criteria=StoppingCriteriaList([_Limits(limits, longest)]),
            )
        logprobs = torch.stack(draws.logprobs, dim=1).tolist()
        return [
            self._answer(row_ids, row_logprobs, limit)
            for row_ids, row_logprobs, limit in zip(
                whole[:, longest:].tolist(), logprobs, limits, strict=True
            )
        ]

    def _answer(self, ids: Sequence[int], logprobs: Sequence[float], limit: int) -> Answer:
        # Behind its end, or its limit, a row holds padding until the last row has ended.
        length = min(limit, len(ids))
        for place in range(length):
            if ids[place] in self._end_ids:
                length = place + 1
                break
        return Answer(tuple(ids[:length]), tuple(logprobs[:length]))

    def _autocast(self) -> AbstractContextManager[Any]:
        autocast: AbstractContextManager[Any] = torch.autocast(
            self._model.device.type, dtype=torch.bfloat16, enabled=self._is_bf16
        )
        return autocast


class _Draws(LogitsProcessor):  # type: ignore[misc, unused-ignore]  # as torch
    """Draws a token of each row, and leaves no other. Without seeds it takes the likeliest."""

    def __init__(self, seeds: Sequence[int] | None, temperature: float) -> None:
        self._chances = None if seeds is None else [random.Random(seed) for seed in seeds]
        self._temperature = temperature
        self.logprobs: list[Tensor] = []  # of each step, shape (rows,)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        logprobs = (scores.float() / self._temperature).log_softmax(-1)
        chosen = self._chosen(logprobs)[:, None]
        self.logprobs.append(logprobs.gather(1, chosen)[:, 0].double().cpu())
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)

    def _chosen(self, logprobs: Tensor) -> Tensor:
        if self._chances is None:
            return logprobs.argmax(-1)
        reached = logprobs.double().exp().cumsum(-1)
        uniforms = torch.tensor(
            [chance.random() for chance in self._chances],
            dtype=torch.float64,
            device=logprobs.device,
        )
        # Of what they sum to, which rounding keeps from being 1. The token that is drawn is the
        # first up to which the probabilities exceed the threshold.
        thresholds = uniforms[:, None] * reached[:, -1:]
        return (reached <= thresholds).sum(-1).clamp(max=logprobs.shape[1] - 1)


class _Limits(StoppingCriteria):  # type: ignore[misc, unused-ignore]  # as torch
    """Ends each row at its own limit."""

    def __init__(self, limits: Sequence[int], num_prompt_tokens: int) -> None:
        self._limits = torch.tensor(limits)
        self._num_prompt_tokens = num_prompt_tokens

    def __call__(self, input_ids: Tensor, scores: Any, **options: Any) -> Tensor:
        num_new = input_ids.shape[1] - self._num_prompt_tokens
        return (self._limits <= num_new).to(input_ids.device)

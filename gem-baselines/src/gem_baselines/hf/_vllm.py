"""Sample by vLLM, whose engine has weights of its own. Needs vLLM; imports it as one is made.

Written for the interface that vLLM documents: `LLM.generate` of prompts by token ids,
`SamplingParams`, `collective_rpc("reload_weights")` and `reset_prefix_cache`.
"""

from __future__ import annotations

import importlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gem_baselines._sampling import Answer, Question

__all__ = ["VLLMSampler"]

_SEEDS = 2**63  # a seed of vLLM is a number of 64 bits with a sign


class VLLMSampler:
    """Continues sequences by vLLM, which batches them and keeps the prefixes that they share.

    `write_weights(folder)` writes the model and its tokenizer. The engine is made from such a
    folder, and `refresh` gives it the weights anew by another, so that no file that it may have
    mapped is written to. `options` go to `vllm.LLM`. A logprob is as vLLM computes it, which is not
    how the learner does: learn with an importance cap.
    """

    def __init__(
        self,
        write_weights: Callable[[Path], None],
        *,
        end_ids: Sequence[int],
        temperature: float,
        options: Mapping[str, Any],
    ) -> None:
        # No extra of ours brings it: it pins a torch of its own, and is installed with that.
        self._vllm: Any = importlib.import_module("vllm")
        self._write_weights = write_weights
        self._end_ids = sorted(end_ids)
        self._temperature = temperature
        self._work = Path(tempfile.mkdtemp(prefix="gem-vllm-"))
        # When the sampler is no longer used, or the process ends.
        weakref.finalize(self, shutil.rmtree, self._work, ignore_errors=True)
        self._num_written = 0
        self._folder = self._written()
        defaults = {
            "model": str(self._folder),
            "enable_prefix_caching": True,
            # Of the distribution that is drawn from: at the temperature.
            "logprobs_mode": "processed_logprobs",
        }
        self._engine: Any = self._vllm.LLM(**{**defaults, **options})

    def refresh(self) -> None:
        """Give the engine the model's weights, and have it forget what it computed by the old."""
        before = self._folder
        self._folder = self._written()
        path = {"weights_path": str(self._folder)}
        self._engine.collective_rpc("reload_weights", kwargs=path)
        # What is cached of a prefix was computed by the old weights.
        self._engine.reset_prefix_cache()
        shutil.rmtree(before, ignore_errors=True)

    def sample(self, questions: Sequence[Question], *, is_greedy: bool) -> list[Answer]:
        """Return a continuation of each sequence, up to an end token or its limit."""
        if not questions:
            return []
        outputs = self._engine.generate(
            [{"prompt_token_ids": list(question.ids)} for question in questions],
            [self._parameters(question, is_greedy=is_greedy) for question in questions],
            use_tqdm=False,
        )
        return [_answer(output.outputs[0]) for output in outputs]

    def _parameters(self, question: Question, *, is_greedy: bool) -> Any:
        return self._vllm.SamplingParams(
            temperature=0.0 if is_greedy else self._temperature,
            seed=question.seed % _SEEDS,
            max_tokens=question.limit,
            stop_token_ids=self._end_ids,
            logprobs=0,  # of the token that was drawn, and of no other
            detokenize=False,
        )

    def _written(self) -> Path:
        folder = self._work / str(self._num_written)
        self._num_written += 1
        folder.mkdir()
        self._write_weights(folder)
        return folder


def _answer(completion: Any) -> Answer:
    ids = tuple(completion.token_ids)
    logprobs = tuple(
        float(of_step[id].logprob) for of_step, id in zip(completion.logprobs, ids, strict=True)
    )
    return Answer(ids, logprobs)

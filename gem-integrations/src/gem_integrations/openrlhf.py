"""OpenRLHF: make the agent executor of a file of three lines, which plays an environment.

from gem_integrations.openrlhf import executor

AgentExecutor = executor("game:GuessTheNumber-v0-hard", max_turns=10)
"""

from __future__ import annotations

import json
import logging
import math
from copy import deepcopy
from typing import Any, ClassVar

import gem
from gem.seeding import key_seed
from gem.tokens import Sampled
from gem_integrations.episodes import EnvOptions, one_row, play
from gem_integrations.frameworks import require
from gem_integrations.rows import Start, start_of

require("openrlhf")

from openrlhf.utils.agent import AgentExecutorBase

__all__ = ["EnvExecutor", "executor"]

_log = logging.getLogger(__name__)


def executor(env_id: str, **options: Any) -> type[EnvExecutor]:
    """Return the class that a file for `--train.agent_func_path` calls `AgentExecutor`.

    `options` are those of `EnvOptions`. Tries the environment. Raises BadArguments for other
    options, the errors of `gem.make`, and UnplayableError where no episode can begin.
    """
    stated = EnvOptions.of({"env_id": env_id, **options})
    stated.try_out("OpenRLHF")
    return type("AgentExecutor", (EnvExecutor,), {"options": stated})


class EnvExecutor(AgentExecutorBase):  # type: ignore[misc]
    """Play an episode for each sample: the one that the row's label fixes, the same for a group.

    A label is JSON, `{"seed": 3}` or `{"seed": 3, "task": 5}`, or the seed alone; any other is
    hashed into a seed, together with the prompt. No model sees that prompt: the environment
    writes its own.
    """

    options: ClassVar[EnvOptions]

    async def execute(
        self,
        prompt: str,
        label: Any,
        sampling_params: Any,
        max_length: int,
        hf_tokenizer: Any,
        llm_engine: Any,
        images: Any = None,
    ) -> dict[str, Any]:
        """Return the episode as OpenRLHF takes it: its reward and its score are the sum.

        It has `max_length` tokens in all, and each answer `sampling_params.max_tokens` where that
        is set. A first prompt that leaves no room is not played, and costs its episode as a
        failing environment does: one token that is no action. `truncated` is every end but the
        task's own.
        """
        codec = self.options.codec(getattr(hf_tokenizer, "tokenizer", hf_tokenizer))
        seed, task = _start(prompt, label)

        async def sample(request: gem.Request) -> Sampled:
            params = deepcopy(sampling_params)  # all samples share it
            limits = (request.token_budget, sampling_params.max_tokens)
            params.max_tokens = min(limit for limit in limits if limit is not None)
            asked = await llm_engine.generate(list(request.prompt_ids or ()), params)
            return _sampled(asked.outputs[0])

        episode = await play(
            self.options, sample, codec, seed=seed, task=task, max_length=max_length
        )
        if not episode.turns and episode.stop_reason == "max_tokens":
            _log.warning(
                "An episode of %s is not played: its prompt leaves no room in data.max_len, which "
                "is %d.",
                self.options.env_id,
                max_length,
            )
        row = one_row(episode, codec)
        reward = math.fsum(row.rewards)
        return {
            "prompt": prompt,
            "label": label,
            "images": images,
            "mm_train_inputs": None,
            "reward": reward,
            "scores": reward,
            "observation_tokens": row.ids,
            "action_ranges": row.spans,
            "rollout_log_probs": None if sampling_params.logprobs is None else row.logprobs,
            "truncated": episode.truncated,
            "extra_logs": {
                "turns": float(len(row.rewards)),
                "terminated": float(episode.terminated),
                "env_failed": float(episode.is_error),
            },
        }


def _start(prompt: str, label: Any) -> Start:
    """Return what fixes the episode of a row."""
    try:
        stated = json.loads(label) if isinstance(label, str) else label
    except ValueError:
        stated = None
    if isinstance(stated, dict):
        return start_of(stated)
    hashed = key_seed("openrlhf", prompt, str(label))
    return Start(stated if type(stated) is int else hashed, None)


def _sampled(output: Any) -> Sampled:
    """Return what an engine of vLLM said."""
    ids = list(output.token_ids)
    if output.logprobs is None:
        return Sampled(ids)
    chosen = zip(ids, output.logprobs, strict=True)
    return Sampled(ids, [told[id].logprob for id, told in chosen], output.finish_reason)

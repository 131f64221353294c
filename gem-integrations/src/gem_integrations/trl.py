"""TRL: a rollout function that plays an environment, and environments as tools.

`rollout_func`, `reward_func` and `environment` are what GRPOTrainer takes. The model is the
trainer's own. Knows nothing about any environment.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

import gem
from gem.env import key_seed
from gem.errors import BadArguments
from gem.tokens import ChatCodec, Sampled
from gem_integrations.curricula import Curriculum
from gem_integrations.episodes import EnvOptions, Row, one_row, play
from gem_integrations.frameworks import require
from gem_integrations.rows import Start, start_of
from gem_integrations.seats import seat_of
from gem_integrations.trl_plays import Play, Table, joined
from gem_integrations.trl_tools import ToolEnvironment, environment

require("trl")

import torch
from transformers import TrainerCallback
from trl import GRPOTrainer
from trl.models import unwrap_model_for_generation

__all__ = ["Rollouts", "ToolEnvironment", "environment", "reward_func", "rollout_func"]

T = TypeVar("T")

_MOST_SCORES = 2**29
"""Numbers kept while sampling: one for each word of the vocabulary, token and answer. 2 GiB."""


def rollout_func(env_id: str | gem.Schedule, **options: Any) -> Rollouts:
    """Return what a GRPOTrainer takes as its `rollout_func`: it plays an environment.

    With a schedule each group is of the component that its weights choose as the step begins.
    `options` are those of `EnvOptions`. The environment writes the prompt. A prompt of the data set
    that is the `label` of a row (`gem_integrations.rows`) fixes its episode; any other is an
    episode of a new seed. Tries the environment. Raises BadArguments for other options, the errors
    of `gem.make`, and UnplayableError where no episode can begin.
    """
    return Rollouts(
        Curriculum(
            env_id, options, framework="TRL's rollout function", kind=EnvOptions, takes_seats=True
        )
    )


def reward_func(*, env_reward: Sequence[float | None], **_: Any) -> list[float | None]:
    """Return what each episode earned: what a GRPOTrainer takes as its `reward_funcs`.

    None, which TRL leaves out of the group, where the model could not speak.
    """
    return list(env_reward)


class Rollouts:
    """Play an episode for each prompt, those of a group from the same seed.

    Of several seats the model plays all of them, and a prompt is the part of one: groups that
    follow one another are of its seats in turn, and of the same episodes. The row of a data set
    names its seat. A seat that never acted has a row that nobody said.

    Reward functions are given lists with an entry an episode: `env_reward`, the sum of its
    rewards, `turn_rewards`, a list of them, and `episode`, its record (`gem.Episode`), of several
    seats the part of its own.

    New seeds and all sampling follow from `args.seed`, the step and the model: each step has
    seeds of its own, and an evaluation has the same ones whenever it is. Raises what the model
    raised.
    """

    def __init__(self, curriculum: Curriculum[EnvOptions]) -> None:
        self._curriculum = curriculum
        self._calls: Counter[tuple[str, int]] = Counter()
        self._evaluations_forgotten = _EvaluationsForgotten(self._calls)

    def __call__(self, prompts: Sequence[Any], trainer: GRPOTrainer) -> dict[str, list[Any]]:
        """Return what TRL asks for, as many of each as there are prompts.

        Raises BadArguments where the processes share one model or one engine.
        """
        if self._evaluations_forgotten not in trainer.callback_handler.callbacks:
            trainer.add_callback(self._evaluations_forgotten)
        rows = _run(self._rows(prompts, trainer))
        return {
            "prompt_ids": [row.prompt_ids for row in rows],
            "completion_ids": [row.response_ids for row in rows],
            "logprobs": [row.response_logprobs for row in rows],
            "env_mask": [row.response_mask for row in rows],
            "env_reward": [math.fsum(row.rewards) if row.rewards else None for row in rows],
            "turn_rewards": [row.rewards for row in rows],
            "episode": [row.episode for row in rows],
        }

    async def _rows(self, prompts: Sequence[Any], trainer: Any) -> list[Row]:
        _check(trainer)
        codec = self._curriculum.any_options.codec(trainer._tokenizer)
        seats = self._curriculum.any_options.seats
        is_training = trainer.model.training
        members = trainer.num_generations if is_training else trainer.num_generations_eval
        number = len(prompts)
        first = trainer.accelerator.process_index * number
        keys = self._keys(trainer.args.seed, trainer.state.global_step, is_training=is_training)
        groups = range(first // members, (first + number - 1) // members + 1)
        # The seats of a start are groups of their own, and have its episodes in common.
        starts = {group: group // len(seats) for group in groups}
        options = {group: self._chosen(key_seed(*keys), starts[group]) for group in groups}
        if self._curriculum.schedule is not None:
            _refuse_tasks(prompts)

        plays: list[Play] = []
        parts: list[tuple[Play, int]] = []  # of each prompt
        for at, prompt in enumerate(prompts):
            group, repeat = divmod(first + at, members)
            unnamed = Start(key_seed(*keys, starts[group]), None, group % len(seats))
            start = _start(prompt) or unnamed
            seat = seat_of(start.seat, seats, env_id=options[group].env_id)
            parts.append((joined(plays, options[group], start, repeat, seat), seat))
        table = Table(_Sampler(trainer, codec, (*keys, first)), len(plays))

        async def finish(number: int, chosen: Play) -> None:
            try:
                chosen.episode = await play(
                    chosen.options,
                    partial(table.ask, number),
                    codec,
                    seed=chosen.start.seed,
                    task=chosen.start.task,
                    repeat=chosen.repeat,
                    max_response_tokens=trainer.max_completion_length,
                    max_length=_context(trainer),
                )
            finally:
                table.leave()

        await asyncio.gather(*(finish(*numbered) for numbered in enumerate(plays)))
        rows = []
        for chosen, seat in parts:
            assert chosen.episode is not None
            rows.append(one_row(chosen.episode.of_seat(seat), codec))
        return rows

    def _chosen(self, seed: int, group: int) -> EnvOptions:
        return self._curriculum.choose(seed, group)[1]

    def _keys(self, seed: int, step: int, *, is_training: bool) -> tuple[int | str, ...]:
        """Name this call: steps differ, and so do the calls of one step, if it makes several."""
        mode = "train" if is_training else "eval"
        call = self._calls[mode, step]
        self._calls[mode, step] += 1
        return ("trl", seed, mode, step if is_training else 0, call)


class _EvaluationsForgotten(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Forgets the calls of an evaluation as it ends, so that the next one plays the same.

    They are counted by step, and a step may be evaluated twice: at the end of a training, and by
    a call of `trainer.evaluate()` after it. TRL ends one for each data set that it evaluates: rows
    of several that fix no start play the same starts.
    """

    def __init__(self, calls: Counter[tuple[str, int]]) -> None:
        self._calls = calls

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._calls.pop(("eval", state.global_step), None)

    on_predict = on_evaluate


class _Sampler:
    """Continue prompts as the trainer would, and keep what each token's probability was."""

    def __init__(self, trainer: Any, codec: ChatCodec, keys: tuple[int | str, ...]) -> None:
        self._trainer = trainer
        self._keys = keys
        self._rounds = 0
        self._stops = codec.stop_ids.union(trainer.eos_token_ids)

    def __call__(self, requests: Sequence[gem.Request]) -> list[Sampled]:
        prompts = [list(request.prompt_ids or ()) for request in requests]
        budgets = [request.token_budget or 1 for request in requests]
        sample = self._by_vllm if self._trainer.use_vllm else self._by_model
        self._rounds += 1
        return list(map(self._cut, sample(prompts, max(budgets)), budgets))

    def _cut(self, answer: tuple[list[int], list[float]], budget: int) -> Sampled:
        ids = answer[0][:budget]
        logprobs = answer[1][:budget]
        end = next((at for at, id in enumerate(ids, 1) if id in self._stops), None)
        return Sampled(ids[:end], logprobs[:end], "length" if end is None else "stop")

    def _by_vllm(self, prompts: list[list[int]], most: int) -> list[tuple[list[int], list[float]]]:
        """Sample with vLLM: as many tokens as the trainer allows, whatever `most` is."""
        engine = self._trainer.vllm_generation
        _, answer_ids, logprobs, _ = engine.generate(
            prompts=prompts, images=None, num_generations=1
        )
        answers = []
        for ids, per_token in zip(answer_ids, logprobs, strict=True):
            answers.append((ids, [values[0] for values in per_token]))  # the first is its own
        return answers

    def _by_model(self, prompts: list[list[int]], most: int) -> list[tuple[list[int], list[float]]]:
        trainer = self._trainer
        answers = []
        config = deepcopy(trainer.generation_config)
        config.update(
            max_new_tokens=most,
            eos_token_id=sorted(self._stops),
            return_dict_in_generate=True,
            output_scores=True,
        )
        device = trainer.accelerator.device
        part = max(1, _MOST_SCORES // (most * len(trainer._tokenizer)))
        with (
            torch.random.fork_rng([device] if device.index is not None else []),
            unwrap_model_for_generation(
                trainer.model_wrapped,
                trainer.accelerator,
                gather_deepspeed3_params=trainer.args.ds3_gather_for_generation,
                generation_kwargs=trainer.generation_kwargs,
                gradient_checkpointing_kwargs=trainer.args.gradient_checkpointing_kwargs,
            ) as model,
            torch.no_grad(),
        ):
            torch.manual_seed(key_seed(*self._keys, "sample", self._rounds))
            for at in range(0, len(prompts), part):
                ids, mask = _padded(prompts[at : at + part], config.pad_token_id, device)
                generated = model.generate(
                    input_ids=ids, attention_mask=mask, generation_config=config
                )
                answers += _answers(generated.sequences[:, ids.shape[1] :], generated.scores)
        return answers


def _start(prompt: Any) -> Start | None:
    """Return what a prompt fixes, None where it fixes nothing."""
    text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
    try:
        row = json.loads(text)
    except (TypeError, ValueError):  # a prompt in parts, or in words
        return None
    return start_of(row) if isinstance(row, dict) else None


def _refuse_tasks(prompts: Sequence[Any]) -> None:
    """Raise BadArguments for a row that names a task: of which environment is not known."""
    for start in map(_start, prompts):
        if start is not None and start.task is not None:
            raise BadArguments(
                f"A row of the data set fixes task {start.task}, and a schedule chooses the "
                "environment. Give empty prompts, or rows with a seed alone.",
                subject="row",
            )


def _padded(prompts: list[list[int]], filler: int, device: Any) -> tuple[Any, Any]:
    """Return the ids and the attention mask of prompts, filled up on the left."""
    width = max(map(len, prompts))
    ids = [[filler] * (width - len(prompt)) + prompt for prompt in prompts]
    mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


def _answers(answer_ids: Any, scores: Sequence[Any]) -> list[tuple[list[int], list[float]]]:
    """Return the ids of each answer, and their logprobs in what they were drawn from."""
    logprobs = [
        step_scores.float().log_softmax(-1).gather(-1, ids[:, None])
        for step_scores, ids in zip(scores, answer_ids.T, strict=True)
    ]
    return list(zip(answer_ids.tolist(), torch.cat(logprobs, -1).tolist(), strict=True))


def _check(trainer: Any) -> None:
    """Refuse what would wait for ever: processes that all take part in every call of a model."""
    deepspeed = getattr(trainer.accelerator.state, "deepspeed_plugin", None)
    is_shared = (
        trainer.is_fsdp_enabled
        or (deepspeed is not None and deepspeed.zero_stage == 3)
        or (trainer.use_vllm and trainer.vllm_mode == "server")
        or (trainer.use_vllm and trainer.vllm_tensor_parallel_size > 1)
    )
    if is_shared and trainer.accelerator.num_processes > 1:
        raise BadArguments(
            f"{trainer.accelerator.num_processes} processes were to play with one model that they "
            "share, and their episodes have different numbers of turns. Train with a whole model "
            "in each process (DDP, ZeRO-2, vLLM colocated without tensor parallelism), or with "
            "one process.",
            subject="accelerator",
        )


def _context(trainer: Any) -> int | None:
    """Return how many tokens the model takes, None where that is not known."""
    if trainer.use_vllm and trainer.args.vllm_max_model_length is not None:
        return int(trainer.args.vllm_max_model_length)
    config = trainer.accelerator.unwrap_model(trainer.model).config.get_text_config()
    return getattr(config, "max_position_embeddings", None)


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code, in a notebook too, where a loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()

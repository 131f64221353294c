"""OpenRLHF: make the agent executor of a file of three lines, which plays an environment.

from gem_integrations.openrlhf import executor

AgentExecutor = executor("game:GuessTheNumber-v0-hard", max_turns=10)
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, ClassVar

import gem
from gem.env import key_seed
from gem.errors import BadArguments
from gem.tokens import ChatCodec, Sampled
from gem_integrations.episodes import EnvOptions, one_row, play
from gem_integrations.faults import refused_images
from gem_integrations.frameworks import require
from gem_integrations.images import ImageCodec
from gem_integrations.rows import Start, start_of
from gem_integrations.seats import SharedEpisodes, seat_of

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
    shows_images = stated.try_out("OpenRLHF", takes_images=True, takes_seats=True)
    of_this = {"options": stated, "shows_images": shows_images, "_shared": SharedEpisodes()}
    return type("AgentExecutor", (EnvExecutor,), of_this)


class EnvExecutor(AgentExecutorBase):  # type: ignore[misc]
    """Play an episode for each sample: the one that the row's label fixes, the same for a group.

    A label is JSON, `{"seed": 3}` or `{"seed": 3, "task": 5}`, or the seed alone; any other is
    hashed into a seed, together with the prompt. No model sees that prompt: the environment
    writes its own.

    Of several seats a label names one, `{"seed": 3, "seat": "first"}`. The model plays all of them,
    and the sample is the part of that seat.
    """

    options: ClassVar[EnvOptions]
    shows_images: ClassVar[bool] = False
    """Whether the environment showed an image when it was tried."""
    _shared: ClassVar[SharedEpisodes[gem.Episode]] = SharedEpisodes()
    _known: tuple[Any, ChatCodec] | None = None
    """The tokenizer of the newest group of samples, which come with one object, and its codec."""

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

        The engine is given all images so far with each prompt, and the row has what the model
        takes for those that it has tokens for. Raises BadArguments for images without a processor,
        or without `data.max_images_per_prompt`. `images` of the row are not shown to any model.
        """
        codec = self._codec(hf_tokenizer)
        start = _start(prompt, label)
        seat = seat_of(start.seat, self.options.seats, env_id=self.options.env_id)

        async def sample(request: gem.Request) -> Sampled:
            params = deepcopy(sampling_params)  # all samples share it
            limits = (request.token_budget, sampling_params.max_tokens)
            params.max_tokens = min(limit for limit in limits if limit is not None)
            ids = list(request.prompt_ids or ())
            pictures = _pictures(request, ids, codec, llm_engine)
            output = await llm_engine.generate(ids, params, multi_modal_data=pictures)
            return _sampled(output.outputs[0])

        async def play_all() -> gem.Episode:
            return await play(
                self.options,
                sample,
                codec,
                seed=start.seed,
                task=start.task,
                max_length=max_length,
            )

        key = (start.seed, start.task, max_length)
        whole = await self._shared.play(key, seat, play_all)
        episode = whole.of_seat(seat)
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
            "mm_train_inputs": _inputs(row.images, codec),
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

    def _codec(self, hf_tokenizer: Any) -> ChatCodec:
        """Return the codec of a sample; those of a group share it, and what it has processed."""
        if self._known is None or self._known[0] is not hf_tokenizer:
            self._known = hf_tokenizer, self._made(hf_tokenizer)
        return self._known[1]

    def _made(self, hf_tokenizer: Any) -> ChatCodec:
        """Return the codec for what OpenRLHF made of the model: a tokenizer, or a processor."""
        if hasattr(hf_tokenizer, "image_processor"):  # as OpenRLHF itself tells them apart
            return self.options.image_codec(hf_tokenizer)
        if self.shows_images:
            raise refused_images(self.options.env_id, "OpenRLHF")
        return self.options.codec(getattr(hf_tokenizer, "tokenizer", hf_tokenizer))


def _pictures(
    request: gem.Request, ids: list[int], codec: ChatCodec, llm_engine: Any
) -> dict[str, Any] | None:
    """Return what vLLM is given beside a prompt's tokens, None where there are no images.

    The engine makes one placeholder of each run of an image's tokens, for vLLM writes them out
    again. It can do so where the runs are as many as the images, and if it was told of images.
    """
    images = codec.images(request.messages) if isinstance(codec, ImageCodec) else []
    if not images:
        return None
    assert isinstance(codec, ImageCodec)
    if not llm_engine._mm_pad_token_ids:
        raise BadArguments(
            f"{request.env_id!r} shows images, and OpenRLHF's engines were not told of any. Set "
            "--data.max_images_per_prompt to the most that an episode shows.",
            subject="data.max_images_per_prompt",
        )
    codec.spans(ids, len(images))
    return {"image": images}


def _inputs(images: Sequence[Any], codec: ChatCodec) -> dict[str, Any] | None:
    """Return what a learner is given beside a row's tokens, None where there are no images."""
    if not images:
        return None
    assert isinstance(codec, ImageCodec)  # of any other, a row has none
    return codec.inputs(images, return_tensors="pt")


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
    return Sampled(ids, [candidates[id].logprob for id, candidates in chosen], output.finish_reason)

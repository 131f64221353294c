"""Environments for Tinker's cookbook, which samples, and hands in the tokens.

Knows nothing about sampling or training.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gem_integrations.frameworks import require

require("tinker")

import chz
import tinker
from tinker_cookbook.rl.rollout_limits import RolloutLimits
from tinker_cookbook.rl.types import (
    ActionExtra,
    Env,
    EnvGroupBuilder,
    InitialObservationOverflow,
    Logs,
    Metrics,
    RLDataset,
    RLDatasetBuilder,
    StepResult,
)
from tinker_cookbook.tokenizer_utils import get_tokenizer

import gem
from gem.content import ImagePart
from gem.env import episode_seed, in_thread
from gem.tokens import ChatCodec, Sampled
from gem_integrations.curricula import Curriculum
from gem_integrations.episodes import EnvOptions, Limit
from gem_integrations.faults import refused_images
from gem_integrations.images import ImageCodec, Processor, file_of, image_parts
from gem_integrations.stepping import SteppedEpisode

__all__ = ["GemDataset", "GemDatasetBuilder", "GemEnv", "GemGroupBuilder", "GemOptions"]

_REASONS = {"terminated": "completed"}  # the cookbook's word; the others are ours


class GemOptions(EnvOptions):
    """The options of every adapter; `max_trajectory_tokens` bounds a whole sequence.

    The cookbook takes several sequences an episode, so `on_rewrite` may be, and is, "split".
    """

    on_rewrite: Literal["split", "refuse", "keep"] = "split"  # type: ignore[assignment]
    max_trajectory_tokens: Limit | None = None

    @property
    def limits(self) -> RolloutLimits:
        """The limits that the cookbook keeps: it alone can cut an answer."""
        return RolloutLimits(
            max_turn_tokens=self.max_turn_tokens, max_trajectory_tokens=self.max_trajectory_tokens
        )


class GemEnv(Env):  # type: ignore[misc]
    """One episode, which `seed` and `task` fix; `episode` is its record once it has ended.

    An environment that fails ends its episode with what it had earned; one that fails before the
    first observation has an empty one, with reward 0. With an `ImageCodec` its prompts have an
    `ImageChunk` where an image stands. Raises UnplayableError where the template cannot show the
    conversation.
    """

    def __init__(
        self,
        options: GemOptions,
        codec: ChatCodec,
        *,
        seed: int,
        task: int | None = None,
        repeat: int = 0,
    ) -> None:
        self.rollout_limits = options.limits  # the cookbook's loop looks for this name
        play_options = options.model_copy(update={"max_turn_tokens": None})
        self._live = SteppedEpisode(play_options, codec, seed=seed, task=task, repeat=repeat)
        self._codec = codec
        self._stop = sorted(codec.stop_ids)

    @property
    def episode(self) -> gem.Episode | None:
        """The record of the episode, None before its end."""
        return self._live.episode

    async def initial_observation(
        self,
    ) -> tuple[tinker.ModelInput, list[int]] | InitialObservationOverflow:
        """Begin the episode, and return the first prompt."""
        request = await self._live.request()
        if request is None:
            return InitialObservationOverflow(
                reward=0.0, metrics=self._metrics(), logs=self._logs()
            )
        return self._prompt(request), self._stop

    async def step(self, action: list[int], *, extra: ActionExtra | None = None) -> StepResult:
        """Take in an answer; the next observation is all tokens so far, what is new included."""
        self._live.answer(Sampled(action, None, (extra or {}).get("stop_reason")))
        request = await self._live.request()
        prompt = tinker.ModelInput.empty() if request is None else self._prompt(request)
        return StepResult(
            reward=self._live.reward,
            episode_done=request is None,
            next_observation=prompt,
            next_stop_condition=self._stop,
            metrics=self._metrics() if request is None else {},
            logs=self._logs() if request is None else {},
        )

    async def close(self) -> None:
        """End an episode that the cookbook left, by a limit of its own or an error."""
        await self._live.cancel()

    def _prompt(self, request: gem.Request) -> tinker.ModelInput:
        ids = list(request.prompt_ids or ())
        parts = [*image_parts(request.messages)]
        if not parts or not isinstance(self._codec, ImageCodec):
            return tinker.ModelInput.from_ints(ids)
        return _with_images(ids, parts, self._codec)

    def _metrics(self) -> Metrics:
        episode = self.episode
        assert episode is not None
        reason = _REASONS.get(episode.stop_reason, episode.stop_reason)
        metrics: Metrics = {f"stop/{reason}": 1.0, "env_error": float(episode.is_error)}
        if episode.success is not None:
            metrics["success"] = float(episode.success)
        return metrics

    def _logs(self) -> Logs:
        assert self.episode is not None
        error = self.episode.error
        logs: Logs = {"env_id": self.episode.env_id, "seed": self.episode.seed}
        return logs if error is None else {**logs, "error": error}


def _with_images(
    ids: list[int], parts: Sequence[ImagePart], codec: ImageCodec
) -> tinker.ModelInput:
    """Return tokens with each image in place of those that stand for it.

    The same image is the same chunk in every turn, so that one prompt is seen to extend another.
    """
    chunks: list[Any] = []
    end = 0
    for (start, stop), part in zip(codec.spans(ids, len(parts)), parts, strict=True):
        if start > end:
            chunks.append(tinker.EncodedTextChunk(tokens=ids[end:start]))
        data, form = file_of(part)
        image = tinker.types.ImageChunk(data=data, format=form, expected_tokens=stop - start)
        chunks.append(image)
        end = stop
    chunks.append(tinker.EncodedTextChunk(tokens=ids[end:]))  # the model's turn opens with text
    return tinker.ModelInput(chunks=chunks)


@dataclass
class GemGroupBuilder(EnvGroupBuilder):  # type: ignore[misc]
    """A group of episodes that begin alike: one seed, or one task of a finite set."""

    options: GemOptions
    codec: ChatCodec
    group_size: int
    seed: int
    task: int | None = None
    made: list[GemEnv] = field(default_factory=list, init=False, repr=False)

    async def make_envs(self) -> Sequence[GemEnv]:
        """Return environments of the group, new ones each time: a strategy may try again."""
        envs = [
            GemEnv(self.options, self.codec, seed=self.seed, task=self.task, repeat=repeat)
            for repeat in range(self.group_size)
        ]
        self.made += envs
        return envs

    async def cleanup(self) -> None:
        """End what the cookbook left unfinished."""
        while self.made:
            await self.made.pop().close()

    def logging_tags(self) -> list[str]:
        """Return the id: metrics are told by environment."""
        return [self.options.env_id]


@dataclass(frozen=True)
class GemDataset(RLDataset):  # type: ignore[misc]
    """Groups of new episodes without end, of which `num_batches` times `batch_size` are used.

    `options` are those of one environment, or a curriculum over the components of a schedule.
    """

    options: GemOptions | Curriculum[GemOptions]
    codec: ChatCodec
    batch_size: int
    group_size: int
    num_batches: int
    seed: int = 0

    def get_batch(self, index: int) -> Sequence[GemGroupBuilder]:
        """Return the groups of one batch: the same ones whenever it is asked for.

        With a schedule they follow its weights as they are now, and are those that `gem.rollout`
        plans with them.
        """
        first = index * self.batch_size
        return [self._group(number) for number in range(first, first + self.batch_size)]

    def _group(self, number: int) -> GemGroupBuilder:
        place = 0
        options = self.options
        if isinstance(options, Curriculum):
            place, options = options.choose(self.seed, number)
        seed = episode_seed(self.seed, place, number)
        return GemGroupBuilder(options, self.codec, self.group_size, seed)

    def __len__(self) -> int:
        return self.num_batches


@chz.chz  # type: ignore[untyped-decorator, unused-ignore]
class GemDatasetBuilder(RLDatasetBuilder):  # type: ignore[misc]
    """The data set for a training configuration. `test_groups` of another seed test, if any.

    `env_id` may be a `gem.Schedule`: whoever holds it changes its weights between batches. The
    model's processor is loaded where an environment shows an image at once, and with `sees` where
    it does so later.
    """

    model_name_for_tokenizer: str
    env_id: str | gem.Schedule
    options: Mapping[str, Any] = chz.field(default_factory=dict)
    batch_size: int
    group_size: int
    num_batches: int
    test_groups: int = 0
    seed: int = 0
    sees: bool = False

    async def __call__(self) -> tuple[GemDataset, GemDataset | None]:
        """Try the environment, and return the data set to train on, and the one to test on.

        Raises BadArguments for other options, and for images where the model has no processor of
        them, the errors of `gem.make`, and UnplayableError where no episode can begin.
        """
        curriculum = await in_thread(self._curriculum)
        codec = await in_thread(self._codec, curriculum)
        size = self.batch_size, self.group_size, self.num_batches
        train = GemDataset(curriculum, codec, *size, self.seed)
        if not self.test_groups:
            return train, None
        return train, GemDataset(curriculum, codec, self.test_groups, 1, 1, self.seed + 1)

    def _curriculum(self) -> Curriculum[GemOptions]:
        return Curriculum(
            self.env_id, self.options, framework="Tinker", kind=GemOptions, takes_images=True
        )

    def _codec(self, curriculum: Curriculum[GemOptions]) -> ChatCodec:
        options = curriculum.any_options
        if not (self.sees or curriculum.shows_images):
            curriculum.takes_images = False
            return options.codec(get_tokenizer(self.model_name_for_tokenizer))
        processor = _processor(self.model_name_for_tokenizer)
        if processor is None:
            raise refused_images(options.env_id, f"Tinker with {self.model_name_for_tokenizer}")
        return options.image_codec(processor)


def _processor(model_name: str) -> Processor | None:
    """Load the processor of a model as the cookbook loads its tokenizer, None where it has none."""
    from transformers import AutoProcessor  # heavy: seconds

    is_trusted = os.environ.get("HF_TRUST_REMOTE_CODE", "").lower() in ("1", "true", "yes")
    base_name = model_name.split(":", 1)[0]
    processor: Any = AutoProcessor.from_pretrained(base_name, trust_remote_code=is_trusted)
    return processor if hasattr(processor, "image_processor") else None  # of text it is a tokenizer

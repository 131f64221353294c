"""Tinker: images as chunks of the cookbook's prompts, through its rollouts to training examples.

The processor's images and expansion are Qwen2-VL's; the sampler alone is scripted.
"""

from __future__ import annotations

import asyncio
import io
import pickle
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import tinker
import torch
from harness import chat_tokenizer, expected, scripted, whole
from PIL import Image
from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
from tinker_cookbook.renderers.base import image_to_chunk
from tinker_cookbook.rl.data_processing import assemble_training_data, compute_advantages
from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.rl.types import Trajectory, TrajectoryGroup
from tinker_cookbook.tokenizer_utils import register_tokenizer
from transformers import AutoProcessor, PretrainedConfig
from vision import GALLERY, SIZES, SightedProcessor, chat_processor

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.tinker import GemDatasetBuilder, GemGroupBuilder, GemOptions

torch.set_num_threads(1)
SEED = 5


@pytest.fixture(scope="module")
def processor() -> Any:
    return chat_processor()


def ids_of(chunks: Sequence[Any], image: int) -> list[int]:
    """Return chunks as tokens, with `image` for each that stands for a part of one."""
    ids: list[int] = []
    for chunk in chunks:
        is_text = isinstance(chunk, tinker.EncodedTextChunk)
        ids += chunk.tokens if is_text else [image] * chunk.expected_tokens
    return ids


class Scripted(TokenCompleter):
    """Answers as the script says, to prompts that hold images; `said` is said instead."""

    def __init__(self, processor: Any, said: Sequence[int] = ()) -> None:
        self._processor, self._said = processor, said
        self.prompts: list[tinker.ModelInput] = []

    async def __call__(
        self, model_input: tinker.ModelInput, stop: Any, *, max_tokens: int | None = None
    ) -> TokensWithLogprobs:
        self.prompts.append(model_input)
        if self._said:
            return TokensWithLogprobs([*self._said], [-1.0] * len(self._said), stop_reason="stop")
        prompt = ids_of(model_input.chunks, self._processor.image_token_id)
        said = scripted(self._processor.tokenizer, prompt, max_tokens)
        reason = "length" if said.finish_reason == "length" else "stop"
        return TokensWithLogprobs([*said.ids], [*said.logprobs], stop_reason=reason)


def group(processor: Any, **options: Any) -> GemGroupBuilder:
    known = GemOptions.of({"env_id": GALLERY, **options})
    return GemGroupBuilder(known, known.image_codec(processor), 1, SEED)


def rolled(builder: GemGroupBuilder, policy: TokenCompleter) -> Trajectory:
    return asyncio.run(do_group_rollout(builder, policy)).trajectories_G[0]


def examples(trajectory: Trajectory) -> list[tinker.Datum]:
    """Return the training examples of an episode that was better than another."""
    pair = TrajectoryGroup([trajectory, trajectory], [1.0, -1.0], [{}, {}])
    data, _ = assemble_training_data([pair], compute_advantages([pair]))
    return data[: len(data) // 2]


def wanted(processor: Any, **changes: Any) -> Any:
    options = {"env_id": GALLERY, "system_prompt": None, "max_turns": None, **changes}
    return expected(processor.tokenizer, SEED, **options)


def test_a_training_example_is_the_episode_with_its_images(
    processor: Any, shown: Counter[str]
) -> None:
    trajectory = rolled(group(processor), Scripted(processor))
    row = wanted(processor)

    [datum] = examples(trajectory)

    image = processor.image_token_id
    told = {name: tensor.data for name, tensor in datum.loss_fn_inputs.items()}
    last = int(told["target_tokens"][-1])
    assert [*ids_of(datum.model_input.chunks, image), last] == row.ids
    targets = [0 if id == image else id for id in row.ids]  # nothing is learned of an image
    assert [int(each) for each in told["target_tokens"]] == targets[1:]
    assert [0, *(int(each) for each in told["mask"])] == whole(row)[1]
    assert [0.0, *told["logprobs"]] == row.logprobs
    assert [each.reward for each in trajectory.transitions] == row.rewards
    shown["episodes"] += 1
    shown["tokens"] += len(row.ids)
    shown["rewards"] += len(row.rewards)


def test_an_image_is_the_chunk_that_the_cookbooks_renderer_would_make(
    processor: Any, shown: Counter[str]
) -> None:
    policy = Scripted(processor)
    rolled(group(processor), policy)

    images = [
        [each for each in prompt.chunks if isinstance(each, tinker.types.ImageChunk)]
        for prompt in policy.prompts
    ]
    last = images[-1]
    assert images == [last[:1], last[:2], last]
    assert [each.format for each in last] == ["png"] * 3  # the environment's own bytes
    for chunk, size in zip(last, SIZES, strict=False):
        image = Image.open(io.BytesIO(chunk.data))
        theirs = image_to_chunk(image, processor.image_processor)
        assert (chunk.expected_tokens, image.size) == (theirs.expected_tokens, size)
        shown["images"] += 1


def test_the_first_image_may_come_later(processor: Any) -> None:
    changes = {"env_kwargs": {"begins_at": 1}}
    policy = Scripted(processor)
    [datum] = examples(rolled(group(processor, **changes), policy))

    ids = ids_of(datum.model_input.chunks, processor.image_token_id)
    assert ids == wanted(processor, **changes).ids[:-1]
    assert policy.prompts[0].to_ints() == wanted(processor, **changes).prompt_ids


def test_images_count_within_the_limits_of_the_cookbook(processor: Any) -> None:
    row = wanted(processor)
    (_, end), (start, _), *_ = row.spans  # what comes between is an image of six tokens
    limit = start

    trajectory = rolled(group(processor, max_trajectory_tokens=limit), Scripted(processor))

    assert start - end > 6
    assert len(trajectory.transitions) == 1
    assert trajectory.stop_reason != "completed"


def test_a_token_of_images_that_is_sampled_goes_no_further(processor: Any) -> None:
    said = [*processor.tokenizer.encode("red"), processor.image_token_id]
    policy = Scripted(processor, said)

    trajectory = rolled(group(processor), policy)

    assert len(trajectory.transitions) == 3
    text = [each for each in policy.prompts[-1].chunks if isinstance(each, tinker.EncodedTextChunk)]
    assert processor.image_token_id not in [id for each in text for id in each.tokens]
    assert len(examples(trajectory)) == 3  # the cookbook sees that each prompt leaves it out


def test_a_group_with_images_can_be_sent_to_another_process(processor: Any) -> None:
    builder = pickle.loads(pickle.dumps(group(processor)))  # noqa: S301 - ours

    assert len(rolled(builder, Scripted(processor)).transitions) == 3


class SightedConfig(PretrainedConfig):  # type: ignore[misc]
    """Under which `transformers` finds the processor."""

    model_type = "sighted"


@pytest.fixture
def model(processor: Any, tmp_path: Path) -> str:
    """Return the folder of a model that sees."""
    AutoProcessor.register(SightedConfig, SightedProcessor, exist_ok=True)
    processor.save_pretrained(tmp_path)
    return str(tmp_path)


def builder(model: str, **changes: Any) -> GemDatasetBuilder:
    sizes = {"batch_size": 1, "group_size": 1, "num_batches": 1}
    stated = {"model_name_for_tokenizer": model, "env_id": GALLERY, **sizes, **changes}
    return GemDatasetBuilder(**stated)


@pytest.mark.parametrize(
    "changes", [{}, {"options": {"env_kwargs": {"begins_at": 1}}, "sees": True}]
)
def test_the_data_set_loads_the_processor_of_the_model(
    processor: Any, model: str, changes: dict[str, Any]
) -> None:
    train, _ = asyncio.run(builder(model, **changes)())
    trajectory = rolled(train.get_batch(0)[0], Scripted(processor))

    chunks = trajectory.transitions[-1].ob.chunks
    assert any(isinstance(each, tinker.types.ImageChunk) for each in chunks)
    assert len(trajectory.transitions) == 3


def test_a_model_without_a_processor_is_refused_before_training(tmp_path: Path) -> None:
    chat_tokenizer().save_pretrained(tmp_path)

    with pytest.raises(BadArguments, match="a model that has a processor"):
        asyncio.run(builder(str(tmp_path))())


def test_a_later_image_without_a_processor_ends_the_training(processor: Any) -> None:
    register_tokenizer("of-images", lambda: processor.tokenizer)
    made = builder("of-images", options={"env_kwargs": {"begins_at": 1}})

    async def played() -> None:
        train, _ = await made()
        await do_group_rollout(train.get_batch(0)[0], Scripted(processor))

    with pytest.raises(UnplayableError, match="hold an image"):
        asyncio.run(played())

"""verl: images through its worker, up to the tensors and positions that its trainer takes.

The processor's images and expansion are Qwen2-VL's, and so are the positions, which verl takes
from the model's class. The servers alone are replaced.
"""

from __future__ import annotations

import asyncio
import json
import sys
import types
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import verl
from harness import IMAGE, Row, expected
from vision import GALLERY, SIZES, chat_processor

sys.path.insert(0, str(Path(__file__).parent))  # for servers.py

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from servers import Servers
from transformers import LlamaConfig, Qwen2VLConfig, Qwen2VLForConditionalGeneration
from transformers.models.qwen2_vl import Qwen2VLModel
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.trainer.ppo.v1 import agent_loop_tq
from verl.utils import tensordict_utils
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.rows import rows

SEEDS = (5, 7)


@pytest.fixture(scope="module")
def processor() -> Any:
    """Return a processor as verl's `hf_processor` leaves one: with the model's positions."""
    made = chat_processor()
    ids = made.tokenizer.convert_tokens_to_ids
    made.config = Qwen2VLConfig(
        image_token_id=ids(IMAGE),
        video_token_id=ids("<|video_pad|>"),
        vision_start_token_id=ids("<|vision_start|>"),
    )
    made.get_rope_index = types.MethodType(Qwen2VLModel.get_rope_index, made)
    made.get_vision_position_ids = types.MethodType(Qwen2VLModel.get_vision_position_ids, made)
    return made


class Rig:
    """A worker with the configuration of the trainer, the servers it asks, and rows."""

    def __init__(self, config: Any, tokenizer: Any, processor: Any, folder: Path) -> None:
        self.config = config
        self.servers = Servers(config, tokenizer)
        self.processor = processor
        self._folder = folder

    def columns(self, *seeds: int) -> dict[str, Any]:
        plain = rows(GALLERY, count=len(seeds))
        given = [row | {"seed": seed} for row, seed in zip(plain, seeds, strict=True)]
        file = self._folder / "train.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in given))
        data = RLHFDataset(str(file), self.servers.tokenizer, self.config.data)
        columns: dict[str, Any] = collate_fn([data[at] for at in range(len(data))])
        return columns

    def generate(self, *seeds: int) -> DataProto:
        worker = AgentLoopWorker(self.config, self.servers)
        worker.processor = self.processor  # AutoProcessor needs torchvision for Qwen2-VL's
        batch = DataProto.from_single_dict(self.columns(*seeds))
        return asyncio.run(worker.generate_sequences(batch))


@pytest.fixture
def rig(processor: Any, tmp_path: Path) -> Callable[..., Rig]:
    """Return what makes a rig of one agent loop and some overrides of verl's configuration."""

    def made(*overrides: str, sees: bool = True, **options: Any) -> Rig:
        model, rollout = tmp_path / "model", "actor_rollout_ref.rollout"
        shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
        LlamaConfig(architectures=["LlamaForCausalLM"], **shape).save_pretrained(model)
        processor.tokenizer.save_pretrained(model)
        entry = {
            "name": "env",
            "_target_": "gem_integrations.verl.EnvAgentLoop",
            "env_id": GALLERY,
            **options,
        }
        OmegaConf.save(OmegaConf.create([entry]), tmp_path / "agent.yaml")
        with initialize_config_dir(
            str(Path(verl.__file__).parent / "trainer" / "config"), version_base=None
        ):
            config = compose(
                "ppo_trainer",
                [
                    f"actor_rollout_ref.model.path={model}",
                    f"{rollout}.name=vllm",
                    "data.max_prompt_length=160",
                    "data.max_response_length=200",
                    f"{rollout}.calculate_log_probs=True",
                    f"{rollout}.agent.agent_loop_config_path={tmp_path / 'agent.yaml'}",
                    f"{rollout}.agent.default_agent_loop=env",
                    f"+data.cache_dir={tmp_path / 'cache'}",
                    "++data.filter_overlong_prompts_workers=null",
                    *overrides,
                ],
            )
        return Rig(config, processor.tokenizer, processor if sees else None, tmp_path)

    return made


def wanted(processor: Any, seed: int, **changes: Any) -> Row:
    options = {"env_id": GALLERY, "system_prompt": None, "max_turns": None, **changes}
    return expected(processor.tokenizer, seed, **options)


def test_the_tokens_and_images_of_an_episode_reach_verls_batch(
    rig: Callable[..., Rig], processor: Any, shown: Counter[str]
) -> None:
    out = rig().generate(*SEEDS)

    for at, seed in enumerate(SEEDS):
        row = wanted(processor, seed)
        batch = {name: tensor[at] for name, tensor in out.batch.items()}
        real = batch["attention_mask"].bool()
        given = batch["response_mask"][real[len(batch["prompts"]) :]]
        assert batch["input_ids"][real].tolist() == row.ids
        assert given.tolist() == row.response_mask
        assert out.non_tensor_batch["turn_scores"][at] == row.rewards
        shown["episodes"] += 1
        shown["tokens"] += len(row.ids)
        shown["rewards"] += len(row.rewards)

        inputs = out.non_tensor_batch["multi_modal_inputs"][at]
        grids = [[1, height // 14, width // 14] for width, height in SIZES[:3]]
        assert inputs["image_grid_thw"].tolist() == grids
        patches = sum(height * width for _, height, width in grids)
        assert len(inputs["pixel_values"]) == patches == 4 * row.ids.count(processor.image_token_id)
        shown["images"] += len(grids)


def test_each_image_has_positions_of_its_own_in_height_and_width(
    rig: Callable[..., Rig], processor: Any
) -> None:
    out = rig().generate(SEEDS[0])

    real = out.batch["attention_mask"][0].bool()
    is_image = out.batch["input_ids"][0][real] == processor.image_token_id
    text, time, height, width = out.batch["position_ids"][0][:, real]
    assert text.tolist() == [*range(len(text))]
    first, second, third = np.split(np.flatnonzero(is_image), [2, 8])
    for at, (across, down) in ((first, (2, 1)), (second, (3, 2)), (third, (1, 1))):
        assert len({*time[at].tolist()}) == 1
        assert (height[at] - height[at[0]]).tolist() == [
            r for r in range(down) for _ in range(across)
        ]
        assert (width[at] - width[at[0]]).tolist() == [*range(across)] * down


@pytest.fixture(scope="module")
def model(processor: Any) -> Any:
    """Return a model of Qwen2-VL's kind: all of it, small, and with random weights."""
    torch.manual_seed(0)
    ids = processor.config
    return Qwen2VLForConditionalGeneration(
        Qwen2VLConfig(
            image_token_id=ids.image_token_id,
            video_token_id=ids.video_token_id,
            vision_start_token_id=ids.vision_start_token_id,
            text_config={
                "vocab_size": len(processor.tokenizer),
                "hidden_size": 16,
                "intermediate_size": 16,
                "num_hidden_layers": 1,
                "num_attention_heads": 2,
                "num_key_value_heads": 2,
                "rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1]},
                "bos_token_id": None,
                "eos_token_id": None,
                "pad_token_id": None,
            },
            vision_config={
                "depth": 1,
                "embed_dim": 16,
                "num_heads": 2,
                "hidden_size": 16,
                "mlp_ratio": 1,
            },
        )
    ).eval()


def test_a_model_takes_the_batch_and_sees_each_image_where_its_tokens_are(
    rig: Callable[..., Rig], processor: Any, model: Any
) -> None:
    out = rig().generate(SEEDS[0])
    real = out.batch["attention_mask"][0].bool()
    ids = out.batch["input_ids"][:, real]
    [inputs] = out.non_tensor_batch["multi_modal_inputs"]
    positions = out.batch["position_ids"][:, :, real].transpose(0, 1)

    @torch.no_grad()
    def logits(pixels: Any, images: int = 3) -> Any:
        grid = inputs["image_grid_thw"][:images]
        return model(
            input_ids=ids, position_ids=positions, pixel_values=pixels, image_grid_thw=grid
        ).logits[0]

    whole = logits(inputs["pixel_values"])
    changed = inputs["pixel_values"].clone()
    changed[8:32] += 1  # the patches of the second image
    differs = (logits(changed) - whole).abs().amax(-1) > 1e-6

    [second, *_] = np.flatnonzero(ids[0] == processor.image_token_id)[2:]
    assert whole.isfinite().all()
    assert not differs[:second].any()
    assert differs[second : second + 6].all()
    with pytest.raises(ValueError, match="Image features and image tokens do not match"):
        logits(inputs["pixel_values"][:8], images=1)


def test_the_servers_are_given_the_images_that_the_tokens_stand_for(
    rig: Callable[..., Rig], processor: Any
) -> None:
    made = rig("+data.mm_processor_kwargs.max_pixels=50176")

    made.generate(SEEDS[0])

    [prompts] = made.servers.asked.values()
    assert [[each.size for each in images] for images in made.servers.images] == [
        [SIZES[0]],
        [SIZES[0], SIZES[1]],
        [SIZES[0], SIZES[1], SIZES[2]],
    ]
    assert [each.count(processor.image_token_id) for each in prompts] == [2, 8, 9]
    assert made.servers.processor_options == [{"max_pixels": 50176}] * 3


def test_options_of_the_processor_count_for_tokens_and_tensors_alike(
    rig: Callable[..., Rig], processor: Any
) -> None:
    option = "+data.mm_processor_kwargs"
    made = rig(f"{option}.min_pixels=784", f"{option}.max_pixels=1568")  # of one token, of two

    out = made.generate(SEEDS[0])

    ids = out.batch["input_ids"][0].tolist()
    [inputs] = out.non_tensor_batch["multi_modal_inputs"]
    grids = inputs["image_grid_thw"].prod(-1).tolist()
    assert 4 * ids.count(processor.image_token_id) == sum(grids) == len(inputs["pixel_values"])
    assert max(grids) == 8


def test_an_environment_may_show_its_first_image_later_and_none_at_all(
    rig: Callable[..., Rig], processor: Any
) -> None:
    later = rig(env_kwargs={"begins_at": 1}).generate(SEEDS[0])
    never = rig(env_kwargs={"begins_at": 9}).generate(SEEDS[0])

    [inputs] = later.non_tensor_batch["multi_modal_inputs"]
    assert len(inputs["image_grid_thw"]) == 2
    real = never.batch["attention_mask"][0].bool()
    row = wanted(processor, SEEDS[0], env_kwargs={"begins_at": 9})
    assert never.batch["input_ids"][0][real].tolist() == row.ids
    assert "pixel_values" not in never.non_tensor_batch["multi_modal_inputs"][0]


def test_a_prompt_of_images_that_is_too_long_leaves_none_behind(
    rig: Callable[..., Rig], processor: Any
) -> None:
    out = rig("data.max_prompt_length=20").generate(SEEDS[0])

    assert out.non_tensor_batch["stop_reason"].tolist() == ["prompt_length"]
    assert processor.image_token_id not in out.batch["input_ids"][0].tolist()
    assert "pixel_values" not in out.non_tensor_batch["multi_modal_inputs"][0]


def test_a_model_without_a_processor_is_refused_at_the_first_sample(
    rig: Callable[..., Rig],
) -> None:
    with pytest.raises(BadArguments, match="a model that has a processor"):
        rig(sees=False, max_turn_tokens=99).generate(SEEDS[0])


def test_a_later_image_without_a_processor_ends_the_training(rig: Callable[..., Rig]) -> None:
    made = rig(sees=False, env_kwargs={"begins_at": 1})

    with pytest.raises(UnplayableError, match="hold an image"):
        made.generate(SEEDS[0])


class Queue:
    """What verl's trainer writes, without TransferQueue's actors."""

    def __init__(self) -> None:
        self.fields: list[dict[str, Any]] = []

    def init(self) -> None: ...

    async def async_kv_put(self, *, key: str, partition_id: str, tag: dict[str, str]) -> None: ...

    async def async_kv_batch_put(self, *, keys: list[str], fields: Any, **others: Any) -> None:
        for at in range(len(keys)):
            self.fields.append({name: fields[name][at] for name in fields.keys()})  # noqa: SIM118


def test_the_worker_of_verls_trainer_queues_the_same(
    rig: Callable[..., Rig], processor: Any, monkeypatch: pytest.MonkeyPatch, shown: Counter[str]
) -> None:
    made, queue = rig(), Queue()
    monkeypatch.setattr(agent_loop_tq, "tq", queue)
    columns = made.columns(*SEEDS)
    columns["uid"] = np.array(["0", "1"], dtype=object)
    batch = tensordict_utils.get_tensordict(columns)
    tensordict_utils.assign_non_tensor_data(batch, "global_steps", 1)

    async def generate() -> None:
        plain = agent_loop_tq.AgentLoopWorkerTQ.__ray_metadata__.modified_class
        worker = plain(made.config, made.servers)
        worker.processor = made.processor
        await worker.generate_sequences(batch)
        await asyncio.gather(*worker.background_tasks)

    asyncio.run(generate())

    assert len(queue.fields) == 2
    for told in queue.fields:
        row = wanted(processor, told["seed"])
        assert told["input_ids"].tolist() == row.ids
        assert len(told["multi_modal_inputs"]["image_grid_thw"]) == 3
        assert told["position_ids"].shape == (4, len(row.ids))
        shown["episodes"] += 1
        shown["tokens"] += len(row.ids)


torch.set_num_threads(1)

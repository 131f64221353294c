"""Environments that show images, by our manager of tokens and by ROLL's own of images.

`qwen_vl_utils.py` beside this file stands for the package, which ROLL's collator asks for images.
The processor is Qwen2-VL's, without videos.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

import pytest
import torch
from harness import IMAGE, PAYING, Row, Said, expected, scripted, whole
from roll.distributed.scheduler.protocol import DataProto
from roll.pipeline.agentic.env_manager.traj_env_manager import TrajEnvManager
from roll.pipeline.agentic.env_manager.vl_traj_env_manager import VLTrajEnvManager
from roll.pipeline.agentic.llm_proxy import BaseLLMProxy, register_llm_proxy
from roll_rig import cluster, manager_of, run  # noqa: F401  (`cluster` is a fixture)
from vision import CHATML, GALLERY, SIZES, chat_processor

from gem.errors import BadArguments
from gem_integrations.roll import TokenEnvManager

torch.set_num_threads(1)

pytestmark = pytest.mark.usefixtures("cluster")

SEED = 5
ADAPTED = {"wrappers": [{"id": "gem_integrations.roll:RollEnv", "takes_images": True}]}


@register_llm_proxy("seeing")
class Seeing(BaseLLMProxy):
    """Answer by the script; keep what ROLL's router would hand to an engine."""

    asked: list[dict[str, Any]]
    script: Any

    def generate(
        self, messages: Any, lm_input: DataProto, generation_config: dict[str, Any]
    ) -> DataProto:
        ids = lm_input.batch["input_ids"][0].tolist()
        [asked] = lm_input.non_tensor_batch.get("multi_modal_data", [{"prompt_token_ids": ids}])
        Seeing.asked.append(asked)
        said = Seeing.script(self.tokenizer, ids, generation_config["max_new_tokens"])
        lm_input.batch["responses"] = torch.tensor([said.ids])
        lm_input.batch["infer_logprobs"] = torch.tensor([said.logprobs])
        return lm_input

    @classmethod
    def sizes(cls) -> list[list[tuple[int, int]]]:
        """Return the sizes of the images that each prompt came with."""
        images = [each.get("multi_modal_data", {}).get("image", []) for each in cls.asked]
        return [[each.size for each in turn] for turn in images]


@pytest.fixture(autouse=True)
def engine() -> type[Seeing]:
    Seeing.asked, Seeing.script = [], staticmethod(scripted)
    return Seeing


@pytest.fixture(scope="module")
def processor() -> Any:
    made = chat_processor()
    made.tokenizer.chat_template = CHATML  # ROLL's managers use that of the tokenizer
    return made


def positions(
    input_ids: torch.Tensor, attention_mask: torch.Tensor, image_grid_thw: Any = None
) -> dict[str, torch.Tensor]:
    """Stand for ROLL's positions of images: its own do not fit transformers 5.23."""
    images = 0 if image_grid_thw is None else len(image_grid_thw)
    return {"position_ids": (attention_mask.cumsum(-1) + images)[:, None].repeat(1, 3, 1)}


def play(
    processor: Any,
    cls: type[TrajEnvManager] = TokenEnvManager,
    *,
    env_type: str = GALLERY,
    length: int = 1024,
    template: str = "{observation}",
    sees: bool = True,
    **config: Any,
) -> DataProto:
    """Play an episode by a manager that is made as ROLL's worker makes it."""
    manager = manager_of(
        cls,
        processor.tokenizer,
        proxy="seeing",
        env_type=env_type,
        template=template,
        length=length,
        processor=processor if sees else None,
        positions=positions if sees else None,
        **config,
    )
    [row] = run(manager, SEED)
    return row


def wanted_of(processor: Any, **changes: Any) -> Row:
    options = {"env_id": GALLERY, "system_prompt": None, "max_turns": 4, **changes}
    return expected(processor.tokenizer, SEED, **options)


def ids_of(row: DataProto) -> list[int]:
    ids: list[int] = row.batch["input_ids"][0][row.batch["attention_mask"][0].bool()].tolist()
    return ids


def mask_of(row: DataProto) -> list[int]:
    mask: list[int] = row.batch["response_mask"][0, : len(ids_of(row))].int().tolist()
    return mask


def pixels(processor: Any, images: Any) -> dict[str, Any]:
    return dict(processor.image_processor(images=images, return_tensors="pt"))


def collapsed(processor: Any, ids: list[int]) -> list[int]:
    """Leave one token of each image."""
    pad = processor.image_token_id
    runs = ((id, list(run)) for id, run in groupby(ids))
    return [id for id, run in runs for _ in (run[:1] if id == pad else run)]


def test_an_episode_with_images_is_the_same_row_as_with_every_adapter(
    processor: Any, engine: type[Seeing], shown: Counter[str]
) -> None:
    row = play(processor)

    wanted = wanted_of(processor)
    assert (ids_of(row), mask_of(row)) == whole(wanted)[:2]
    logprobs = row.batch["infer_logprobs"][0, : len(wanted.ids) - 1].tolist()
    assert [0.0, *logprobs] == wanted.logprobs
    assert list(row.non_tensor_batch["step_scores"][0]) == wanted.rewards
    shown["tokens"] += len(wanted.ids)


def test_a_row_has_what_the_model_takes_for_its_images(
    processor: Any, engine: type[Seeing], shown: Counter[str]
) -> None:
    row = play(processor)

    images = engine.asked[-1]["multi_modal_data"]["image"]
    [inputs] = row.non_tensor_batch["multi_modal_inputs"]
    wanted = pixels(processor, images)
    assert inputs.keys() == wanted.keys()
    assert all(torch.equal(inputs[name], wanted[name]) for name in wanted)
    assert row.batch["position_ids"].shape == (1, 3, 1024)
    assert row.batch["position_ids"][0, 0, :2].tolist() == [4, 5]  # of a row with three images
    shown["images"] += len(images)


def test_the_engine_is_given_every_image_so_far_and_one_placeholder_of_each(
    processor: Any, engine: type[Seeing], shown: Counter[str]
) -> None:
    play(processor)

    wanted = wanted_of(processor)
    prompts = [collapsed(processor, wanted.ids[:start]) for start, _ in wanted.spans]
    assert [each["prompt_token_ids"] for each in engine.asked] == prompts
    assert engine.sizes() == [list(SIZES[:count]) for count in (1, 2, 3)]
    shown["prompts"] += len(prompts)


def test_an_image_that_does_not_fit_has_neither_tokens_nor_pixels(
    processor: Any, shown: Counter[str]
) -> None:
    wanted = wanted_of(processor)
    _, end = wanted.spans[1]

    row = play(processor, length=end + 3)

    assert ids_of(row) == wanted.ids[:end]
    [inputs] = row.non_tensor_batch["multi_modal_inputs"]
    assert len(inputs["image_grid_thw"]) == 2
    shown["tokens"] += end


def test_a_first_prompt_that_fills_the_sequence_leaves_no_image(processor: Any) -> None:
    row = play(processor, length=20)

    assert sum(mask_of(row)) == 0
    assert processor.image_token_id not in ids_of(row)
    assert row.non_tensor_batch["multi_modal_inputs"].tolist() == [{}]
    assert row.meta_info["drop_flag"] is True


@pytest.mark.parametrize(("text", "turns"), [(f"Red.{IMAGE}{IMAGE}", 3), (IMAGE, 0)])
def test_a_placeholder_that_the_model_says_ends_its_answer(
    processor: Any, engine: type[Seeing], text: str, turns: int
) -> None:
    ids = processor.tokenizer.encode(text)
    engine.script = staticmethod(lambda *_: Said(ids, [-1.0] * len(ids), "length"))

    row = play(processor)

    said = [id for id, is_said in zip(ids_of(row), mask_of(row), strict=True) if is_said]
    assert processor.tokenizer.decode(said) == "Red." * turns
    [inputs] = row.non_tensor_batch["multi_modal_inputs"]
    grids = inputs.get("image_grid_thw", torch.zeros(0, 3))
    assert ids_of(row).count(processor.image_token_id) == int(grids.prod(-1).sum()) // 4


def test_text_around_an_observation_stands_around_its_image(
    processor: Any, engine: type[Seeing]
) -> None:
    row = play(processor, template="See. {observation} Say it.")

    opening = processor.tokenizer.decode(ids_of(row)).partition("<|im_end|>")[0]
    assert opening == (
        f"<|im_start|>user\nSee. Look:\n<|vision_start|>{IMAGE}{IMAGE}<|vision_end|>"
        "Picture 0 of 5: which colour? Say it."
    )


def test_a_template_that_shows_no_observation_is_refused(processor: Any) -> None:
    with pytest.raises(BadArguments, match="agent_template shows 0"):
        play(processor, template="Guess.")


def test_rows_with_images_and_without_fit_into_a_batch(
    processor: Any, engine: type[Seeing], shown: Counter[str]
) -> None:
    seeing = play(processor)
    blind = play(processor, env_type=PAYING)

    wanted = wanted_of(processor, env_id=PAYING)
    assert (ids_of(blind), mask_of(blind)) == whole(wanted)[:2]
    assert engine.sizes()[3:] == [[], [], []]
    batch = DataProto.concat([seeing, blind])
    assert [len(each) for each in batch.non_tensor_batch["multi_modal_inputs"]] == [2, 0]
    shown["tokens"] += len(wanted.ids)


@pytest.mark.parametrize(
    ("cls", "config", "sees"),
    [
        (TokenEnvManager, {}, False),
        (TrajEnvManager, {"wrappers": ["gem_integrations.roll:RollEnv"]}, True),
    ],
)
def test_images_are_refused_where_they_would_be_read_as_text(
    processor: Any, cls: Any, config: Any, sees: bool
) -> None:
    with pytest.raises(BadArguments, match="RollEnv is given takes_images=True"):
        play(processor, cls, sees=sees, **config)


def test_rolls_own_manager_of_images_plays_the_same_conversation(
    processor: Any, engine: type[Seeing], shown: Counter[str]
) -> None:
    """Unmodified `VLTrajEnvManager`, which tokenises what the model said once more."""
    row = play(processor, VLTrajEnvManager, **ADAPTED)

    wanted = wanted_of(processor)
    tokenizer = processor.tokenizer
    assert tokenizer.decode(ids_of(row)) == tokenizer.decode(wanted.ids)
    assert ids_of(row) != wanted.ids
    assert list(row.non_tensor_batch["step_scores"][0]) == wanted.rewards
    [inputs] = row.non_tensor_batch["multi_modal_inputs"]
    made = pixels(processor, engine.asked[-1]["multi_modal_data"]["image"])
    assert all(torch.equal(inputs[name], made[name]) for name in made)
    assert engine.sizes() == [list(SIZES[:count]) for count in (1, 2, 3)]
    shown["unmodified"] += 1


def test_rolls_own_manager_of_images_ends_where_a_prompt_fills_the_sequence(
    processor: Any,
) -> None:
    """A fault of ROLL's: it decodes an answer that it did not ask for."""
    with pytest.raises(KeyError, match="responses"):
        play(processor, VLTrajEnvManager, length=30, **ADAPTED)

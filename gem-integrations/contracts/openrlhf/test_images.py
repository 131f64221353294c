"""An environment that shows images, in OpenRLHF's own actor and experiences; vLLM is replaced.

The processor is Qwen2-VL's, and a small model of Qwen2-VL's kind reads the rows as a learner does.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch
from harness import IMAGE, PAYING, Said, expected, scripted, whole
from vision import CHATML, GALLERY, SIZES, SightedProcessor, chat_processor

sys.path.insert(0, str(Path(__file__).parent))  # for vllm.py

from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator
from openrlhf.trainer.ray.vllm_engine import RolloutRayActor
from openrlhf.utils.vlm_utils import merge_mm_train_inputs, process_prompt_with_images
from vllm import SamplingParams

from gem.errors import BadArguments

torch.set_num_threads(1)

SEED = 5
ALONE = {"system_prompt": None, "max_turns": None}
Generate = Callable[..., tuple[Any, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def processor() -> Any:
    return chat_processor()


@pytest.fixture
def generate(processor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generate:
    """Return what plays one episode by a user's file, and returns engine and responses."""
    monkeypatch.setenv("RAY_ADDRESS", "none: it runs here")

    def played(
        options: dict[str, Any],
        *,
        length: int = 1200,
        told: bool = True,
        tokenizer: Any = processor,
        script: Any = None,
        n: int = 1,
    ) -> tuple[Any, list[dict[str, Any]]]:
        file = tmp_path / "agent_func.py"
        file.write_text(
            "from gem_integrations.openrlhf import executor\n\n"
            f"AgentExecutor = executor(**{options!r})\n"
        )
        plain = RolloutRayActor.__ray_metadata__.modified_class
        actor = plain.__new__(plain)
        pads = {processor.image_token_id, processor.video_token_id}

        async def responses() -> list[dict[str, Any]]:
            await plain.__init__(
                actor,
                num_gpus=0,
                agent_func_path=str(file),
                mm_pad_token_ids=pads if told else set(),
                script=script or partial(scripted, processor.tokenizer),
            )
            found: list[dict[str, Any]] = await actor.generate_responses(
                prompt="row",
                label=json.dumps({"seed": SEED}),
                sampling_params=SamplingParams(max_tokens=None, logprobs=1),
                max_length=length,
                hf_tokenizer=tokenizer,
                num_samples=n,
            )
            return found

        got = asyncio.run(responses())
        return actor.llm, got

    return played


def row_of(processor: Any, **changes: Any) -> Any:
    return expected(processor.tokenizer, SEED, env_id=GALLERY, **{**ALONE, **changes})


def experience_of(processor: Any, response: dict[str, Any]) -> Experience:
    generator = SamplesGenerator(SimpleNamespace(args=None), None, None, processor, [])
    return generator._process_response_into_experience(response, max_len=1200)


def test_an_episode_with_images_is_the_same_row_as_with_every_adapter(
    generate: Generate, processor: Any, shown: Counter[str]
) -> None:
    _, [got] = generate({"env_id": GALLERY})

    wanted = row_of(processor)
    assert got["observation_tokens"] == wanted.ids
    assert got["action_ranges"] == wanted.spans
    assert got["rollout_log_probs"] == wanted.logprobs
    assert got["reward"] == 6.0
    shown["tokens"] += len(wanted.ids)


def test_the_engine_is_given_every_image_so_far_and_one_placeholder_of_each(
    generate: Generate, processor: Any, shown: Counter[str]
) -> None:
    engine, _ = generate({"env_id": GALLERY})

    wanted = row_of(processor)
    pad = processor.image_token_id
    for at, (start, _) in enumerate(wanted.spans):
        prompt = [
            id
            for id, run in groupby(wanted.ids[:start])
            for _ in range(1 if id == pad else len(list(run)))
        ]
        assert engine.asked[at] == prompt
        assert [each.size for each in engine.images[at]] == list(SIZES[: at + 1])
        shown["prompts"] += 1


def test_the_learner_is_given_what_openrlhf_makes_of_the_images_itself(
    generate: Generate, processor: Any, shown: Counter[str]
) -> None:
    engine, [got] = generate({"env_id": GALLERY})

    inputs = experience_of(processor, got).mm_train_inputs[0]

    images = engine.images[-1]
    text = f"<|vision_start|>{IMAGE}<|vision_end|>" * len(images)
    _, wanted, _ = process_prompt_with_images(processor, text, images)
    assert wanted is not None
    assert inputs.keys() == wanted.keys()
    assert all(torch.equal(inputs[name], wanted[name]) for name in wanted)
    patches = int(inputs["image_grid_thw"].prod(-1).sum())
    assert got["observation_tokens"].count(processor.image_token_id) == patches // 4
    shown["images"] += len(images)


def test_a_model_reads_rows_with_images_and_without(
    generate: Generate, processor: Any, tiny: Any, shown: Counter[str]
) -> None:
    _, [seeing] = generate({"env_id": GALLERY})
    _, [blind] = generate({"env_id": PAYING})
    made = [experience_of(processor, each) for each in (seeing, blind)]
    batch = Experience.concat_experiences(made, pad_token_id=processor.tokenizer.pad_token_id)

    inputs = merge_mm_train_inputs(batch.mm_train_inputs, "cpu")

    assert blind["mm_train_inputs"] is None
    ids = batch.sequences
    types = (ids == processor.image_token_id).int()
    with torch.no_grad():
        said = tiny(ids, attention_mask=batch.attention_mask, mm_token_type_ids=types, **inputs)
    assert said.logits.shape[:2] == ids.shape
    assert said.logits.isfinite().all()
    shown["tokens"] += ids.numel()


@pytest.fixture(scope="module")
def tiny(processor: Any) -> Any:
    """Return a model of Qwen2-VL's kind with random weights, which counts images as a large one."""
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

    names = ("<|vision_start|>", "<|vision_end|>")
    begin, end = processor.tokenizer.convert_tokens_to_ids(names)
    config = Qwen2VLConfig(
        text_config={
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "vocab_size": len(processor.tokenizer),
            "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3]},
        },
        vision_config={"depth": 1, "embed_dim": 32, "hidden_size": 32, "num_heads": 2},
        image_token_id=processor.image_token_id,
        video_token_id=processor.video_token_id,
        vision_start_token_id=begin,
        vision_end_token_id=end,
    )
    return Qwen2VLForConditionalGeneration(config).eval()


def test_an_image_that_does_not_fit_has_neither_tokens_nor_pixels(
    generate: Generate, processor: Any, shown: Counter[str]
) -> None:
    whole_row = row_of(processor)
    (_, end), (start, _) = whole_row.spans[1:]
    assert start - end > 10

    engine, [got] = generate({"env_id": GALLERY}, length=end + 3)

    assert got["observation_tokens"] == whole_row.ids[:end]
    assert got["truncated"]
    assert len(got["mm_train_inputs"]["image_grid_thw"]) == len(engine.images) == 2
    shown["tokens"] += end


def test_a_placeholder_that_the_model_says_ends_its_answer(
    generate: Generate, processor: Any
) -> None:
    ids = processor.tokenizer.encode(f"Red.{IMAGE}{IMAGE}")

    _, [got] = generate(
        {"env_id": GALLERY}, script=lambda *_: Said(ids, [-1.0] * len(ids), "length")
    )

    answers = [got["observation_tokens"][start:stop] for start, stop in got["action_ranges"]]
    assert processor.tokenizer.batch_decode(answers) == ["Red."] * 3
    patches = int(got["mm_train_inputs"]["image_grid_thw"].prod(-1).sum())
    assert got["observation_tokens"].count(processor.image_token_id) == patches // 4


class Counting(SightedProcessor):
    """Keeps what it is asked with."""

    texts: ClassVar[list[str]] = []

    def __call__(self, **asked: Any) -> Any:
        self.texts.extend(asked["text"])
        return super().__call__(**asked)


def test_a_group_has_its_first_image_processed_once(generate: Generate, processor: Any) -> None:
    counting = Counting(processor.image_processor, processor.tokenizer, chat_template=CHATML)

    _, got = generate({"env_id": GALLERY}, tokenizer=counting, n=4)

    assert len({tuple(each["observation_tokens"]) for each in got}) == 1
    assert len([text for text in counting.texts if "Picture 0" in text]) == 1


def test_an_environment_of_text_is_played_with_a_processor_as_ever(
    generate: Generate, processor: Any, shown: Counter[str]
) -> None:
    engine, [got] = generate({"env_id": PAYING}, told=False)

    wanted = expected(processor.tokenizer, SEED, env_id=PAYING, **ALONE)
    assert got["observation_tokens"] == whole(wanted)[0]
    assert engine.images == [[], [], []]
    shown["tokens"] += len(wanted.ids)


def test_engines_that_were_not_told_of_images_are_never_asked(generate: Generate) -> None:
    with pytest.raises(BadArguments, match=r"Set --data\.max_images_per_prompt"):
        generate({"env_id": GALLERY}, told=False)


def test_a_model_without_a_processor_is_refused(generate: Generate, processor: Any) -> None:
    with pytest.raises(BadArguments, match=r"through OpenRLHF, .* a model that has a processor"):
        generate({"env_id": GALLERY}, tokenizer=processor.tokenizer)

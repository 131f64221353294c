"""A model that calls a tool as the chat template asks is understood, in OpenRLHF's own actor."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from harness import GAME, scripted
from templates import CALL, SEED, TOOLS, check, with_tools

sys.path.insert(0, str(Path(__file__).parent))  # for vllm.py

from openrlhf.trainer.ray.vllm_engine import RolloutRayActor
from vllm import SamplingParams


def test_a_call_as_the_template_asks_for_it_is_answered(
    tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Counter[str]
) -> None:
    tokenizer = with_tools(tokenizer)
    monkeypatch.setenv("RAY_ADDRESS", "none: it runs here")
    file = tmp_path / "agent_func.py"
    file.write_text(
        "from gem_integrations.openrlhf import executor\n\n"
        f"AgentExecutor = executor(**{GAME | TOOLS!r})\n"
    )
    plain = RolloutRayActor.__ray_metadata__.modified_class
    actor = plain.__new__(plain)

    async def responses() -> list[dict[str, Any]]:
        script = partial(scripted, tokenizer, first=CALL)
        await plain.__init__(actor, num_gpus=0, agent_func_path=str(file), script=script)
        found: list[dict[str, Any]] = await actor.generate_responses(
            prompt="row",
            label=json.dumps({"seed": SEED}),
            sampling_params=SamplingParams(max_tokens=None, logprobs=1),
            max_length=4096,
            hf_tokenizer=tokenizer,
            num_samples=1,
        )
        return found

    [got] = asyncio.run(responses())

    ids = got["observation_tokens"]
    spans = got["action_ranges"]
    mask = [int(any(begin <= at < end for begin, end in spans)) for at in range(len(ids))]
    check(tokenizer, ids, mask)
    shown["tokens"] += len(ids)

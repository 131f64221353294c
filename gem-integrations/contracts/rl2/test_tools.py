"""A model that calls a tool as the chat template asks is understood, in RL2's own groups."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from harness import GAME
from omegaconf import OmegaConf
from RL2.datasets import RLDataset
from rl2.engine import Engine
from RL2.utils import communication
from templates import CALL, SEED, TOOLS, check, with_tools

from gem_integrations.rl2 import environment


def test_a_call_as_the_template_asks_for_it_is_answered(
    tokenizer: Any, tmp_path: Path, shown: Counter[str]
) -> None:
    tokenizer = with_tools(tokenizer)
    stated = {
        "responses_per_prompt": 1,
        "apply_chat_template": True,
        "messages_key": "messages",
        "prompt_key": "prompt",
        "save_dir": str(tmp_path),
        "sampling_params": {"temperature": 1.0, "max_new_tokens": 128, "stop": None},
    }
    data = RLDataset(OmegaConf.create(stated), tokenizer, [{"seed": SEED}])
    group = data.collate_fn((data[0],))
    generate = environment(**GAME, **TOOLS).generate

    @communication.with_session
    async def rollout() -> None:
        async with Engine(tokenizer, first=CALL) as url:
            await group.generate(url, generate)

    asyncio.run(rollout())

    [[tensors]], _ = group.to_all_tensor_dicts_and_metrics()
    mask = tensors["action_mask"].tolist()
    states = tensors["states"].tolist()
    last = tensors["actions"].tolist()[-1]  # RL2 shifts: what is predicted stands one before
    ids = [*states, last]
    check(tokenizer, ids, [0, *mask])
    shown["tokens"] += len(ids)

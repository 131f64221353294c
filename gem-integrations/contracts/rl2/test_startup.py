"""A fault that every episode has stops RL2's groups, or never lets its environment file load."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fragile import HOPELESS, TURNING
from harness import PAYING
from omegaconf import OmegaConf
from RL2.datasets import RLDataset
from rl2.engine import Engine
from RL2.utils import communication

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.faults import EPISODES
from gem_integrations.rl2 import environment


def test_no_file_is_loaded_whose_environment_cannot_begin() -> None:
    with pytest.raises(UnplayableError, match=r"none can begin: .* OSError: the board is lost"):
        environment(HOPELESS)


def test_nor_one_with_a_misspelt_argument() -> None:
    with pytest.raises(BadArguments, match="lenght"):
        environment(PAYING, env_kwargs={"lenght": 3})


def test_a_batch_that_all_ends_by_one_error_ends_the_rollout(
    tokenizer: Any, tmp_path: Path
) -> None:
    stated = {
        "responses_per_prompt": 2,
        "apply_chat_template": True,
        "messages_key": "messages",
        "prompt_key": "prompt",
        "save_dir": str(tmp_path),
        "sampling_params": {"temperature": 1.0, "max_new_tokens": 64, "stop": None},
    }
    given = [{"seed": seed} for seed in range(EPISODES // 2)]
    data = RLDataset(OmegaConf.create(stated), tokenizer, given)
    groups = [data.collate_fn((data[at],)) for at in range(len(data))]
    generate = environment(TURNING).generate

    @communication.with_session
    async def rollout() -> None:
        async with Engine(tokenizer) as url:
            await asyncio.gather(*(group.generate(url, generate) for group in groups))

    with pytest.raises(UnplayableError, match=f"the last {EPISODES} in this process all ended"):
        asyncio.run(rollout())

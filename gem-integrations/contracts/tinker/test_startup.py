"""A fault that every episode has stops the cookbook's rollouts, or never lets them begin."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from fragile import HOPELESS, TURNING
from harness import PAYING

sys.path.insert(0, str(Path(__file__).parent))  # for tinker_rig.py

from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.tokenizer_utils import register_tokenizer
from tinker_rig import Scripted

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.faults import EPISODES
from gem_integrations.tinker import GemDatasetBuilder


def builder(tokenizer: Any, env_id: str, **options: Any) -> GemDatasetBuilder:
    register_tokenizer("contract/startup", lambda: tokenizer)
    return GemDatasetBuilder(
        model_name_for_tokenizer="contract/startup",
        env_id=env_id,
        options=options,
        batch_size=EPISODES // 2,
        group_size=2,
        num_batches=1,
    )


def test_no_data_set_is_built_of_what_cannot_begin(tokenizer: Any) -> None:
    with pytest.raises(UnplayableError, match=r"none can begin: .* OSError: the board is lost"):
        asyncio.run(builder(tokenizer, HOPELESS)())


def test_nor_of_a_misspelt_argument(tokenizer: Any) -> None:
    with pytest.raises(BadArguments, match="lenght"):
        asyncio.run(builder(tokenizer, PAYING, env_kwargs={"lenght": 3})())


def test_a_batch_that_all_ends_by_one_error_ends_the_rollouts(tokenizer: Any) -> None:
    async def rollouts() -> None:
        data, _ = await builder(tokenizer, TURNING)()
        policy = Scripted(tokenizer)
        await asyncio.gather(*(do_group_rollout(each, policy) for each in data.get_batch(0)))

    with pytest.raises(UnplayableError, match=f"the last {EPISODES} in this process all ended"):
        asyncio.run(rollouts())

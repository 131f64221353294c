"""The cookbook rolls out groups of a schedule's components, by the weights as they are."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from harness import GAME, PAYING

sys.path.insert(0, str(Path(__file__).parent))  # for tinker_rig.py

from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.tokenizer_utils import register_tokenizer
from tinker_rig import Scripted

import gem
from gem.env import episode_seed
from gem_integrations.tinker import GemDatasetBuilder

COMPONENTS = [{"env": GAME["env_id"], "name": "game"}, {"env": PAYING, "name": "pays"}]


def test_groups_are_of_the_components_by_their_weights_as_they_are(tokenizer: Any) -> None:
    register_tokenizer("contract/schedule", lambda: tokenizer)
    schedule = gem.Schedule(COMPONENTS)
    builder = GemDatasetBuilder(
        model_name_for_tokenizer="contract/schedule",
        env_id=schedule,
        options={"max_turns": 4},
        batch_size=8,
        group_size=2,
        num_batches=2,
        seed=5,
    )

    async def rolled() -> list[Any]:
        data, _ = await builder()
        first = data.get_batch(0)
        schedule.update(weights={"game": 0})
        groups = [*first, *data.get_batch(1)]
        played = (do_group_rollout(group, Scripted(tokenizer)) for group in groups)
        assert len(await asyncio.gather(*played)) == 16
        return groups

    groups = asyncio.run(rolled())
    tags = [tag for group in groups for tag in group.logging_tags()]
    assert set(tags[:8]) == {GAME["env_id"], PAYING}
    assert set(tags[8:]) == {PAYING}
    place = [GAME["env_id"], PAYING].index
    wanted = [episode_seed(5, place(tag), number) for number, tag in enumerate(tags)]
    assert [group.seed for group in groups] == wanted

"""A fault that every episode has stops OpenRLHF's actors, or never lets them begin."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fragile import HOPELESS, TURNING
from harness import PAYING, scripted

sys.path.insert(0, str(Path(__file__).parent))  # for vllm.py

from openrlhf.trainer.ray.vllm_engine import RolloutRayActor, _load_agent_executor
from vllm import SamplingParams

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.faults import EPISODES


@pytest.fixture
def user_file(tmp_path: Path) -> Any:
    """Return what writes a user's file with these options."""

    def written(**options: Any) -> str:
        file = tmp_path / "agent_func.py"
        file.write_text(
            "from gem_integrations.openrlhf import executor\n\n"
            f"AgentExecutor = executor(**{options!r})\n"
        )
        return str(file)

    return written


def test_no_file_is_loaded_whose_environment_cannot_begin(user_file: Any) -> None:
    with pytest.raises(UnplayableError, match=r"none can begin: .* OSError: the board is lost"):
        _load_agent_executor(user_file(env_id=HOPELESS))


def test_nor_one_with_a_misspelt_argument(user_file: Any) -> None:
    with pytest.raises(BadArguments, match="lenght"):
        _load_agent_executor(user_file(env_id=PAYING, env_kwargs={"lenght": 3}))


def test_a_batch_that_all_ends_by_one_error_is_raised_in_the_actor(
    user_file: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "none: it runs here")
    plain = RolloutRayActor.__ray_metadata__.modified_class
    actor = plain.__new__(plain)

    async def batch() -> None:
        await plain.__init__(
            actor,
            num_gpus=0,
            agent_func_path=user_file(env_id=TURNING),
            script=partial(scripted, tokenizer),
        )
        samples = (
            actor.generate_responses(
                prompt="row",
                label=str(seed),
                sampling_params=SamplingParams(max_tokens=None, logprobs=1),
                max_length=1200,
                hf_tokenizer=tokenizer,
                num_samples=2,
            )
            for seed in range(EPISODES // 2)
        )
        await asyncio.gather(*samples)

    with pytest.raises(UnplayableError, match=f"the last {EPISODES} in this process all ended"):
        asyncio.run(batch())

"""A fault that every episode has stops verl's worker at its first sample, or once all end so."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import verl
from fragile import HOPELESS, TURNING
from harness import PAYING

sys.path.insert(0, str(Path(__file__).parent))  # for servers.py

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from servers import Servers
from transformers import LlamaConfig
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.faults import EPISODES
from gem_integrations.rows import rows


@pytest.fixture
def generate(tokenizer: Any, tmp_path: Path) -> Any:
    """Return what lets verl's worker generate for rows of seeds, by one agent loop."""

    def made(count: int, **options: Any) -> DataProto:
        model, rollout = tmp_path / "model", "actor_rollout_ref.rollout"
        shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
        LlamaConfig(architectures=["LlamaForCausalLM"], **shape).save_pretrained(model)
        tokenizer.save_pretrained(model)
        entry = {"name": "env", "_target_": "gem_integrations.verl.EnvAgentLoop", **options}
        OmegaConf.save(OmegaConf.create([entry]), tmp_path / "agent.yaml")
        file = tmp_path / "train.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows(PAYING, count=count)))
        with initialize_config_dir(
            str(Path(verl.__file__).parent / "trainer" / "config"), version_base=None
        ):
            config = compose(
                "ppo_trainer",
                [
                    f"actor_rollout_ref.model.path={model}",
                    f"{rollout}.name=vllm",
                    f"{rollout}.agent.agent_loop_config_path={tmp_path / 'agent.yaml'}",
                    f"{rollout}.agent.default_agent_loop=env",
                    f"+data.cache_dir={tmp_path / 'cache'}",
                    "++data.filter_overlong_prompts_workers=null",
                ],
            )
        data = RLHFDataset(str(file), tokenizer, config.data)
        batch = DataProto.from_single_dict(collate_fn([data[at] for at in range(len(data))]))
        worker = AgentLoopWorker(config, Servers(config, tokenizer))
        return asyncio.run(worker.generate_sequences(batch))

    return made


def test_what_cannot_begin_is_raised_at_the_first_sample(generate: Any) -> None:
    with pytest.raises(UnplayableError, match=r"none can begin: .* OSError: the board is lost"):
        generate(1, env_id=HOPELESS)


def test_and_so_is_a_misspelt_argument(generate: Any) -> None:
    with pytest.raises(BadArguments, match="lenght"):
        generate(1, env_id=PAYING, env_kwargs={"lenght": 3})


def test_a_batch_that_all_ends_by_one_error_is_raised(generate: Any) -> None:
    with pytest.raises(UnplayableError, match=f"the last {EPISODES} in this process all ended"):
        generate(EPISODES, env_id=TURNING)

"""A model that calls a tool as the chat template asks is understood, in verl's own worker."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import verl
from harness import GAME
from templates import CALL, SEED, TOOLS, check, with_tools

sys.path.insert(0, str(Path(__file__).parent))  # for servers.py

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from servers import Servers
from transformers import LlamaConfig
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn


def test_a_call_as_the_template_asks_for_it_is_answered(
    tokenizer: Any, tmp_path: Path, shown: Counter[str]
) -> None:
    tokenizer = with_tools(tokenizer)
    model, rollout = tmp_path / "model", "actor_rollout_ref.rollout"
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    LlamaConfig(architectures=["LlamaForCausalLM"], **shape).save_pretrained(model)
    tokenizer.save_pretrained(model)
    entry = {"name": "env", "_target_": "gem_integrations.verl.EnvAgentLoop", **GAME, **TOOLS}
    OmegaConf.save(OmegaConf.create([entry]), tmp_path / "agent.yaml")
    file = tmp_path / "train.jsonl"
    prompt = [{"role": "user", "content": "not used"}]
    file.write_text(json.dumps({"prompt": prompt, "seed": SEED, "data_source": "env"}) + "\n")
    folder = Path(verl.__file__).parent / "trainer" / "config"
    with initialize_config_dir(str(folder), version_base=None):
        config = compose(
            "ppo_trainer",
            [
                f"actor_rollout_ref.model.path={model}",
                f"{rollout}.name=vllm",
                f"{rollout}.prompt_length=2048",
                f"{rollout}.response_length=1024",
                f"{rollout}.agent.agent_loop_config_path={tmp_path / 'agent.yaml'}",
                f"{rollout}.agent.default_agent_loop=env",
                f"+data.cache_dir={tmp_path / 'cache'}",
                "++data.filter_overlong_prompts_workers=null",
            ],
        )
    data = RLHFDataset(str(file), tokenizer, config.data)
    servers = Servers(config, tokenizer)
    servers.first = CALL
    worker = AgentLoopWorker(config, servers)

    batch = DataProto.from_single_dict(collate_fn([data[0]]))
    got = asyncio.run(worker.generate_sequences(batch)).batch

    kept = got["attention_mask"][0].bool()
    width = got["responses"].shape[1]
    mask = [0] * (len(kept) - width) + got["response_mask"][0].tolist()
    ids = got["input_ids"][0][kept].tolist()
    check(tokenizer, ids, [said for said, is_kept in zip(mask, kept, strict=True) if is_kept])
    shown["tokens"] += len(ids)

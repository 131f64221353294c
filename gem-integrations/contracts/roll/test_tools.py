"""A model that calls a tool as its prompt asks is understood, in ROLL's own rollout loop."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("ROLL_LOG_DIR", tempfile.mkdtemp())

import pytest
import ray
import torch
from harness import GAME, scripted
from omegaconf import OmegaConf
from roll.distributed.scheduler.protocol import DataProto
from roll.pipeline.agentic.llm_proxy import BaseLLMProxy, register_llm_proxy
from templates import CALL, SEED, TOOLS, check, with_tools

import gem
from gem_integrations.roll import RollEnv, TokenEnvManager


@register_llm_proxy("calling")
class Caller(BaseLLMProxy):
    """Calls the tool first, and then answers as the script says."""

    def generate(self, messages: Any, lm_input: Any, generation_config: Any) -> Any:
        prompt = lm_input.batch["input_ids"][0].tolist()
        said = scripted(self.tokenizer, prompt, first=CALL)
        lm_input.batch["responses"] = torch.tensor([said.ids])
        lm_input.batch["infer_logprobs"] = torch.tensor([said.logprobs])
        return lm_input


class Queue:
    """Stands for the actor that hands out one episode and takes its row."""

    def __init__(self) -> None:
        self.manager: Any = None
        self.rows: list[Any] = []
        self.left = [0]
        self.get_episode_id = SimpleNamespace(remote=self._next)
        self.put = SimpleNamespace(remote=self._put)

    def _next(self, group_id: int, env_id: int) -> Any:
        if not self.left:
            self.manager.running = False
            return ray.put(None)
        return ray.put(self.left.pop())

    def _put(self, group: int, episode: int, start: int, row: Any, env_id: int) -> Any:
        self.rows += [] if row is None else [row]
        return ray.put(None)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def test_a_call_as_the_template_asks_for_it_is_answered(
    tokenizer: Any, shown: Counter[str]
) -> None:
    tokenizer = with_tools(tokenizer)
    queue = Queue()
    entry = {
        "env_type": GAME["env_id"],
        "config": TOOLS,
        "env_id": 0,
        "group_id": 0,
        "group_seed": SEED,
        "tag": "T",
        "max_steps": GAME["max_turns"],
        "max_tokens_per_step": 256,
    }
    worker = SimpleNamespace(
        llm_proxy=SimpleNamespace(proxy_type="calling"),
        generating_args=SimpleNamespace(max_new_tokens=256, to_dict=dict),
    )
    shows = {"agent_system_template": GAME["system_prompt"], "agent_template": "{observation}"}
    pipeline = SimpleNamespace(
        custom_envs={"T": shows}, sequence_length=4096, skip_mock_system_prompt=False
    )
    made = OmegaConf.create(entry)
    manager = TokenEnvManager(worker, pipeline, made, tokenizer, None, queue, threading.Lock())
    queue.manager = manager
    manager.update_step(0)

    manager.run_rollout_loop(DataProto(meta_info={"seed": 0}))

    [row] = queue.rows
    length = int(row.batch["attention_mask"][0].sum())
    ids = row.batch["input_ids"][0, :length].tolist()
    check(tokenizer, ids, row.batch["response_mask"][0, :length].int().tolist())
    shown["tokens"] += length


def test_managers_that_know_text_alone_are_told_how_to_call() -> None:
    env = RollEnv(gem.make(GAME["env_id"], **TOOLS))

    observation, _ = env.reset(seed=SEED)
    step = env.step(f"{CALL}<|im_end|>")

    assert observation.startswith("# Tools")
    assert '{"name": <function-name>, "arguments": <args-json-object>}' in observation
    assert step.observation == "<tool_response>\nNothing is known of the number.\n</tool_response>"

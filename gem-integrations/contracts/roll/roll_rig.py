"""ROLL's managers as its worker makes them, with a queue in place of its actor."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from omegaconf import OmegaConf
from roll.distributed.scheduler.protocol import DataProto


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Start a Ray of one core: ROLL's managers ask it for what the queue hands out."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


class Queue:
    """Stands for the actor that hands out episodes and takes rows."""

    def __init__(self, episodes: int) -> None:
        self._left = list(range(episodes))
        self.manager: Any = None
        self.rows: list[DataProto] = []
        self.get_episode_id = SimpleNamespace(remote=self._next)
        self.put = SimpleNamespace(remote=self._put)

    def _next(self, group_id: int, env_id: int) -> Any:
        if not self._left:
            self.manager.running = False
            return ray.put(None)
        return ray.put(self._left.pop(0))

    def _put(self, group: int, episode: int, start: int, row: Any, env_id: int) -> Any:
        if row is not None:
            self.rows.append(row)
        return ray.put(None)


def manager_of(
    cls: Any,
    tokenizer: Any,
    *,
    proxy: str,
    env_type: str,
    system: str = "",
    template: str = "{observation}",
    episodes: int = 1,
    group_seed: int = 0,
    max_steps: int = 4,
    most: int = 64,
    length: int = 2048,
    codec: Mapping[str, Any] | None = None,
    processor: Any = None,
    positions: Any = None,
    **config: Any,
) -> Any:
    """Make a manager as ROLL's worker does; `run` has it play its `episodes`.

    `proxy` is the registered name of what stands for the model. `most` and `length` are the most
    tokens of an answer and of a row. `positions` computes the position ids of a row with images,
    and `config` is the environment's.
    """
    entry: dict[str, Any] = {
        "env_type": env_type,
        "config": config,
        "env_id": 0,
        "group_id": 0,
        "group_seed": group_seed,
        "tag": "T",
        "max_steps": max_steps,
        "max_tokens_per_step": most,
    }
    if codec is not None:  # most configurations have none
        entry["codec"] = dict(codec)
    worker = SimpleNamespace(
        llm_proxy=SimpleNamespace(proxy_type=proxy),
        generating_args=SimpleNamespace(max_new_tokens=most, to_dict=dict),
    )
    templates = {
        "agent_system_template": system,
        "agent_template": template,
        "pre_step_template": "",
        "next_step_template": "",
    }
    pipeline = SimpleNamespace(
        custom_envs={"T": templates},
        sequence_length=length,
        reward=None,
        skip_mock_system_prompt=False,
    )
    queue = Queue(episodes)
    queue.manager = cls(
        worker_config=worker,
        pipeline_config=pipeline,
        env_config=OmegaConf.create(entry),
        tokenizer=tokenizer,
        processor=processor,
        generate_scheduler=None,
        output_queue=queue,
        thread_lock=threading.Lock(),
        mode="train",
        extra_data_provider=positions,
    )
    queue.manager.update_step(0)
    return queue.manager


def run(manager: Any, seed: int) -> list[DataProto]:
    """Play all episodes of a manager, and return their rows."""
    manager.run_rollout_loop(DataProto(meta_info={"seed": seed}))
    rows: list[DataProto] = manager.output_queue.rows
    return rows

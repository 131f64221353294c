"""Play an episode in the rollout of RL2's release, of which only what a group needs is imported.

Run in a process of its own: the release and RL2's main are one package. Beside `sglang`, what
`RL2.workers` imports for training is left out. Prints the sequence as JSON.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from harness import GAME, chat_tokenizer
from rl2.engine import Engine, stub_sglang

stub_sglang()
found = importlib.util.find_spec("RL2")
assert found is not None
assert found.submodule_search_locations
workers = ModuleType("RL2.workers")
workers.__path__ = [f"{found.submodule_search_locations[0]}/workers"]
sys.modules["RL2.workers"] = workers

from RL2.workers.rollout import Rollout

from gem_integrations.rl2 import IS_RELEASE, environment


async def main(**options: Any) -> Any:
    assert IS_RELEASE
    tokenizer = chat_tokenizer()
    _generate, reset, step = environment(**{**GAME, **options}, tokenizer=tokenizer)
    async with Engine(tokenizer) as url:
        rollout = object.__new__(Rollout)
        rollout.config = SimpleNamespace(max_turns=10)
        rollout.tokenizer, rollout.router_url = tokenizer, url
        rollout.env = SimpleNamespace(reset=reset, step=step)
        rollout.train_sampling_params = {"max_new_tokens": 64, "no_stop_trim": True}
        [tensors], metrics = await rollout.rollout({"extra_info": {"seed": 5}}, True)
    return {name: each.tolist() for name, each in tensors.items()}, metrics


sys.stdout.write(json.dumps(asyncio.run(main(**json.loads(sys.argv[1])))) + "\n")

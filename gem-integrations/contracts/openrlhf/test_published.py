"""OpenRLHF's own example that imports `gem`, unmodified, on ours.

It is in the repository, `examples/python/agent_func_gem_multiturn.py`, and not in the
distribution: `--published` says where it lies.

Its `AgentInstance` has an `async def __init__`, and Python makes no instance of such a class. The
example as it stands therefore ends at its first sample, with any `gem`; all else in it is run
here, by OpenRLHF's own loop, on an instance whose `__init__` has been awaited.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness import OPENER, Said

sys.path.insert(0, str(Path(__file__).parent))  # for vllm.py

from openrlhf.trainer.ray.vllm_engine import _load_agent_executor
from openrlhf.utils.agent import AgentExecutorBase, MultiTurnAgentExecutor
from vllm import AsyncLLMEngine, SamplingParams

import gem

PROMPT = "<|im_start|>user\nGuess a number from 1 to 20.<|im_end|>\n<|im_start|>assistant\n"


def counted(tokenizer: Any, prompt_ids: list[int], budget: int) -> Said:
    """Guess 1, then 2, and so on: the game is won at some turn."""
    guess = tokenizer.decode(prompt_ids).count(OPENER)
    ids = tokenizer.encode(rf"\boxed{{{guess}}}", add_special_tokens=False)
    return Said([*ids, tokenizer.eos_token_id], [-0.5] * (len(ids) + 1), "stop")


class Engine:
    """The actor's `generate`, which gives text too: the example plays by it."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.inner = AsyncLLMEngine(partial(counted, tokenizer))

    async def generate(
        self, prompt_ids: list[int], params: SamplingParams, multi_modal_data: Any = None
    ) -> SimpleNamespace:
        prompt = {"prompt_token_ids": prompt_ids}
        [found] = [each async for each in self.inner.generate(prompt, params, request_id="1")]
        found.outputs[0].text = self.tokenizer.decode(found.outputs[0].token_ids)
        return found


@pytest.fixture(scope="module")
def example(request: pytest.FixtureRequest) -> SimpleNamespace:
    """Return the names of the module that OpenRLHF's own loader runs."""
    executor = _load_agent_executor(str(request.config.getoption("--published")))
    return SimpleNamespace(**type(executor).__init__.__globals__)


def executed(executor: AgentExecutorBase, tokenizer: Any) -> dict[str, Any]:
    params = SamplingParams(max_tokens=None, logprobs=1)
    found: dict[str, Any] = asyncio.run(
        executor.execute(PROMPT, "", params, 8000, tokenizer, Engine(tokenizer))
    )
    return found


def test_the_example_imports_ours(example: SimpleNamespace) -> None:
    assert example.gem is gem


@pytest.mark.filterwarnings("ignore:coroutine 'AgentInstance.__init__' was never awaited")
def test_its_own_fault_is_an_init_that_is_a_coroutine(
    example: SimpleNamespace, tokenizer: Any
) -> None:
    with pytest.raises(TypeError, match=r"__init__\(\) should return None, not 'coroutine'"):
        executed(example.AgentExecutor(), tokenizer)


def test_all_else_in_it_plays_our_game_to_its_end(
    example: SimpleNamespace, tokenizer: Any, shown: Counter[str]
) -> None:
    class Awaited(example.AgentInstance):
        def __init__(self) -> None:
            with pytest.raises(StopIteration):  # it ends without awaiting anything
                super().__init__().send(None)
            assert self.max_steps == self.env.max_turns

    found = executed(MultiTurnAgentExecutor(Awaited), tokenizer)

    tokens = found["observation_tokens"]
    assert len(tokens) == len(found["rollout_log_probs"])
    assert found["reward"] == found["scores"].item() == 1.0
    assert found["extra_logs"]["turn_count"].item() == len(found["action_ranges"])
    assert "the target number" in tokenizer.decode(tokens[found["action_ranges"][0][1] :])
    shown["published_example_turns"] += len(found["action_ranges"])

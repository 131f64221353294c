"""A model that calls a tool as its prompt asks is understood, in ROLL's own rollout loop."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from harness import GAME, scripted
from roll.pipeline.agentic.llm_proxy import BaseLLMProxy, register_llm_proxy
from roll_rig import cluster, manager_of, run  # noqa: F401  (`cluster` is a fixture)
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


@pytest.mark.usefixtures("cluster")
def test_a_call_as_the_template_asks_for_it_is_answered(
    tokenizer: Any, shown: Counter[str]
) -> None:
    tokenizer = with_tools(tokenizer)
    manager = manager_of(
        TokenEnvManager,
        tokenizer,
        proxy="calling",
        env_type=GAME["env_id"],
        system=GAME["system_prompt"],
        group_seed=SEED,
        max_steps=GAME["max_turns"],
        most=256,
        length=4096,
        **TOOLS,
    )

    [row] = run(manager, 0)

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

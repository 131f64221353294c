"""A model that calls a tool as the chat template asks is understood, in the cookbook's rollouts."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import tinker
from harness import GAME, scripted
from templates import CALL, SEED, TOOLS, check, with_tools
from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
from tinker_cookbook.rl.rollouts import do_group_rollout

from gem_integrations.tinker import GemGroupBuilder, GemOptions


class Caller(TokenCompleter):
    """Calls the tool first, and then answers as the script says."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    async def __call__(
        self, model_input: tinker.ModelInput, stop: Any, *, max_tokens: int | None = None
    ) -> TokensWithLogprobs:
        said = scripted(self._tokenizer, model_input.to_ints(), max_tokens, first=CALL)
        return TokensWithLogprobs([*said.ids], [*(said.logprobs or ())], stop_reason="stop")


def test_a_call_as_the_template_asks_for_it_is_answered(
    tokenizer: Any, shown: Counter[str]
) -> None:
    tokenizer = with_tools(tokenizer)
    options = GemOptions.of(GAME | TOOLS)
    builder = GemGroupBuilder(options, options.codec(tokenizer), 1, SEED)

    [played] = asyncio.run(do_group_rollout(builder, Caller(tokenizer))).trajectories_G

    last = played.transitions[-1]
    ids = [*last.ob.to_ints(), *last.ac.tokens]
    mask = [0] * len(ids)
    for turn in played.transitions:
        begin = len(turn.ob.to_ints())
        mask[begin : begin + len(turn.ac.tokens)] = [1] * len(turn.ac.tokens)
    check(tokenizer, ids, mask)
    shown["tokens"] += len(ids)

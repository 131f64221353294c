"""A model that calls a tool as the chat template asks is understood, in the cookbook's rollouts."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from harness import GAME
from templates import CALL, SEED, TOOLS, check, with_tools

sys.path.insert(0, str(Path(__file__).parent))  # for tinker_rig.py

from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_rig import Scripted

from gem_integrations.tinker import GemGroupBuilder, GemOptions


def test_a_call_as_the_template_asks_for_it_is_answered(
    tokenizer: Any, shown: Counter[str]
) -> None:
    tokenizer = with_tools(tokenizer)
    options = GemOptions.of(GAME | TOOLS)
    builder = GemGroupBuilder(options, options.codec(tokenizer), 1, SEED)

    policy = Scripted(tokenizer, first=CALL)
    [played] = asyncio.run(do_group_rollout(builder, policy)).trajectories_G

    last = played.transitions[-1]
    ids = [*last.ob.to_ints(), *last.ac.tokens]
    mask = [0] * len(ids)
    for turn in played.transitions:
        begin = len(turn.ob.to_ints())
        mask[begin : begin + len(turn.ac.tokens)] = [1] * len(turn.ac.tokens)
    check(tokenizer, ids, mask)
    shown["tokens"] += len(ids)

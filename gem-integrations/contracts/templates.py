"""What the contracts share about tools: a real chat template, and a model that calls as it asks.

The template is Qwen 2.5's as TRL carries it, of which only the file is read. What is expected of
a conversation is what `transformers` makes of the template; nothing of `gem.tokens` is used.
"""

from __future__ import annotations

import copy
import importlib.metadata
from collections.abc import Sequence
from typing import Any

from harness import GAME, OPENER

import gem

SEED = 29
CALL = '<tool_call>\n{"name": "lookup", "arguments": {"text": "the number"}}\n</tool_call>'
"""How the template asks for calls; give it to the script as what it says first."""

TOOLS: dict[str, Any] = {"wrappers": [{"id": "tools", "tools": ["harness:lookup"]}]}
"""Options that add a tool, called as the chat template has it."""


def with_tools(tokenizer: Any) -> Any:
    """Return a tokenizer with the template."""
    files = importlib.metadata.files("trl") or []
    file = next(each for each in files if each.match("chat_templates/qwen2_5.jinja"))
    made = copy.deepcopy(tokenizer)
    made.chat_template = file.read_text()
    return made


def conversation(tokenizer: Any) -> str:
    """Return the template's own text of an episode up to its second answer, the first a call."""
    env = gem.make(GAME["env_id"], **TOOLS)
    observation, info = env.reset(seed=SEED)
    suffix = info.get("suffix")
    chat = [
        {"role": "system", "content": GAME["system_prompt"]},
        {"role": "user", "content": f"{observation}\n{suffix}" if suffix else observation},
        {"role": "assistant", "content": CALL},
        {"role": "tool", "content": "Nothing is known of the number."},
    ]
    text = tokenizer.apply_chat_template(
        chat, tools=list(env.tools), tokenize=False, add_generation_prompt=True
    )
    return str(text)


def check(tokenizer: Any, ids: Sequence[int], mask: Sequence[int]) -> None:
    """Assert that the call was understood, and that its ids are those that were sampled.

    `ids` and `mask` are of one sequence, prompt and all, the mask 1 where the model spoke.
    """
    text = tokenizer.decode(list(ids))
    wanted = conversation(tokenizer)
    said = [id for id, is_said in zip(ids, mask, strict=True) if is_said]
    assert '"name": "lookup"' in wanted.split(OPENER)[0]
    assert text[: len(wanted)] == wanted
    assert text[len(wanted) :].startswith("Turn 1: ")
    assert tokenizer.decode(said).startswith(f"{CALL}{tokenizer.eos_token}Turn 1: ")

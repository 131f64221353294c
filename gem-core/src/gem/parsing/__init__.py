"""Read tool calls, and final answers, out of what a policy answered: one format a file.

Whatever the text, reading it raises nothing and takes time in proportion to its length. What
looks like a call and is none is an error that the policy can read. Knows nothing about which
tools there are, or how they are called.
"""

from __future__ import annotations

from gem.parsing.answers import AnswerForm, answer_example, find_answer, write_answer
from gem.parsing.any_of import AnyOf
from gem.parsing.boxed import boxed, find_boxed, last_boxed
from gem.parsing.calls import Malformed, Parsed, ParsedCall, Parser
from gem.parsing.cursor import THINKING, Cursor, outside_thought, regions
from gem.parsing.families import FAMILIES
from gem.parsing.fences import Fences
from gem.parsing.glm import Glm
from gem.parsing.hermes import Hermes
from gem.parsing.llama import Llama
from gem.parsing.mistral import Mistral
from gem.parsing.openai import OpenAI
from gem.parsing.plain import NotPlainError, plain, read_json
from gem.parsing.pythonic import Pythonic
from gem.parsing.qwen import Qwen
from gem.parsing.syntax import syntax_tree
from gem.parsing.tags import Tags

__all__ = [
    "FAMILIES",
    "THINKING",
    "AnswerForm",
    "AnyOf",
    "Cursor",
    "Fences",
    "Glm",
    "Hermes",
    "Llama",
    "Malformed",
    "Mistral",
    "NotPlainError",
    "OpenAI",
    "Parsed",
    "ParsedCall",
    "Parser",
    "Pythonic",
    "Qwen",
    "Tags",
    "answer_example",
    "boxed",
    "find_answer",
    "find_boxed",
    "last_boxed",
    "outside_thought",
    "plain",
    "read_json",
    "regions",
    "syntax_tree",
    "write_answer",
]

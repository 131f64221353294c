"""Read tool calls, and final answers, out of what a policy answered: one format a file.

Whatever the text, reading it raises nothing and takes time in proportion to its length. What
looks like a call and is none is an error that the policy can read. Imports only what passes between
an environment and a policy; knows nothing about which tools there are, or how they are called.
"""

from __future__ import annotations

from gem.parsing._answers import AnswerForm, answer_example, find_answer, write_answer
from gem.parsing._any_of import AnyOf
from gem.parsing._boxed import boxed, find_boxed, last_boxed
from gem.parsing._calls import Malformed, Parsed, ParsedCall, Parser
from gem.parsing._cursor import THINKING, Cursor, outside_thought, regions
from gem.parsing._families import FAMILIES
from gem.parsing._fences import Fences, unindented
from gem.parsing._glm import Glm
from gem.parsing._hermes import Hermes
from gem.parsing._llama import Llama
from gem.parsing._mistral import Mistral
from gem.parsing._openai import MALFORMED, REASON, OpenAI
from gem.parsing._plain import NotPlainError, plain, read_json
from gem.parsing._pythonic import Pythonic
from gem.parsing._qwen import Qwen
from gem.parsing._syntax import syntax_tree
from gem.parsing._tags import Tags

__all__ = [
    "FAMILIES",
    "MALFORMED",
    "REASON",
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
    "unindented",
    "write_answer",
]

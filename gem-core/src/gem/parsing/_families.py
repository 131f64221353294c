"""The formats that models are taught to call tools in, by the word for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gem.parsing._calls import Parser
from gem.parsing._glm import Glm
from gem.parsing._hermes import Hermes
from gem.parsing._llama import Llama
from gem.parsing._mistral import Mistral
from gem.parsing._pythonic import Pythonic
from gem.parsing._qwen import Qwen

__all__ = ["FAMILIES"]

FAMILIES: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], Parser]] = {
    "hermes": lambda tools: Hermes(),
    "mistral": lambda tools: Mistral(),
    "glm": Glm,
    "qwen": Qwen,
    "llama": lambda tools: Llama(),
    "pythonic": lambda tools: Pythonic(),
}
"""What makes the parser of each, from the schemas of the tools. All but two mark a call; those
stand last, because they read an answer that is nothing but a call."""

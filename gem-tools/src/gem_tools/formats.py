"""The parser that a word stands for, made for the tools at hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from gem.errors import BadArguments
from gem.parsing import Fences, Hermes, OpenAI, Parser, Pythonic, Tags
from gem.tools import Tool

__all__ = ["Format", "parser_for"]

Format = Literal["openai", "hermes", "tags", "fences", "pythonic"]


def parser_for(format: str, tools: Iterable[Tool]) -> Parser:  # noqa: A002 - the user's word
    """Return the parser. Raises BadArguments where a tool cannot be called in that format."""
    if format == "tags":
        return Tags({tool.name: _only_argument(tool, format) for tool in tools})
    if format == "fences":
        return Fences({tool.name: _only_argument(tool, format) for tool in tools})
    if format == "hermes":
        return Hermes()
    if format == "pythonic":
        return Pythonic()
    if format == "openai":
        return OpenAI()
    raise BadArguments(
        f"tools was given format={format!r}. There are: {', '.join(get_args(Format))}.",
        subject="tools",
    )


def _only_argument(tool: Tool, word: str) -> str:
    """Return the argument that is the one text which a tag or a block holds."""
    taken = tool.parameters.get("properties", {})
    needed = tool.parameters.get("required", [])
    for names in (needed, list(taken)):
        if len(names) == 1 and taken.get(names[0], {}).get("type") == "string":
            return str(names[0])
    raise BadArguments(
        f"The tool {tool.name!r} cannot be called in the format {word!r}, which holds one text: "
        f"it takes {', '.join(map(repr, taken)) or 'no arguments'}. Use the format 'hermes' or "
        "'openai'.",
        subject="tools",
    )

"""The parser that a user names, made for the tools at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Union, cast, get_args

from gem.errors import BadArguments
from gem.parsing import (
    FAMILIES,
    AnyOf,
    Fences,
    Hermes,
    OpenAI,
    Parser,
    Tags,
)
from gem.registry import load_target
from gem.tools import Tool

__all__ = [
    "Format",
    "fences_tags_or_json",
    "is_told_elsewhere",
    "parser_for",
    "tags_or_json",
]

Word = Literal["openai", "tags", "fences", "hermes", "mistral", "glm", "qwen", "llama", "pythonic"]
Format = Union[Word, str, Parser]
"""One of the words, a parser, or the `module:attribute` of one or of what makes one.

What makes one is called with the tools, a tuple, and returns a parser.
"""


def parser_for(format: Format, tools: Iterable[Tool]) -> Parser:  # noqa: A002 - the user's word
    """Return the parser. Raises BadArguments where a tool cannot be called in that format."""
    if not isinstance(format, str):
        return _checked(format, format)
    if format == "tags":
        return Tags({tool.name: _only_argument(tool, format) for tool in tools})
    if format == "fences":
        return Fences({tool.name: _only_argument(tool, format) for tool in tools})
    if format in FAMILIES:
        return FAMILIES[format]([tool.schema() for tool in tools])
    if format == "openai":
        return OpenAI()
    if ":" in format:
        return _named(format, tuple(tools))
    raise BadArguments(
        f"tools was given format={format!r}. There are: {', '.join(get_args(Word))}, and any "
        "'module:attribute' that is a parser or makes one.",
        subject="tools",
    )


def is_told_elsewhere(format: Format) -> bool:  # noqa: A002 - the user's word
    """Say whether chat templates, servers or `gem.tokens` tell a model how to call in a format."""
    ours = [f"{__name__}:{parser.__name__}" for parser in (tags_or_json, fences_tags_or_json)]
    return isinstance(format, str) and format in ("openai", *FAMILIES, *ours)


def tags_or_json(tools: Iterable[Tool]) -> Parser:
    """Return a parser of calls as tags and as Hermes' JSON: `<search>...</search>`, `<tool_call>`.

    Raises BadArguments where a tool takes more than one text.
    """
    return AnyOf(parser_for("tags", tools), Hermes())


def fences_tags_or_json(tools: Iterable[Tool]) -> Parser:
    """Return a parser of calls as `tags_or_json` has them, and as fences: ```` ```python ````.

    Raises BadArguments where a tool takes more than one text.
    """
    tools = tuple(tools)
    return AnyOf(parser_for("fences", tools), tags_or_json(tools))


def _named(target: str, tools: tuple[Tool, ...]) -> Parser:
    parser = load_target(target)
    if callable(parser) and not _is_parser(parser):
        parser = parser(tools)  # a function or a class that makes one for these tools
    return _checked(parser, target)


def _checked(parser: Any, target: Any) -> Parser:
    if _is_parser(parser):
        return cast(Parser, parser)
    raise BadArguments(
        f"tools was given format={target!r:.80}, and {type(parser).__name__} is no parser. Give "
        "what has `parse(action)` and returns a gem.parsing.Parsed.",
        subject="tools",
    )


def _is_parser(target: Any) -> bool:
    """Say whether this is a parser itself. A class is not one, though it has a `parse`."""
    return isinstance(target, Parser) and not isinstance(target, type)


def _only_argument(tool: Tool, word: str) -> str:
    """Return the argument that is the one text which a tag or a block holds."""
    properties = tool.parameters.get("properties", {})
    needed = tool.parameters.get("required", [])
    for names in (needed, list(properties)):
        if len(names) == 1 and _is_text(properties.get(names[0])):
            return str(names[0])
    raise BadArguments(
        f"The tool {tool.name!r} cannot be called in the format {word!r}, which holds one text: "
        f"it takes {', '.join(map(repr, properties)) or 'no arguments'}. Use the format 'hermes' "
        "or 'openai'.",
        subject="tools",
    )


def _is_text(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "string"

"""Parsers that a user brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, OpaqueError, TargetError
from gem.parsing import Parsed, ParsedCall
from gem.registry import _making as making

pytestmark = pytest.mark.usefixtures("demo_guess")


@gem.tool
def shout(text: str) -> str:
    return text.upper()


class Bang:
    """`!name rest of the line` is a call, for the names that it knows."""

    def __init__(self, tools: Sequence[gem.Tool]) -> None:
        self.names = {tool.name for tool in tools}

    def parse(self, action: str) -> Parsed:
        name, _, rest = action.removeprefix("!").partition(" ")
        if not action.startswith("!") or name not in self.names:
            return Parsed((), action)
        return Parsed((ParsedCall("call_0", name, {"text": rest}, (0, len(action))),), "")


bang = Bang([shout])


class NoParser:
    def __init__(self, tools: Sequence[gem.Tool]) -> None: ...


def begun(form: Any) -> gem.Env:
    layer = {"id": "tools", "tools": [shout], "format": form}
    env = gem.make("demo:Guess", wrappers=[layer])
    env.reset(seed=0)
    return env


@pytest.mark.parametrize("form", [bang, f"{__name__}:bang", f"{__name__}:Bang"])
def test_a_parser_may_be_given_or_named_or_made_for_the_tools(form: Any) -> None:
    step = begun(form).step("!shout hear, hear")

    assert step.observation == "<tool_response>\nHEAR, HEAR\n</tool_response>"


def test_what_a_parser_finds_no_call_in_reaches_the_environment() -> None:
    assert begun(bang).step("!whisper 3").info["tools"]["uses"] == 0


def test_a_parser_that_is_named_is_part_of_the_record_and_a_live_one_is_not() -> None:
    wrappers = [
        {"id": "tools", "tools": ["gem_tools.python_tool:PythonTool"], "format": form}
        for form in (f"{__name__}:Bang", bang)
    ]
    named, live = (making._checked_layer(each).ref for each in wrappers)

    assert named is not None
    assert live is not None
    assert named.kwargs["format"] == f"{__name__}:Bang"
    with pytest.raises(OpaqueError, match="Bang"):
        making._checked_layer(live)


@pytest.mark.parametrize(
    ("form", "error", "why"),
    [
        ("no.where:parser", TargetError, "cannot be imported"),
        (f"{__name__}:NoParser", BadArguments, "NoParser is no parser"),
        (f"{__name__}:pytestmark_", TargetError, "cannot be imported"),
        ("xml", BadArguments, "There are: openai, tags, fences, hermes, .*, pythonic, and any"),
        (3, BadArguments, "format=3"),
    ],
)
def test_what_is_no_parser_is_refused(form: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        begun(form)

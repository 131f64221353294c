"""How tools are named, and made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import registry
from gem.errors import BadArguments, MissingRequirement, TargetError, UnknownTool
from gem.testing import fake_plugin
from gem_tools.choosing import as_tools


def shout(text: str) -> str:
    return text.upper()


def now() -> str:
    return "now"


def untyped(text: str):  # type: ignore[no-untyped-def]
    return text


shouting = gem.tool(shout)


class Counter(gem.Tool):
    name = "counter"

    def __init__(self, start: int = 0, of: object = None) -> None:
        self.start = start
        self.of = of

    async def call(self, arguments: Any, context: gem.ToolContext) -> gem.ToolResult:
        raise NotImplementedError


COUNTER = f"{__name__}:Counter"
makings: list[int] = []


class Counters:
    """Two tools, of which a start is told."""

    def __init__(self, start: int = 0) -> None:
        makings.append(start)
        self.tools = [Counter(start), Counter(start + 1)]

    def __iter__(self) -> Iterator[gem.Tool]:
        return iter(self.tools)


def counting() -> gem.Tool:
    return Counter(5)


def listed() -> list[Counter]:
    return [Counter(6)]


def gathered() -> Counters:
    return Counters(7)


def configured(start):  # type: ignore[no-untyped-def]
    return Counter(start)


def as_tool(like: Any) -> gem.Tool:
    [tool] = as_tools(like)
    return tool


def test_a_tool_is_taken_as_it_is() -> None:
    assert as_tool(shouting) is shouting


def test_a_typed_function_becomes_a_tool() -> None:
    assert as_tool(shout).name == "shout"


def test_a_name_may_lead_to_a_tool_or_to_what_makes_one() -> None:
    assert as_tool(f"{__name__}:shouting") is shouting
    assert isinstance(as_tool(COUNTER), Counter)


@pytest.mark.parametrize(("function", "arguments"), [("shout", ["text"]), ("now", [])])
def test_a_name_may_lead_to_a_typed_function(function: str, arguments: list[str]) -> None:
    tool = as_tool(f"{__name__}:{function}")

    assert (tool.name, list(tool.parameters["properties"])) == (function, arguments)
    assert tool is as_tool({"id": f"{__name__}:{function}"})


@pytest.mark.parametrize(
    ("like", "starts"),
    [
        (f"{__name__}:counting", [5]),
        (f"{__name__}:listed", [6]),
        (f"{__name__}:gathered", [7, 8]),
        ({"id": f"{__name__}:configured", "start": 9}, [9]),
    ],
)
def test_a_function_that_says_so_or_is_given_arguments_makes_tools(
    like: Any, starts: list[int]
) -> None:
    assert [tool.start for tool in as_tools(like) if isinstance(tool, Counter)] == starts


@pytest.fixture
def _pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    manifest = """
        from gem.specs import PluginManifest, ToolSpec

        plugin = PluginManifest(
            name="acme-abaci",
            tools=(
                ToolSpec(id="abacus", target="acme_abaci.tools:abacus"),
                ToolSpec(id="loom", target="no:where", requires=("acme-looms",)),
            ),
        )
        """
    files = {"tools.py": "import gem\n\n\n@gem.tool\ndef abacus(a: int) -> int:\n    return a\n"}
    folder = fake_plugin(tmp_path, "acme-abaci", manifest=manifest, files=files)
    monkeypatch.syspath_prepend(str(folder))
    registry.refresh()
    yield
    monkeypatch.undo()
    registry.refresh()


@pytest.mark.usefixtures("_pack")
def test_a_pack_may_provide_a_tool_and_say_what_it_needs() -> None:
    assert as_tool("abacus").name == "abacus"
    with pytest.raises(MissingRequirement, match="The tool 'loom' needs acme-looms"):
        as_tool("loom")


def test_one_that_is_named_is_made_once_for_each_choice_of_arguments() -> None:
    one = as_tool({"id": COUNTER, "start": 1})
    same = as_tool({"id": COUNTER, "start": 1})

    assert one is same
    assert one is not as_tool({"id": COUNTER, "start": 2})


def test_one_made_with_a_live_object_is_not_shared() -> None:
    live = {"id": COUNTER, "of": object()}

    assert as_tool(live) is not as_tool(live)


def test_one_name_may_lead_to_several_tools_made_once() -> None:
    makings.clear()
    like = {"id": f"{__name__}:Counters", "start": 3}

    first = as_tools(like)
    again = as_tools(like)

    assert ([tool.start for tool in first if isinstance(tool, Counter)], makings) == ([3, 4], [3])
    assert all(one is same for one, same in zip(first, again, strict=True))


def test_several_tools_may_be_given_as_they_are() -> None:
    several = Counters()

    assert as_tools(several) == tuple(several.tools) == as_tools([*several])


@pytest.mark.parametrize(
    ("like", "error", "why"),
    [
        ("astrolabe", UnknownTool, "provides the tool 'astrolabe'"),
        (f"{__name__}:nothing", TargetError, "cannot be imported"),
        ({"id": COUNTER, "start": "1"}, BadArguments, "start='1' does not fit"),
        (f"{__name__}:COUNTER", BadArguments, "is no tool: it made a str"),
        (f"{__name__}:untyped", BadArguments, "Put @gem.tool above it if it is one, and annotate"),
        ("time:monotonic", BadArguments, "is a function that does not say what it returns"),
        (3, BadArguments, "A tool was given as 3"),
        ([shouting, 3], BadArguments, "is no tool: it made a int"),
        ({"start": 1}, BadArguments, "A tool was given as"),
    ],
)
def test_what_leads_to_no_tool_is_refused(like: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        as_tool(like)

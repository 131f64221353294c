from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

import gem
from gem.errors import BadArguments
from gem.tools import FunctionTool, answer

if TYPE_CHECKING:
    from decimal import Decimal


class Place(BaseModel):
    city: str


@gem.tool
def add(a: int, b: int = 1) -> int:
    """Add two integers."""
    return a + b


@gem.tool
async def where(place: Place) -> str:
    return place.city


def asked(tool: gem.Tool, **arguments: Any) -> gem.ToolResult:
    return asyncio.run(answer(tool, arguments, gem.ToolContext("c1")))


def test_the_signature_is_the_schema_and_the_docstring_the_description() -> None:
    assert add.schema()["function"] == {
        "name": "add",
        "description": "Add two integers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
            "required": ["a"],
            "additionalProperties": False,
        },
    }


def test_calling_a_tool_calls_its_function() -> None:
    assert add(2, b=3) == 5


def test_text_is_the_answer_as_it_is() -> None:
    assert asked(where, place={"city": "Ulm"}) == gem.ToolResult("c1", "Ulm")


def test_what_is_no_text_is_answered_as_json() -> None:
    @gem.tool
    def table() -> dict[str, Any]:
        return {"rows": [1, None], "name": "\u00e9", "of": {1}}

    assert asked(table).content == '{"rows": [1, null], "name": "\u00e9", "of": "{1}"}'


def test_a_result_is_taken_as_it_is_but_for_the_id_of_its_call() -> None:
    @gem.tool
    def look() -> gem.ToolResult:
        return gem.ToolResult("", "nothing there", True, {"why": "dark"})

    found = asked(look)

    assert found == gem.ToolResult("c1", "nothing there", True)
    assert found.meta == {"why": "dark"}


def test_a_plain_function_runs_on_a_thread_of_its_own() -> None:
    @gem.tool
    def thread() -> int:
        return threading.get_ident()

    assert asked(thread).content != str(threading.get_ident())


def test_a_plain_function_may_return_an_awaitable() -> None:
    @gem.tool
    def later() -> Any:
        return asyncio.sleep(0, "now")

    assert asked(later).content == "now"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "'a' is missing"),
        ({"a": "1"}, "a='1' does not fit"),
        ({"a": True}, "a=True does not fit"),
        ({"a": 1, "c": 2}, "it takes no 'c'"),
    ],
)
def test_bad_arguments_are_an_answer_in_one_sentence(
    arguments: dict[str, Any], sentence: str
) -> None:
    found = asked(add, **arguments)

    assert (found.is_error, found.meta) == (True, {"error": "arguments"})
    assert found.content.startswith(f"add cannot be called with these arguments: {sentence}")
    assert found.content.endswith(". It takes 'a', 'b'.")


def test_a_context_is_handed_in_and_is_no_argument() -> None:
    @gem.tool
    def who(context: gem.ToolContext) -> str:
        return context.call_id

    assert who.parameters["properties"] == {}
    assert asked(who).content == "c1"
    assert asked(who, context={}).content == (
        "who cannot be called with these arguments: it takes no 'context'. It takes no arguments."
    )


def test_parameters_may_be_described_bounded_and_named_like_anything() -> None:
    @gem.tool
    def pick(
        json: Annotated[int, Field(ge=0, description="how many")],
        *,
        copy: Literal["a", "b"] = "a",
        among: list[int] = [1, 2],  # noqa: B006 - nobody changes it
        of: object = object(),
    ) -> list[int]:
        return among[:json]

    assert pick.parameters["properties"] == {
        "json": {"type": "integer", "minimum": 0, "description": "how many"},
        "copy": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "among": {"type": "array", "items": {"type": "integer"}},
        "of": {},
    }
    assert asked(pick, json=1).content == "[1]"
    assert asked(pick, json=-1).is_error


def test_an_options_form_sets_what_a_tool_states() -> None:
    @gem.tool(
        name="plus",
        description="Sum.",
        is_pure=True,
        max_concurrent=2,
        timeout_s=None,
        max_characters=5,
    )
    def added(a: int) -> int:
        return a

    assert isinstance(added, FunctionTool)
    assert (added.name, added.description, added.is_pure) == ("plus", "Sum.", True)
    assert (added.max_concurrent, added.timeout_s, added.max_characters) == (2, None, 5)


def test_a_method_is_a_tool_too() -> None:
    class Counter:
        count = 0

        def more(self, by: int) -> int:
            self.count += by
            return self.count

    more = gem.tool(Counter().more)

    assert list(more.parameters["properties"]) == ["by"]
    assert [asked(more, by=2).content, asked(more, by=1).content] == ["2", "3"]


def _positional(a: int, /) -> None: ...
def _rest(*a: int) -> None: ...
def _open(**a: int) -> None: ...
def _callable(a: Callable[[int], int]) -> None: ...
def _unknown(a: Decimal) -> None: ...


@pytest.mark.parametrize("function", [_positional, _rest, _open, _callable, _unknown])
def test_a_signature_without_a_schema_is_refused(function: Any) -> None:
    with pytest.raises(BadArguments, match=rf"'{function.__name__}' cannot be made: its signature"):
        gem.tool(function)


def test_a_partial_function_needs_a_name() -> None:
    with pytest.raises(BadArguments, match="cannot be made"):
        gem.tool(name="plus")(functools.partial(add.function, 1))

"""What the wrapper is given: tools that it shows, and what it refuses at once."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem_tools.wrapper import Tools

from .ledger import Desk, add, begun, search


def test_schemas_of_the_environment_and_of_the_tools_are_shown() -> None:
    assert begun(add, search).tools == (add.schema(), search.schema())


@pytest.mark.parametrize(
    ("tools", "options", "why"),
    [
        ([add, add], {}, "two tools with the name 'add'"),
        ([add], {"format": "tags"}, "'add' cannot be called in the format 'tags'"),
        ([add], {"format": "xml"}, "format="),
        ([3], {}, r"tools=\[3\] does not fit"),
        ("search", {}, "Give a list of tools|tools='search' does not fit"),
    ],
)
def test_tools_that_cannot_work_are_refused_at_once(tools: Any, options: Any, why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        gem.make("demo:Ledger", wrappers=[{"id": "tools", "tools": tools, **options}])


@pytest.mark.parametrize(
    ("tools", "options", "why"),
    [
        ({"id": "search"}, {}, "which is one tool. Give a list of tools."),
        ([add], {"format": "xml"}, "format='xml'. There are: openai, tags, fences, hermes, "),
    ],
)
def test_a_stack_that_is_built_by_hand_is_checked_alike(tools: Any, options: Any, why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        Tools(Desk(), tools, **options)

"""Which tools of a server are taken, what they are called, and what is refused."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from packaging.requirements import Requirement

from gem import registry
from gem.errors import BadArguments
from gem_tools.mcp import McpTools, McpUnavailable
from gem_tools.mcp.contents import as_name

from .conftest import Offered, Offers

pytestmark = pytest.mark.slow

Raw = Callable[..., Offered]


def test_names_are_what_models_may_write() -> None:
    assert as_name("files.read/ü") == "files_read__"
    assert len(as_name("long" * 100)) == 64


def test_of_the_tools_those_are_taken_that_are_allowed(raw: Raw) -> None:
    server = raw("big-schema", allow=["do"], prefix="raw-")

    assert list(server.tools) == ["raw-do"]
    assert server.call("raw-do", what="text").content == "done"


def test_one_of_two_tools_with_like_names_can_be_taken(raw: Raw) -> None:
    assert list(raw("clash", allow=["do/it"]).tools) == ["do_it"]


def test_a_schema_without_properties_has_none(raw: Raw) -> None:
    assert raw("nulls").tools["do"].parameters == {"type": "object", "properties": {}}


def test_importing_the_tool_does_not_import_the_sdk() -> None:
    code = "import gem_tools.mcp, sys; print('mcp' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_a_long_description_is_cut(raw: Raw) -> None:
    assert len(raw("long").tools["do"].description) < 4_010


@pytest.mark.parametrize(
    ("how", "error", "why"),
    [
        ("many", McpUnavailable, "lists more than 1000 tools"),
        ("pages", McpUnavailable, "lists more than 1000 tools"),
        ("nonsense", McpUnavailable, "could not be connected to"),
        ("no-schema", McpUnavailable, "could not be connected to"),
        ("big-schema", McpUnavailable, "'bad', which cannot be called: its schema has more than"),
        ("clash", BadArguments, "two tools at .* that cannot be told apart"),
        ("twice", BadArguments, "two tools at .* that cannot be told apart"),
    ],
)
def test_a_list_that_makes_no_sense_is_refused(
    raw: Raw, how: str, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        raw(how)


@pytest.mark.parametrize(
    ("options", "error", "why"),
    [
        ({}, BadArguments, "needs either the 'command'"),
        ({"command": ["a"], "url": "http://a"}, BadArguments, "both .* Leave one out"),
        ({"command": []}, BadArguments, "as a list of words"),
        ({"url": "ftp://a"}, BadArguments, "Write it like http://"),
        ({"url": "http://a", "env": {"A": "b"}}, BadArguments, "Leave it out"),
        ({"command": ["a"], "headers": {"A": "b"}}, BadArguments, "Use 'env'"),
        ({"command": ["a"], "prefix": "a b"}, BadArguments, "was given the prefix 'a b'"),
        ({"command": "a b"}, BadArguments, "'a b'"),
        ({"command": ["a"], "allow": "add"}, BadArguments, "as a list of names"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(
    options: Any, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        McpTools(**options)


def test_an_absent_tool_is_refused_with_those_there_are(raw: Raw) -> None:
    with pytest.raises(BadArguments, match=r"asked for 'undo', which .* does not offer. .* 'do'"):
        raw(allow=["do", "undo"])


def test_a_variable_that_is_not_set_is_named(offers: Offers) -> None:
    with pytest.raises(BadArguments, match="KEY as '\\$NO_SUCH_VARIABLE'"):
        offers(command=["a"], env={"KEY": "$NO_SUCH_VARIABLE"})


def test_a_command_that_is_not_there_is_one_error(offers: Offers) -> None:
    with pytest.raises(McpUnavailable, match="no-such-server could not be connected to") as raised:
        offers(command=["no-such-server"])

    assert raised.value.server == "no-such-server"


def test_a_command_that_is_no_server_is_one_error(offers: Offers) -> None:
    # What is noticed first of a process that has ended: that it writes, or reads, no more.
    with pytest.raises(McpUnavailable, match=r"connected to: (ended|stopped reading)"):
        offers(command=[sys.executable, "-c", "print('Hello.')"])


def test_a_server_that_never_answers_is_given_up(raw: Raw) -> None:
    with pytest.raises(McpUnavailable, match=r"did not answer within 0\.5 s"):
        raw("silent", start_timeout_s=0.5)


def test_it_asks_for_what_the_extra_installs() -> None:
    extra = {
        (wanted.name, wanted.specifier)
        for wanted in map(Requirement, importlib.metadata.requires("gem-tools") or [])
        if wanted.marker and wanted.marker.evaluate({"extra": "mcp"})
    }

    asked = {(wanted.name, wanted.specifier) for wanted in map(Requirement, requires("mcp"))}

    assert asked
    assert asked <= extra


def requires(tool: str) -> tuple[str, ...]:
    return registry.tool_spec(tool).requires

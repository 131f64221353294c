"""Errors: one tree, each class with its facts as fields."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import traceback
from typing import Any

import pytest

from gem import errors
from gem.errors import (
    BadArguments,
    DataError,
    EnvBusy,
    EnvClosed,
    EnvUsageError,
    GemError,
    IdConflict,
    LogError,
    MissingRequirement,
    ModelLengthError,
    OpaqueError,
    ResetNeeded,
    SnapshotError,
    TargetError,
    UnknownEnv,
    UnknownId,
    UnknownPolicy,
    UnknownTool,
    UnknownWrapper,
    WrapperOrderError,
    in_one_line,
    text_of,
    traceback_of,
)

FIELDS: list[tuple[type[GemError], dict[str, Any]]] = [
    (UnknownId, {"id": "a", "suggestions": ("b",)}),
    (UnknownEnv, {"id": "a", "suggestions": ()}),
    (UnknownWrapper, {"id": "a", "suggestions": ()}),
    (UnknownPolicy, {"id": "a", "suggestions": ()}),
    (UnknownTool, {"id": "a", "suggestions": ()}),
    (IdConflict, {"id": "a", "distributions": ("x", "y")}),
    (MissingRequirement, {"requirements": ("x>=1",), "command": "pip install x"}),
    (TargetError, {"target": "a:b"}),
    (BadArguments, {"subject": "a", "problems": ("p",)}),
    (WrapperOrderError, {"wrappers": ("a", "b")}),
    (OpaqueError, {"argument": "tokenizer"}),
    (EnvUsageError, {}),
    (ResetNeeded, {}),
    (EnvBusy, {}),
    (EnvClosed, {}),
    (SnapshotError, {"attribute": "board"}),
    (DataError, {"source": "a.jsonl", "row": 3, "field": "answer"}),
    (ModelLengthError, {}),
    (LogError, {"path": "a.jsonl"}),
]


@pytest.mark.parametrize(
    ("error", "fields"), FIELDS, ids=lambda value: getattr(value, "__name__", "")
)
def test_an_error_carries_its_facts(error: type[GemError], fields: dict[str, Any]) -> None:
    raised = error("what happened", **fields)
    assert str(raised) == "what happened"
    assert {name: getattr(raised, name) for name in fields} == fields
    assert isinstance(raised, GemError)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    ("error", "fields"), FIELDS, ids=lambda value: getattr(value, "__name__", "")
)
def test_an_error_goes_through_a_pipe_with_its_facts(
    error: type[GemError], fields: dict[str, Any], protocol: int
) -> None:
    raised = error("what happened", **fields)
    for again in (pickle.loads(pickle.dumps(raised, protocol)), copy.copy(raised)):  # noqa: S301  written here
        assert type(again) is error
        assert str(again) == "what happened"
        assert {name: getattr(again, name) for name in fields} == fields


def test_facts_given_as_lists_are_kept_as_tuples() -> None:
    assert BadArguments("a", subject="a", problems=["p"]).problems == ("p",)
    assert BadArguments("a", subject="a").problems == ()


def test_what_is_not_known_is_none() -> None:
    assert SnapshotError("a").attribute is None
    assert (DataError("a", source="s").row, DataError("a", source="s").field) == (None, None)


def test_misuse_of_an_environment_is_one_family() -> None:
    for error in (ResetNeeded, EnvBusy, EnvClosed):
        assert issubclass(error, EnvUsageError)
    for unknown in (UnknownEnv, UnknownWrapper, UnknownPolicy, UnknownTool):
        assert issubclass(unknown, UnknownId)


def test_every_class_is_public_tested_and_drawn() -> None:
    classes = {
        name
        for name, found in vars(errors).items()
        if inspect.isclass(found) and issubclass(found, GemError)
    }
    assert classes == set(errors.__all__) - {
        "in_one_line",
        "problems_of",
        "text_of",
        "traceback_of",
    }
    assert classes == {error.__name__ for error, _ in FIELDS} | {"GemError"}
    drawn = re.findall(r"^[│├└─ ]*(\w+)(?:  |$)", errors.__doc__ or "", flags=re.MULTILINE)
    assert classes == set(drawn)


def test_any_error_fits_in_one_line() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert in_one_line(ValueError("a\n  b")) == "ValueError: a b"
    assert in_one_line(Mute()) == "Mute: (its text cannot be shown)"
    assert in_one_line(SystemExit()) == "SystemExit:"
    assert in_one_line(ValueError("abc"), at_most=4) == "Valu"


def unformattable() -> SyntaxError:
    """Return an error that Python's own traceback module fails to format."""
    error = SyntaxError("bad")
    error.lineno = 1
    error.text = 5  # type: ignore[assignment]
    return error


def test_an_error_that_python_cannot_format_has_a_text_and_a_traceback() -> None:
    with pytest.raises(SyntaxError) as caught:
        raise unformattable()

    text = text_of(caught.value)
    trace = traceback_of(caught.value)

    assert text == "SyntaxError: bad (line 1)"
    assert trace.startswith("Traceback (most recent call last):\n  File ")
    assert trace.endswith("\nSyntaxError: bad (line 1)\n")


def test_a_traceback_of_any_other_error_is_python_s_own() -> None:
    with pytest.raises(ValueError, match="as it is") as caught:
        raise ValueError("as it is")

    expected = "".join(traceback.format_exception(caught.value))
    assert traceback_of(caught.value) == expected

from __future__ import annotations

import pytest

from gem.parsing import ParsedCall, Pythonic

PARSER = Pythonic()


@pytest.mark.parametrize("frame", ["{}", " {}\n", "<|python_start|>{}<|python_end|>"])
def test_a_list_of_calls_is_read(frame: str) -> None:
    text = frame.format('[search(query="gem"), a.add(a=-1, b=(1, {"c": None}))]')
    span = (text.index(text.strip()), len(text.rstrip()))

    found = PARSER.parse(text)

    assert found.calls == (
        ParsedCall("call_0", "search", {"query": "gem"}, span),
        ParsedCall("call_1", "a.add", {"a": -1, "b": [1, {"c": None}]}, span),
    )
    assert found.text.strip() == ""


@pytest.mark.parametrize("text", ["", "[]", "[1, 2]", "So: [f(a=1)]", "f(a=1)", "[(f(a=1))]"])
def test_what_begins_otherwise_is_text(text: str) -> None:
    assert (PARSER.parse(text).found, PARSER.parse(text).text) == ((), text)


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("[f(", "syntax", "The calls cannot be read as Python: "),
        ("[f(a=1)] is it", "shape", "The calls are not a list of calls alone."),
        ("[f(a='\0')]", "syntax", "The calls cannot be read as Python: "),
        ("[f(a='\ud800')]", "syntax", "The calls cannot be read as Python: "),
        ("[f(a=1)][0]", "shape", "The calls are not a list of calls alone."),
        ("[f(a=1), 2]", "shape", "An item of the list is not a call by name."),
        ("[f(a=1)(b=2)]", "shape", "An item of the list is not a call by name."),
        ("[f(1)]", "shape", "The arguments of f must have names: f(argument=...)."),
        ("[f(**a)]", "shape", "The arguments of f must have names: f(argument=...)."),
        ("[f(a=b)]", "syntax", "The argument a of f is not a literal."),
        ("[f(a=open('x'))]", "syntax", "The argument a of f is not a literal."),
        ("[f(a=b'x')]", "shape", "The argument a of f cannot be read: it holds a bytes"),
        ("[f(a={1: 2})]", "shape", "The argument a of f cannot be read: a key in it is no text"),
        ("[f(a=" + "[" * 70, "size", "The calls are nested too deep."),
        ("[f(a=" + "1" * 70_000 + ")]", "size", "The calls have 70007 characters, and 65536"),
        ("[f(a=" + "-" * 60_000 + "1)]", "syntax", "The calls cannot be read as Python: "),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(text: str, kind: str, reason: str) -> None:
    found = PARSER.parse(text)

    errors = found.errors
    assert errors[0].kind == kind
    assert errors[0].reason.startswith(reason)


def test_an_argument_nested_too_deep_has_a_reason() -> None:
    [error] = PARSER.parse("[f(a=" + "-" * 50_000 + "1)]").errors

    assert error.reason.removeprefix("The calls cannot be read as Python: ").strip(" .")


def test_one_malformed_call_costs_no_other() -> None:
    found = PARSER.parse("[f(a=b), f(a=1)]")

    assert ([each.id for each in found.calls], len(found.errors)) == (["call_1"], 1)


def test_thinking_may_stand_before_and_after() -> None:
    found = PARSER.parse("<think>[f(a=2)]</think>\n[f(a=1)]\n<think>done</think>")

    assert [each.arguments for each in found.calls] == [{"a": 1}]
    assert found.text == "<think>[f(a=2)]</think>\n\n<think>done</think>"


@pytest.mark.parametrize(
    "unit", [".a", "-", "+1", "not ", "a if b else ", "a[0]", "f()", "lambda: "]
)
def test_a_long_chain_is_read_or_refused(unit: str) -> None:
    assert len(PARSER.parse(f"[f(a=1{unit * 9_000}1)]").errors) == 1

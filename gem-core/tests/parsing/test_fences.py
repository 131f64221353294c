from __future__ import annotations

import pytest

from gem.parsing import Fences, Malformed, ParsedCall, unindented

FENCES = Fences({"python": "code"})


def test_a_block_whose_language_names_a_tool_is_a_call() -> None:
    found = FENCES.parse("So:\n```python\nif 1:\n    print(1)\n```\nDone.")

    assert found.calls == (
        ParsedCall("call_0", "python", {"code": "if 1:\n    print(1)"}, (4, 36)),
    )
    assert found.text == "So:\n\nDone."


@pytest.mark.parametrize("text", ["   ```python \r\n1\r\n  ``` \r\n", "```python\n1\n```"])
def test_fences_may_be_indented_a_little_and_end_in_any_line_end(text: str) -> None:
    assert FENCES.parse(text).calls[0].arguments == {"code": "1"}


def test_a_block_in_a_list_has_no_indentation_of_its_fence() -> None:
    text = "1. So:\n\n   ```python\n   if 1:\n       print(1)\n\n   print(2)\n   ```"

    assert FENCES.parse(text).calls[0].arguments == {"code": "if 1:\n    print(1)\n\nprint(2)"}


@pytest.mark.parametrize(
    ("content", "indent", "expected"),
    [
        ("if 1:\n  a\n", "  ", "if 1:\n  a\n"),
        ("  if 1:\n    a\nb\n", "  ", "if 1:\n  a\nb\n"),
        ("  a\n", "", "  a\n"),
        ("\ta\n", "  ", "\ta\n"),
        ("\ta\n\t\tb\n", "\t", "a\n\tb\n"),
        ("  \n  a\n", "   ", "\na\n"),
        ("   \n", "   ", "   \n"),
        ("", " ", ""),
    ],
)
def test_lines_lose_the_indentation_that_they_have_of_a_fence(
    content: str, indent: str, expected: str
) -> None:
    assert unindented(content, indent) == expected


@pytest.mark.parametrize("content", [" \n", " ", " a\n", "\n", "\t"])
def test_a_megabyte_is_unindented_at_once(content: str) -> None:
    assert len(unindented(content * 500_000, " " * 1000)) <= 500_000 * len(content)


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n```python\n1\n```",  # the first fence has the second for its content
        "a ```python\n1\n```",
        "    ```python\n1\n```",
        "```python 1```",
        "```\n1\n```",
        "`python`",
    ],
)
def test_all_else_is_text(text: str) -> None:
    found = FENCES.parse(text)

    assert (found.found, found.text) == ((), text)


def test_another_language_that_is_not_closed_hides_no_call_after_it() -> None:
    found = FENCES.parse("```sh\nls\n")

    assert found.found == ()
    assert FENCES.parse("```sh\n```\n```python\n1\n```").calls[0].id == "call_0"


def test_a_block_that_is_not_closed_is_an_error() -> None:
    found = FENCES.parse("```python\nprint(1)\n")

    reason = "The block ```python is not closed by a line with ``` alone."
    assert found.found == (Malformed("call_0", "unclosed", reason, "python", (0, 19)),)


def test_ticks_within_a_line_end_no_block() -> None:
    assert FENCES.parse("```python\nx = '```'\n```").calls[0].arguments == {"code": "x = '```'"}

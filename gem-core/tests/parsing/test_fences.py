from __future__ import annotations

import pytest

from gem.parsing import Fences, Malformed, ParsedCall

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

"""What holds of every format: it never raises, its work is linear, and no character is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem import parsing
from gem.content import is_shallow
from gem.parsing._cursor import Cursor
from gem.parsing._tagged import Tagged

pytestmark = pytest.mark.slow

TAGS = parsing.Tags({"python": "code", "search": "query"})
FENCES = parsing.Fences({"python": "code"})
HERMES = parsing.Hermes()
GLM = parsing.Glm()
QWEN = parsing.Qwen()
PARSERS: dict[str, parsing.Parser] = {
    "tags": TAGS,
    "fences": FENCES,
    "hermes": HERMES,
    "pythonic": parsing.Pythonic(),
    "openai": parsing.OpenAI(),
    "mistral": parsing.Mistral(),
    "llama": parsing.Llama(),
    "glm": GLM,
    "qwen": QWEN,
    "any of": parsing.AnyOf(TAGS, FENCES),
}
READERS: dict[str, parsing.Tags | parsing.Fences | Tagged] = {
    "tags": TAGS,
    "fences": FENCES,
    "hermes": HERMES,
    "glm": GLM,
    "qwen": QWEN,
}
MEGABYTE = 1_000_000

PIECES = [
    "<think>",
    "</think>",
    "<python>",
    "</python>",
    "<search>",
    "</search>",
    "<tool_call>",
    "</tool_call>",
    "```python\n",
    "```\n",
    "```",
    "\n",
    '{"name": "add", "arguments": {"a": 1}}',
    '{"a": [',
    "[add(a=1)]",
    "[TOOL_CALLS]",
    "add[ARGS]",
    "<|python_tag|>",
    '{"name": "add", "parameters": {"a": 1}}',
    ";",
    "<arg_key>a</arg_key>",
    "<arg_value>1</arg_value>",
    "<function=add>",
    "<parameter=a>",
    "</parameter>",
    "</function>",
    "[add(",
    "a=[[1]], **b)",
    "-1e999",
    "\\",
    "'",
    '"',
    "\0",
    "\ud800",
    "\u202e",
    "1" * 5000,
]
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES)).map("".join), st.text())

UNITS = {
    "opened tags": "<python>",
    "closed tags": "<python></python>",
    "other tags": "<search>a</python>",
    "ends": "</python>",
    "thoughts": "<think>a</think>",
    "opened thoughts": "<think>",
    "ends of thoughts": "</think>",
    "opened fences": "```python\n",
    "fences": "```python\n1\n```\n",
    "other fences": "```sh\n",
    "ticks": "`",
    "angles": "<",
    "opened calls": "<tool_call>",
    "calls": "<tool_call>{}</tool_call>",
    "marks": "[TOOL_CALLS]",
    "empty lists": "[TOOL_CALLS][]",
    "named marks": "[TOOL_CALLS]a[ARGS]{}",
    "bare calls": '{"name": "a", "parameters": {}};',
    "keys": "<tool_call>a<arg_key>",
    "keys and values": "<arg_key>a</arg_key><arg_value>1</arg_value>",
    "functions": "<tool_call><function=a><parameter=",
    "brackets": "[",
    "braces": '{"a":',
    "digits": "9",
    "signs": "-",
    "dots": ".a",
    "calls of calls": "[a(",
    "spaces": " ",
    "NUL": "\0",
    "surrogates": "\ud800",
    "quotes": '"',
}

formats = pytest.mark.parametrize("kind", sorted(PARSERS))
units = pytest.mark.parametrize("unit", sorted(UNITS))


def rest_of(text: str, found: parsing.Parsed) -> str:
    for each in reversed(list(dict.fromkeys(one.span for one in found.found))):
        assert each is not None
        text = text[: each[0]] + text[each[1] :]
    return text


@formats
@given(text=TEXTS)
def test_no_text_makes_a_parser_raise(kind: str, text: str) -> None:
    found = PARSERS[kind].parse(text)

    assert found.text == rest_of(text, found)
    assert [each.id for each in found.found] == [f"call_{n}" for n in range(len(found.found))]


@formats
@given(text=TEXTS)
def test_arguments_are_plain_data_that_can_be_written(kind: str, text: str) -> None:
    for called in PARSERS[kind].parse(text).calls:
        arguments = dict(called.arguments)
        message = gem.Message("assistant", "", (gem.ToolCall(called.id, called.name, arguments),))
        written = gem.Message.from_json(message.to_json())

        assert is_shallow(arguments)
        assert str(written.tool_calls[0].arguments).encode()


@pytest.mark.slow  # all of them together
@formats
@units
def test_a_megabyte_of_anything_is_read(kind: str, unit: str) -> None:
    text = UNITS[unit] * (MEGABYTE // len(UNITS[unit]))

    found = PARSERS[kind].parse(text)

    assert len(found.text) <= len(text)


@pytest.mark.parametrize("kind", sorted(READERS))
@units
def test_the_work_is_linear(kind: str, unit: str) -> None:
    cursor = Cursor(UNITS[unit] * 20_000)

    READERS[kind].read(cursor)

    assert cursor.read <= 4 * len(cursor.text)


@pytest.mark.parametrize("kind", sorted(READERS))
@given(text=TEXTS)
def test_the_work_is_linear_whatever_the_text(kind: str, text: str) -> None:
    cursor = Cursor(text)

    READERS[kind].read(cursor)

    assert cursor.read <= 4 * len(text)


@pytest.mark.parametrize("piece", PIECES)
@formats
def test_what_is_only_thought_is_no_call(kind: str, piece: str) -> None:
    found = PARSERS[kind].parse(f"<think>\n{piece}\n".replace("</think>", ""))

    assert found.found == ()


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("tags", "<python>1</python>"),
        ("fences", "\n```python\n1\n```\n"),
        ("hermes", '<tool_call>{"name": "a"}</tool_call>'),
        ("pythonic", "[a()]"),
        ("mistral", '[TOOL_CALLS][{"name": "a"}]'),
        ("llama", '{"name": "a", "parameters": {}}'),
        ("glm", "<tool_call>a</tool_call>"),
        ("qwen", "<tool_call><function=a></function></tool_call>"),
    ],
)
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("{0}", 1),
        ("<think>{0}</think>{0}", 1),
        ("{0}</think>{0}", 1),  # the chat template has opened the thought
        ("<think>{0}", 0),
        ("<think><think>{0}</think>{0}", 1),
        ("<think>a</think>{0}<think>{0}</think>", 1),
        ("<think>a</think>{0}<think>{0}", 1),
    ],
)
def test_a_call_counts_outside_of_thinking(kind: str, call: str, text: str, count: int) -> None:
    found = PARSERS[kind].parse(text.format(call))

    assert (len(found.calls), found.errors) == (count, ())

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem.parsing import AnswerForm, answer_example, find_answer, write_answer

TAGGED = [
    ("<answer>Bonn</answer>", "Bonn", "one"),
    ("<answer>\n Bonn \n</answer>", "Bonn", "white space around it"),
    ("<answer>Rome</answer> or <answer>Bonn</answer>", "Bonn", "the last of several"),
    ("<answer>Rome <answer>Bonn</answer></answer>", "Bonn", "the inner of two"),
    ("<answer>Rome <answer>Bonn</answer>", "Bonn", "the inner of two, the outer left open"),
    ("<answer>Bonn</answer> <answer>Rome", "Bonn", "the last that is closed"),
    ("<answer>Bonn</answer> so </answer>", "Bonn", "an end without a beginning"),
    ("<answer>Bonn", None, "not closed"),
    ("Bonn</answer>", None, "not opened"),
    ("Bonn", None, "no tag"),
    ("", None, "nothing"),
    ("<answer></answer>", "", "an empty one"),
    ("<ANSWER>Bonn</ANSWER>", None, "other tags"),
    (r"\boxed{Bonn}", None, "the other form"),
    ("<think><answer>Rome</answer></think><answer>Bonn</answer>", "Bonn", "one was a thought"),
    ("<answer>Bonn</answer><think><answer>Rome</answer></think>", "Bonn", "a later thought"),
    ("<think><answer>Rome</answer></think>", None, "only thought"),
    ("<think>hm <answer>Rome</answer>", None, "a thought without an end"),
    ("<answer>Rome</answer></think><answer>Bonn</answer>", "Bonn", "opened by the template"),
    ("<answer>Rome</answer></think>", None, "opened by the template, no answer after it"),
]
BOXED = [
    (r"\boxed{True}", "True", "one"),
    (r"\boxed{False} no, \boxed{True}", "True", "the last of several"),
    (r"\boxed{False \boxed{True}}", "True", "the inner of two"),
    (r"\boxed{True} and \boxed{", "True", "the last that is closed"),
    (r"\boxed{a{b}c}", "a{b}c", "braces within"),
    (r"\boxed{ \text{True} }", "True", "text mode"),
    (r"\boxed{\textbf{True}}", "True", "bold"),
    (r"\boxed {True}", "True", "a space before the brace"),
    (r"\boxed{}", "", "an empty one"),
    (r"\boxed{True", None, "not closed"),
    ("True", None, "no box"),
    ("<answer>True</answer>", None, "the other form"),
    (r"<think>\boxed{False}</think>\boxed{True}", "True", "one was a thought"),
    (r"<think>\boxed{False}", None, "a thought without an end"),
]


@pytest.mark.parametrize(("text", "answer", "why"), TAGGED)
def test_a_tagged_answer_is_found(text: str, answer: str | None, why: str) -> None:
    assert find_answer(text, "answer") == answer, why


@pytest.mark.parametrize(("text", "answer", "why"), BOXED)
def test_a_boxed_answer_is_found(text: str, answer: str | None, why: str) -> None:
    assert find_answer(text, "boxed") == answer, why


@pytest.mark.parametrize("form", ["answer", "boxed"])
@given(said=st.text(alphabet=st.characters(exclude_characters="<>{}\\"), max_size=30))
def test_what_is_written_is_found(form: AnswerForm, said: str) -> None:
    assert find_answer(f"So {write_answer(said, form)}.", form) == said.strip()


@pytest.mark.parametrize(
    ("form", "example"), [("answer", "<answer>...</answer>"), ("boxed", r"\boxed{...}")]
)
def test_the_example_of_a_form_holds_no_answer(form: AnswerForm, example: str) -> None:
    assert answer_example(form) == example


@pytest.mark.parametrize("form", ["answer", "boxed"])
@given(text=st.text())
def test_no_text_raises(form: AnswerForm, text: str) -> None:
    find_answer(text, form)


@pytest.mark.parametrize("form", ["answer", "boxed"])
@pytest.mark.parametrize(
    "piece", ["<answer>", "</answer>", "<think>", "</think>", "\\boxed{", "{", "}", "<answer></"]
)
def test_a_megabyte_ends_in_time(form: AnswerForm, piece: str) -> None:
    find_answer(piece * (1_000_000 // len(piece)), form)  # the square of it would take hours

"""What an agent thinks is not shown to the user, however it is marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_envs_agents.desk.actions import read_move
from gem_envs_agents.desk.reasoning import with_think_tags

WORDS = "Hello, who are you?"
KINDS = (
    ("<think>", "</think>"),
    ("<Think>", "</THINK>"),
    ("<thinking>", "</thinking>"),
    ('<thinking budget="9">', "</thinking >"),
    ("<reasoning>", "</reasoning>"),
    ("<REASONING>", "</Reasoning>"),
    ("<thought>", "</thought>"),
    ("<analysis>", "</analysis>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<reflection>", "</reflection>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("<|channel|>commentary to=f <|constrain|>json<|message|>", "<|call|>"),
    ("analysisWe ", "assistantfinal"),
)


@pytest.mark.parametrize(("begin", "end"), KINDS)
def test_what_is_marked_as_thought_is_not_said(begin: str, end: str) -> None:
    assert read_move(f"{begin}a thief?{end}{WORDS}").text == WORDS
    assert read_move(f"{begin}a thief? {WORDS}").text == ""


@pytest.mark.parametrize(("begin", "end"), KINDS[:-2])
def test_what_the_prompt_opened_is_not_said_either(begin: str, end: str) -> None:
    assert read_move(f"a thief?{end}{WORDS}").text == WORDS


def test_a_thought_ends_at_the_end_of_its_own_kind() -> None:
    assert read_move(f"<thinking>a <think>b</think> c</thinking>{WORDS}").text == WORDS
    assert read_move(f"<think>a <thinking> b</think>{WORDS}").text == WORDS


@pytest.mark.parametrize("call", ["<tool_call>{}</tool_call>"])
def test_no_call_is_made_within_a_thought(call: str) -> None:
    assert read_move(f"<reasoning>{call}</reasoning>{WORDS}").calls == ()
    assert len(read_move(f"<reasoning>hm</reasoning>{call}").calls) == 1


@pytest.mark.parametrize(
    "words",
    [
        WORDS,
        "I think that 3 < 4, and the reason is <unknown>.",
        "Your analysis is right.",
        "analysis of your order",
        "Write [reason] here",
        "It is done.<|end|>",
    ],
)
def test_what_is_no_markup_is_said(words: str) -> None:
    assert read_move(words).text == words.replace("<|end|>", "")


def test_a_second_thought_is_left_out_too() -> None:
    text = "<thinking>a</thinking>One. <reasoning>b</reasoning>Two.<|return|>"
    assert read_move(text).text == "One.  Two."


@pytest.mark.parametrize("part", ["<think>", "</think>", "<thinking ", "<|channel|>", "analysisA"])
def test_a_megabyte_is_read_in_one_go(part: str) -> None:
    assert len(with_think_tags(part * (1_000_000 // len(part)))) <= 1_000_000


@given(st.text("<>/|[]think channel", max_size=80))
def test_no_text_raises(text: str) -> None:
    read_move(text)

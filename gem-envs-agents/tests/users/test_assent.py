from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_envs_agents.users.assent import assent


@pytest.mark.parametrize(
    "text",
    [
        "Yes.",
        "yes, please go ahead",
        "Sure, go ahead.",
        "OK, do it.",
        "Okay!",
        "That's right.",
        "I confirm.",
        "I agree with that",
        "Sounds good to me.",
        "No problem, go ahead.",
        "Please do.",
        "Yes, I do not need it any more.",
        "Yes, and how long will it take?",
        "Yes. Could you also tell me the total?",
        "Yes, no further questions.",
        "Correct, I won't use it.",
        "Even if refunds are not available, I'd like to go ahead.",
    ],
)
def test_a_yes_is_read_in_many_words(text: str) -> None:
    assert assent(text) == "yes"


@pytest.mark.parametrize(
    "text",
    [
        "No.",
        "I do not say yes to that. No.",
        "I don't agree.",
        "I do not want that, sorry.",
        "Yes, but wait, that is not right.",
        "Please don't do it.",
        "Do not go ahead!",
        "Not yet.",
        "Stop, I have changed my mind.",
        "That is wrong.",
        "I'm not sure.",
        "I would never agree to that.",
        "I disagree.",
        "No, I have not asked for that. Yes means yes.",
        "I'd rather not.",
        "I can't confirm that.",
    ],
)
def test_a_no_is_read_in_many_words_and_beats_every_yes(text: str) -> None:
    assert assent(text) == "no"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Which order do you mean?",
        "Is that a yes?",
        "If it is free, yes.",
        "Yes, if it is free.",
        "My email is yes@example.org",
        "I do not need it any more.",
        "Thank you.",
        "I am not sure about the number.",
        "If it's not possible to cancel that one, can we cancel the other?",
        "My eyes hurt.",
    ],
)
def test_what_is_neither_is_neither(text: str) -> None:
    assert assent(text) == ""


@pytest.mark.parametrize("part", ["yes ", "not ", "not a a a ", "no, ", "but ", "i "])
def test_a_megabyte_is_read_as_its_beginning(part: str) -> None:
    assert assent(part * 300_000) == assent(part * 4_000)


@given(st.text("yes no't,.?! iff", max_size=60))
def test_no_text_raises(text: str) -> None:
    assert assent(text) in ("yes", "no", "")

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gem_envs_agents.service.tasks import case
from gem_envs_agents.service.tools import RULES
from gem_envs_agents.users.hearing import hear
from gem_envs_agents.users.refusal import turns_down


def is_no(message: str) -> bool:
    return turns_down(message, hear(message))


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_of_the_shop_is_a_no(rule: str) -> None:
    assert is_no(f"I am sorry, but your order is {rule}.")


def test_every_denial_of_the_generated_tasks_is_a_no() -> None:
    plans = [plan for seed in range(60) for plan in case(seed, "hard", 0).plans]
    denials = {plan.denial for plan in plans if plan.denial}
    assert denials
    assert all(is_no(denial) for denial in denials)


@pytest.mark.parametrize(
    "message",
    [
        "I'm sorry, but this order is not open any more, so cancelling is no longer possible.",
        "That is impossible, I am afraid.",
        "Your order has already been shipped, so we could not cancel it.",
        "I\u2019m sorry, we couldn\u2019t accept the return.",
        "Unfortunately I must decline your request.",
        "I have to turn down your request.",
        "I am declining your request.",
        "I'm afraid not: it was delivered more than 30 days ago.",
        "The return window is over, so we won't take it back.",
        "The blue one is not available.",
        "It is unavailable. Is there anything else I can help you with?",
        "Your order is not delivered yet, so it may not be returned.",
        "It hasn't been delivered yet.",
        "I regret that I am not permitted to do it.",
        "Returns are only accepted within 30 days, so the answer is no.",
        "This falls outside of our return window.",
        "It is past the 30-day return window.",
        "The rules don't let me do that.",
        "Your request was rejected.",
        "The order was denied.",
        "I have logged the refusal: it is not delivered.",
        "Therefore no cancellation can be made.",
        "We no longer accept returns.",
        "I am not in a position to cancel it.",
        "Orders that have shipped aren't eligible.",
        "The item is ineligible.",
        "A second order cannot be cancelled.",
        "The policy forbids it.",
        "We do not offer this.",
        "We don't take back what is older.",
        "It will not be cancelled.",
        "I wasn't able to cancel it.",
        "There is nothing we can do.",
        "That cannot be done. Let me know if you need more, and I'll help.",
        "I'm sorry, that is not possible at the moment.",
        "I looked for it. I can't find a way, and it cannot be returned.",
    ],
)
def test_who_turns_a_request_down_in_usual_words_has_said_no(message: str) -> None:
    assert is_no(message)


@pytest.mark.parametrize(
    "message",
    [
        "That is done, as you wished. Is there anything else?",
        "Your order was delivered, and I have taken it back.",
        "I can't look at it yet. Could you tell me your email?",
        "I can't find your order yet.",
        "One moment, I'm not able to see it yet.",
        "Hold on, I can't do that so fast.",
        "It can no longer be changed after shipping. Shall I go ahead?",
        "If you do not accept this, tell me.",
        "Your card was declined at first.",
        "I have turned down the volume.",
        "You can decline.",
        "It was not too late: your order is cancelled.",
        "It is not sold out. I have exchanged it.",
        "I cannot thank you enough. It is done.",
        "No problem, it is done.",
        "It waits outside your door.",
        "I am turning the pages of the catalogue.",
        "",
    ],
)
def test_who_turns_nothing_down_has_not_said_no(message: str) -> None:
    assert not is_no(message)


@given(st.text())
def test_no_text_raises(text: str) -> None:
    assert is_no(text) in (True, False)

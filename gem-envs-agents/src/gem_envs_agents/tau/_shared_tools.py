"""The tools that both shops have: what agents calculate, think and hand over."""

from __future__ import annotations

from typing import Any

from gem_envs_agents.desk.arithmetic import calculate
from gem_envs_agents.desk.database import Draft
from gem_envs_agents.desk.tool import Refusal, Tool, text_parameter

__all__ = ["ADDRESS", "SHARED", "address_of", "gift_cards_can_pay", "move_gift_card"]

ADDRESS = {
    "address1": text_parameter("the first line, such as '12 High Street'"),
    "address2": text_parameter("the second line, or an empty text"),
    "city": text_parameter("the city"),
    "state": text_parameter("the state, such as 'CA'"),
    "country": text_parameter("the country, such as 'USA'"),
    "zip": text_parameter("the zip code"),
}
"""The parameters of an address."""


def address_of(arguments: dict[str, str]) -> dict[str, str]:
    """Return the address among arguments."""
    return {name: arguments[name] for name in ADDRESS}


def gift_cards_can_pay(method: dict[str, Any], amount: float) -> None:
    """Raise Refusal where a method of payment is a gift card that holds less than an amount."""
    holdings = method.get("balance", method.get("amount", 0.0))
    if method["source"] == "gift_card" and round(holdings - amount, 2) < 0:
        raise Refusal(f"The gift card {method['id']} holds {holdings:g}, less than {amount:g}.")


def move_gift_card(user: dict[str, Any], payment_id: str, amount: float) -> None:
    """Add an amount to a gift card (less than 0: take it off); nothing for other methods."""
    method = user["payment_methods"].get(payment_id)
    if method is None or method["source"] != "gift_card":
        return
    field = "balance" if "balance" in method else "amount"
    method[field] = round(method[field] + amount, 2)


def _calculate(draft: Draft, expression: str) -> str:
    return calculate(expression)


def _think(draft: Draft, thought: str) -> str:
    return ""


def _transfer(draft: Draft, summary: str) -> str:
    return "The customer will be connected to a human agent."


SHARED = (
    Tool(
        "calculate",
        "Calculate the value of an expression with + - * / and parentheses.",
        _calculate,
        {"expression": text_parameter("the expression, such as '(2 + 3) * 4'")},
        echoes=True,
    ),
    Tool(
        "think",
        "Write a thought down. Nothing is looked up or changed by it.",
        _think,
        {"thought": text_parameter("the thought")},
        echoes=True,
    ),
    Tool(
        "transfer_to_human_agents",
        "Hand the customer over to a human agent, where no tool can do what is asked for.",
        _transfer,
        {"summary": text_parameter("what the customer wants, in short")},
    ),
)

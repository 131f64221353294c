"""A scripted agent that takes the first reading of a request, and never asks which order is meant.

It knows the words of each request and the rules of the shop. It does well where the wording names
the order, and acts on the first one that fits where it does not: what phrase sensitivity is for.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gem.conversation import Request
from gem_envs_agents.desk.actions import write_call
from gem_envs_agents.desk.tool import Call
from gem_envs_agents.service.shop import COLORS, PRODUCTS, RETURN_DAYS

__all__ = ["FirstReading", "next_reading"]

_GOALS = (
    ("exchange", r"exchange|swap|rather have .* in |wrong color|in the place of"),
    ("price", r"paid|how much|cost|price|was sold to me"),
    ("move", r"address|moving|wrong house|somewhere else|another place"),
    ("repair", r"repair|not work|broken|switch on|\bfix\b"),
    ("send back", r"return|send it back|money back|take .* back|get rid of"),
    ("cancel", r"cancel|call the whole order off|not send|stop that order|undo"),
)
_ORDER = re.compile(r"#A\d+")


class FirstReading:
    """The policy: a function of what the agent was shown, and nothing else."""

    name = "first-reading"

    def __call__(self, request: Request) -> str:
        own = [message.text for message in request.messages if message.role == "assistant"]
        observations = [message.text for message in request.messages if message.role != "assistant"]
        return next_reading(observations, own)


def next_reading(observations: list[str], own: list[str]) -> str:
    """Return the next action; an observation stands before each of its own, and one more."""
    if not own:
        return "What is your email?"
    email = re.search(r"My email: (\S+@\S+?)\.(?:\s|$)", "\n".join(observations))
    if email is None:
        return "What is your email?"
    if len(own) == 1:
        return write_call(Call("find_customer", {"email": email[1]}))
    customer = _json(observations[2])
    orders = {}
    for action, answer in zip(own, observations[1:], strict=False):
        if '"show_order"' in action:
            order = _json(answer)
            orders[order.get("order_id")] = order
    unseen = [order_id for order_id in customer.get("orders", []) if order_id not in orders]
    if unseen:
        return write_call(Call("show_order", {"order_id": unseen[0]}))
    return _serve(observations, own, orders)


def _serve(observations: list[str], own: list[str], orders: dict[str, Any]) -> str:
    """Do the first thing that the last wish can mean."""
    wishes = [
        observations[0],
        *(text for text in observations[1:] if "Thank you." in text or "I see." in text),
    ]
    wish = wishes[-1].rpartition("Customer:")[2]
    since = len(own) - 1
    while since > 0 and observations[since] != wishes[-1]:
        since -= 1
    done = own[since:] if len(wishes) > 1 else own[2 + len(orders) :]
    order = _order(wish, orders)
    name = next((name for name, words in _GOALS if re.search(words, wish.casefold())), "cancel")
    if order is None:
        return "That is not possible, I am sorry."
    if name == "price":
        return f"It was {_item(wish, order)['price']:.2f}. Is there anything else?"
    return _act(name, wish, order, observations, done)


def _act(name: str, wish: str, order: Any, observations: list[str], done: list[str]) -> str:
    item = _item(wish, order)
    if any('"log_refusal"' in action for action in done):
        return "I am sorry, this is not possible."
    rule = _rule(name, order)
    if rule:
        return _refusal(order["order_id"], rule)
    if any(action.startswith("<tool_call>") and "show_product" not in action for action in done):
        return "That is done. Is there anything else?"
    on_item = {"order_id": order["order_id"], "item_id": item["item_id"]}
    asked = " ".join(done)
    heard = "\n".join(observations)
    if name == "repair" and "restart" not in asked:
        return "Please restart it."
    if name == "repair" and "label" not in asked:
        return "Please read me the serial number on the label."
    if name == "move" and "address" not in asked:
        return "Please tell me the new address."
    if name == "exchange" and "show_product" not in asked:
        return write_call(Call("show_product", {"product_id": item["product_id"]}))
    if "Shall I" not in asked:
        return (
            f"I would {_proposal(name, wish, item, heard)} {order['order_id']}. Shall I go ahead?"
        )
    if name == "cancel":
        return write_call(Call("cancel_order", {"order_id": order["order_id"]}))
    if name == "send back":
        return write_call(Call("send_back", on_item))
    if name == "repair":
        serial = re.findall(r"SN\d+", heard)
        return write_call(Call("register_repair", {**on_item, "serial": (serial or [""])[-1]}))
    if name == "move":
        place = re.findall(r"The address: ([^.\n]*)", heard)
        call = Call(
            "change_address", {"order_id": order["order_id"], "address": (place or [""])[-1]}
        )
        return write_call(call)
    return _exchange(wish, item, on_item, observations)


def _proposal(name: str, wish: str, item: Any, heard: str) -> str:
    """Return what is proposed, in words that hold what a customer wants to hear."""
    it = f"the {item['name']}"
    if name == "move":
        place = re.findall(r"The address: ([^.\n]*)", heard)
        return f"change the address of {it} to {(place or [''])[-1]}, in the order"
    if name == "exchange":
        colors = re.findall(rf"\b(?:{'|'.join(COLORS)})\b", wish)
        return f"exchange {it} for a {(colors or [''])[-1]} one, in the order"
    verb = {"send back": "return", "repair": "repair"}.get(name, "cancel")
    return f"{verb} {it} of the order"


def _exchange(wish: str, item: Any, on_item: dict[str, str], observations: list[str]) -> str:
    colors = [color for color in COLORS if re.search(rf"\b{color}\b", wish)]
    products = [_json(text) for text in observations if '"items": {' in text]
    # Where the old color is named too, the new one is the last in most wordings.
    for color in reversed(colors):
        for candidate in (products[-1] if products else {}).get("items", {}).values():
            if candidate["color"] == color and candidate["item_id"] != item["item_id"]:
                if not candidate["available"]:
                    return _refusal(on_item["order_id"], "sold out")
                new = {**on_item, "new_item_id": candidate["item_id"]}
                return write_call(Call("exchange", new))
    return "That is not possible, I am sorry."


def _refusal(order_id: str, rule: str) -> str:
    return write_call(Call("log_refusal", {"order_id": order_id, "rule": rule}))


def _rule(name: str, order: Any) -> str:
    if name in ("cancel", "move"):
        return "" if order["status"] == "open" else "not open any more"
    if order["status"] != "delivered":
        return "not delivered"
    if name != "repair" and order["days_since_delivery"] > RETURN_DAYS:
        return "too late"
    return ""


def _order(wish: str, orders: dict[str, Any]) -> Any:
    named = _ORDER.search(wish)
    if named is not None:
        return orders.get(named[0])
    product = next((each for each in PRODUCTS if each in wish), "")
    fitting = []
    for order in orders.values():
        fitting += [
            (f"{item['color']} {product}" in wish, order)
            for item in order.get("items", [])
            if item["name"] == product
        ]
    # The one whose color is named, and the first where none is.
    fitting.sort(key=lambda each: not each[0])
    return fitting[0][1] if fitting else None


def _item(wish: str, order: Any) -> Any:
    for item in order["items"]:
        if item["name"] in wish:
            return item
    return order["items"][0]


def _json(text: str) -> Any:
    """Return the JSON data of a tool's answer; an empty object where there is none."""
    start = text.find("{")
    try:
        return json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else {}
    except ValueError:
        return {}

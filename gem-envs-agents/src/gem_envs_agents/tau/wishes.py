"""Say in a customer's words what a call of a solution does. Knows nothing about users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gem_envs_agents.desk.database import Record, Tables
from gem_envs_agents.desk.tool import Call

__all__ = ["Wish", "wish"]


class Wish(NamedTuple):
    """What a customer says to have a call made.

    `vague_wording` leaves out the details, and `plain_wording` the items too, for customers who do
    not know them. `summary` is what the agent proposes; `names` are the order numbers that a right
    proposal may mention.
    """

    wording: str
    vague_wording: str
    plain_wording: str
    facts: Mapping[str, str]
    names: frozenset[str]
    summary: str


def wish(call: Call, tables: Tables) -> Wish:
    """Return the words for a call that writes."""
    arguments = call.arguments
    if "order_id" in arguments:
        return _on_an_order(call, tables)
    return _on_a_reservation(call, tables)


def _on_an_order(call: Call, tables: Tables) -> Wish:
    arguments = call.arguments
    order_id = arguments["order_id"]
    order: Record = tables["orders"].get(order_id, {"items": [], "user_id": ""})
    facts = {"order": order_id}
    whole = f"my order with the {_listed([item['name'] for item in order['items']])}"
    vague = f"{_VERBS[call.name]} {whole}"
    wording = vague
    if "item_ids" in arguments:
        wording, vague, facts["variant"] = _items(call, order, tables)
        if not facts["variant"]:
            del facts["variant"]
    if "reason" in arguments:
        facts["reason"] = arguments["reason"]
    if "address1" in arguments:
        facts["address"] = _address(arguments)
    if "payment_method_id" in arguments:
        facts["payment"] = _payment(arguments["payment_method_id"], order["user_id"], tables)
    return Wish(
        f"I want to {wording}.",
        f"I want to {vague}.",
        f"I want to {_VERBS[call.name]} an order.",
        facts,
        frozenset({order_id}),
        f"I would {_VERBS[call.name]} the order {order_id} as you said.",
    )


_VERBS = {
    "cancel_pending_order": "cancel",
    "modify_pending_order_address": "change the address of",
    "modify_pending_order_payment": "pay in another way for",
    "modify_pending_order_items": "change items of",
    "return_delivered_order_items": "return items of",
    "exchange_delivered_order_items": "exchange items of",
}


def _items(call: Call, order: Record, tables: Tables) -> tuple[str, str, str]:
    """Return the words for a call with items: in full, vaguely, and the new variants alone."""
    arguments = call.arguments
    by_id = {item["item_id"]: item for item in order["items"]}
    items = [by_id.get(each, {"name": "item", "options": {}}) for each in arguments["item_ids"]]
    names = _listed([item["name"] for item in items])
    if "new_item_ids" not in arguments:
        words = f"return the {names}"
        return words, words, ""
    verb = "exchange" if call.name.startswith("exchange") else "change"
    pairs = []
    for item, new_id in zip(items, arguments["new_item_ids"], strict=False):
        options = _options_of(item, new_id, tables)
        pairs.append(f"{item['name']} with {options}")
    variants = "; ".join(pairs)
    return f"{verb} the {names}: {variants}", f"{verb} the {names}", variants


def _options_of(item: Record, new_id: str, tables: Tables) -> str:
    product = tables["products"].get(item.get("product_id", ""), {"variants": {}})
    options: Mapping[str, Any] = product["variants"].get(new_id, {}).get("options", {})
    differing = {key: value for key, value in options.items() if item["options"].get(key) != value}
    chosen = differing or options
    return ", ".join(f"{key} {value}" for key, value in chosen.items()) or "the same options"


def _address(arguments: Mapping[str, Any]) -> str:
    names = ("address1", "address2", "city", "state", "country", "zip")
    return ", ".join(arguments[name] for name in names if arguments.get(name))


def _payment(payment_id: str, user_id: str, tables: Tables) -> str:
    methods = tables["users"].get(user_id, {}).get("payment_methods", {})
    method = methods.get(payment_id, {"source": payment_id.rpartition("_")[0]})
    words = str(method["source"]).replace("_", " ")
    if "last_four" in method:
        return f"my {method['brand']} {words} ending in {method['last_four']}"
    same = [each for each in methods.values() if each["source"] == method["source"]]
    if len(same) > 1:
        held = method.get("balance", method.get("amount"))
        return f"my {words} with {held} on it"
    return f"my {words}"


def _on_a_reservation(call: Call, tables: Tables) -> Wish:
    arguments = call.arguments
    user_id = arguments.get("user_id", "")
    facts = {}
    if "reservation_id" in arguments:
        facts["order"] = arguments["reservation_id"]
        user_id = tables["reservations"].get(arguments["reservation_id"], {}).get("user_id", "")
    if "address1" in arguments:
        facts["address"] = _address(arguments)
    if "flights" in arguments:
        flown = [f"{each['flight_number']} on {each['date']}" for each in arguments["flights"]]
        cabin = arguments["cabin"].replace("_", " ")
        facts["variant"] = f"{_listed(flown)} in {cabin}"
    if "passengers" in arguments:
        people = arguments["passengers"]
        facts["item"] = "; ".join(
            f"{each['first_name']} {each['last_name']}, born {each['dob']}" for each in people
        )
    if "total_baggages" in arguments:
        facts["reason"] = f"{arguments['total_baggages']} checked bags in all"
    if "payment_id" in arguments:
        facts["payment"] = _payment(arguments["payment_id"], user_id, tables)
    if "payment_methods" in arguments:
        paid = [
            f"{each['amount']} by {_payment(each['payment_id'], user_id, tables)}"
            for each in arguments["payment_methods"]
        ]
        facts["payment"] = _listed(paid)
    words = f"I want to {_TRIPS[call.name].format(**{**_ROUTE, **arguments})}."
    return Wish(words, words, words, facts, frozenset(), f"{_PROPOSALS[call.name]} as you said.")


_ROUTE = {"origin": "", "destination": "", "reservation_id": "", "amount": ""}
_TRIPS = {
    "book_reservation": "book a trip from {origin} to {destination}",
    "cancel_reservation": "cancel a reservation",
    "update_reservation_flights": "change the flights or the cabin of a reservation",
    "update_reservation_baggages": "change the checked bags of a reservation",
    "update_reservation_passengers": "change who flies in a reservation",
    "send_certificate": "be compensated for what went wrong",
    "modify_user_address": "change my own address",
}
_PROPOSALS = {
    "book_reservation": "I would book the trip",
    "cancel_reservation": "I would cancel the reservation",
    "update_reservation_flights": "I would change the flights of the reservation",
    "update_reservation_baggages": "I would change the bags of the reservation",
    "update_reservation_passengers": "I would change the passengers of the reservation",
    "send_certificate": "I would send you a certificate",
    "modify_user_address": "I would change the address of your profile",
}


def _listed(words: Sequence[str]) -> str:
    """Return words as a list, equal ones counted.

    >>> _listed(["Lamp", "Kettle", "Lamp"])
    '2 x Lamp and Kettle'
    """
    counted = [f"{count} x {word}" if count > 1 else word for word, count in Counter(words).items()]
    if len(counted) < 2:
        return "".join(counted)
    return f"{', '.join(counted[:-1])} and {counted[-1]}"

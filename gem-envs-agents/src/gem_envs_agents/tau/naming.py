"""What a proposal of a solution's call has to name, and the words that propose it.

Of each group a proposal names one at least: an order by its number, an item by its id or what it is
called, a method of payment by its id or its kind. Knows nothing about what a user knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gem_envs_agents.desk.database import Record, Tables
from gem_envs_agents.desk.tool import Call
from gem_envs_agents.tau.airline_reads import CITIES
from gem_envs_agents.users.hearing import ANY_AMOUNT, PAYMENTS
from gem_envs_agents.users.script import Part

__all__ = ["differing_options", "may_also_name", "owner", "part_of", "proposal"]

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_VERBS: Mapping[str, tuple[str, ...]] = {
    "cancel_pending_order": ("cancel",),
    "modify_pending_order_address": ("change",),
    "modify_pending_order_payment": ("change",),
    "modify_pending_order_items": ("change", "exchange"),
    "return_delivered_order_items": ("return",),
    "exchange_delivered_order_items": ("exchange", "change"),
    "modify_user_address": ("change",),
    "book_reservation": ("book",),
    "cancel_reservation": ("cancel",),
    "update_reservation_flights": ("change",),
    "update_reservation_baggages": ("change",),
    "update_reservation_passengers": ("change",),
    "send_certificate": ("compensate",),
}
"""What each tool does, by the kinds of verbs that a user hears."""


def owner(call: Call, tables: Tables) -> Record:
    """Return the row of the user that a call is about, an empty one where nobody is known."""
    arguments = call.arguments
    for table, key in (("orders", "order_id"), ("reservations", "reservation_id")):
        row = tables.get(table, {}).get(arguments.get(key, ""))
        if row is not None:
            return tables["users"].get(row["user_id"], {})
    return tables["users"].get(arguments.get("user_id", ""), {})


def part_of(call: Call, tables: Tables, *, with_payment: bool) -> Part:
    """Return what a proposal of a call has to name, the payment where the user has one in mind."""
    groups = [*_groups(call, tables), *(_payment_groups(call, tables) if with_payment else ())]
    folded = (frozenset(word.casefold() for word in group if word) for group in groups)
    return Part(frozenset(_VERBS[call.name]), tuple(dict.fromkeys(filter(None, folded))))


def may_also_name(call: Call, tables: Tables) -> frozenset[str]:
    """Return what a right proposal of a call may mention beside what it has to."""
    arguments = call.arguments
    words = {str(arguments.get("user_id", ""))}
    order = tables.get("orders", {}).get(arguments.get("order_id", ""), {})
    words.add(str(order.get("user_id", "")))
    words.update(item["product_id"] for item in order.get("items", ()))
    reservation = tables.get("reservations", {}).get(arguments.get("reservation_id", ""), {})
    words.add(str(reservation.get("user_id", "")))
    legs = [*reservation.get("flights", ()), *arguments.get("flights", ())]
    words.update(leg["flight_number"] for leg in legs)
    if not {"payment_id", "payment_method_id", "payment_methods"} & arguments.keys():
        # Where the call names no payment, the shop has to say what it pays back, and to what.
        words.update(PAYMENTS)
        words.update(owner(call, tables).get("payment_methods", {}))
    for group in _payment_groups(call, tables):
        words.update(group)
    words.update(_payment_kinds(call, tables))
    if call.name == "send_certificate":
        # It is for one of their trips; its amount is compared.
        words.update(owner(call, tables).get("reservations", ()))
    else:
        words.add(ANY_AMOUNT)
    return frozenset(word.casefold() for word in words if word)


def proposal(call: Call, tables: Tables) -> str:
    """Return words that propose a call to a user, with everything that they have to name."""
    verb = {"compensate": "send you a certificate:", "change": "change"}.get(
        _VERBS[call.name][0], _VERBS[call.name][0]
    )
    named = [min(group) for group in part_of(call, tables, with_payment=True).names]
    return f"I would {verb} {', '.join(named)}."


def differing_options(
    call: Call, tables: Tables
) -> Iterator[tuple[Record, str, Mapping[str, Any]]]:
    """Yield each item that is replaced: the item, the id of the new one, and what differs in it."""
    arguments = call.arguments
    order: Record = tables.get("orders", {}).get(arguments.get("order_id", ""), {"items": []})
    by_id = {item["item_id"]: item for item in order["items"]}
    new_ids = arguments.get("new_item_ids", ())
    for item_id, new_id in zip(arguments.get("item_ids", ()), new_ids, strict=False):
        item = by_id.get(item_id, {"name": "item", "options": {}, "item_id": item_id})
        product = tables["products"].get(item.get("product_id", ""), {"variants": {}})
        options = product["variants"].get(new_id, {}).get("options", {})
        yield (
            item,
            new_id,
            {key: value for key, value in options.items() if item["options"].get(key) != value},
        )


def _groups(call: Call, tables: Tables) -> Iterator[Iterable[str]]:
    arguments = call.arguments
    if "order_id" in arguments or call.name.endswith("_order"):
        number = str(arguments["order_id"])
        yield (number, number.lstrip("#"))
    if "reservation_id" in arguments:
        yield (str(arguments["reservation_id"]),)
    yield from _item_groups(call, tables)
    if "address1" in arguments:
        yield ("address",)
        yield (str(arguments["address1"]),)
    if call.name == "modify_pending_order_payment":
        yield ("payment", "pay", "paid")
    if call.name == "send_certificate":
        yield (f"${float(arguments['amount']):g}",)
    yield from _trip_groups(call, tables)


def _payment_groups(call: Call, tables: Tables) -> Iterator[Iterable[str]]:
    arguments = call.arguments
    payment = arguments.get("payment_method_id") or arguments.get("payment_id")
    if payment:
        yield _payment_words(str(payment), call, tables)
    for each in arguments.get("payment_methods", ()):
        yield _payment_words(str(each["payment_id"]), call, tables)
        yield (f"${float(each['amount']):g}",)


def _item_groups(call: Call, tables: Tables) -> Iterator[Iterable[str]]:
    arguments = call.arguments
    order: Record = tables.get("orders", {}).get(arguments.get("order_id", ""), {"items": []})
    names = {item["item_id"]: item["name"] for item in order["items"]}
    for item_id in arguments.get("item_ids", ()):
        yield (item_id, *_called(names.get(item_id, "")))
    for item, new_id, options in differing_options(call, tables):
        if not options:
            yield (new_id, *_called(item["name"]))
        for value in options.values():
            yield (new_id, str(value))


def _called(name: str) -> Iterator[str]:
    """Yield the ways to call a product: all words or the last, in singular and plural."""
    if not name:
        return
    for words in (name, name.rsplit(maxsplit=1)[-1]):
        yield words
        yield words.removesuffix("s") if words.endswith("s") else f"{words}s"
    # "T-Shirt" is written in one word too.
    yield name.replace("-", "")


def _trip_groups(call: Call, tables: Tables) -> Iterator[Iterable[str]]:
    arguments = call.arguments
    reservation = tables.get("reservations", {}).get(arguments.get("reservation_id", ""), {})
    for place in ("origin", "destination"):
        if place in arguments:
            code = str(arguments[place])
            yield (code, CITIES.get(code, ""))
    kept = {(leg["flight_number"], leg["date"]) for leg in reservation.get("flights", ())}
    for leg in arguments.get("flights", ()):
        if (leg["flight_number"], leg["date"]) not in kept:
            yield (leg["flight_number"],)
    cabin = arguments.get("cabin")
    if cabin and cabin != reservation.get("cabin"):
        yield (cabin, cabin.replace("_", " "))
    known = [_full_name(each) for each in reservation.get("passengers", ())]
    for each in arguments.get("passengers", ()):
        if _full_name(each) not in known:
            yield (_full_name(each), each["first_name"])
    if "total_baggages" in arguments and (reservation or arguments["total_baggages"]):
        yield ("bag", "bags", "baggage", "baggages", "suitcase", "suitcases", "luggage")
        total = arguments["total_baggages"]
        added = abs(total - reservation.get("total_baggages", 0))
        yield (*_counts(total), *_counts(added))


def _full_name(passenger: Mapping[str, Any]) -> str:
    return f"{passenger['first_name']} {passenger['last_name']}"


def _counts(number: int) -> tuple[str, ...]:
    return (str(number), _NUMBERS[number]) if 0 <= number < len(_NUMBERS) else (str(number),)


def _payment_words(payment_id: str, call: Call, tables: Tables) -> Sequence[str]:
    """Return the ways to name a method of payment: of two of a kind, the kind names neither."""
    methods = owner(call, tables).get("payment_methods", {})
    method = methods.get(payment_id, {})
    source = str(method.get("source") or payment_id.rpartition("_")[0])
    words = [payment_id]
    if sum(each["source"] == source for each in methods.values()) < 2:
        words.append(source.replace("_", " "))
    if "last_four" in method:
        words.append(str(method["last_four"]))
    if "brand" in method:
        words.append(str(method["brand"]))
    holdings = method.get("balance", method.get("amount"))
    if holdings is not None:
        words.append(f"${float(holdings):g}")
    history = _paid_by(call, tables)
    if payment_id in history:
        words += ["original payment", "original method", "same payment"]
    return words


def _payment_kinds(call: Call, tables: Tables) -> Iterator[str]:
    """Yield the kinds of the methods that a call names: of two cards, the kind goes with one."""
    arguments = call.arguments
    ids = [arguments.get("payment_method_id", ""), arguments.get("payment_id", "")]
    ids += [each["payment_id"] for each in arguments.get("payment_methods", ())]
    methods = owner(call, tables).get("payment_methods", {})
    for payment_id in ids:
        yield str(methods.get(payment_id, {}).get("source", "")).replace("_", " ")


def _paid_by(call: Call, tables: Tables) -> Sequence[str]:
    arguments = call.arguments
    order = tables.get("orders", {}).get(arguments.get("order_id", ""), {})
    paid = [each["payment_method_id"] for each in order.get("payment_history", ())]
    reservation = tables.get("reservations", {}).get(arguments.get("reservation_id", ""), {})
    return [*paid, *(each["payment_id"] for each in reservation.get("payment_history", ()))]

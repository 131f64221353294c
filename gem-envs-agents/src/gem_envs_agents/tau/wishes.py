"""Say in a customer's words what a call of a solution does, as far as the customer knows it.

What the paragraph of a task does not say the customer does not know: it is `unsaid`, and the agent
has to find it out. Where it says what the customer prefers, the customer says that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gem_envs_agents.desk.database import Record, Tables
from gem_envs_agents.desk.tool import Call
from gem_envs_agents.tau.airline_reads import CITIES
from gem_envs_agents.tau.naming import differing_options, may_also_name, part_of, proposal
from gem_envs_agents.tau.paragraph import Paragraph
from gem_envs_agents.users.script import Part

__all__ = ["Wish", "wish"]


class Wish(NamedTuple):
    """What a customer says to have a call made.

    `facts` are what is said of each slot, `unknown` the slots that the call takes and of which the
    paragraph says nothing. `unsaid` are details of the call that the paragraph does not say.
    `summary` is what the agent proposes, `part` and `also` what a right proposal names.
    """

    wording: str
    facts: Mapping[str, str]
    unknown: tuple[str, ...]
    unsaid: frozenset[str]
    part: Part
    also: frozenset[str]
    summary: str


def wish(call: Call, tables: Tables, paragraph: Paragraph) -> Wish:
    """Return the words for a call that writes."""
    facts = dict(_facts(call, tables, paragraph))
    details = {each for each in _details(call, tables) if len(each) > 1}
    names = _item_names(call, tables) if "order_id" in call.arguments else []
    unknown_names = {name for name in names if not paragraph.mentions(name)}
    return Wish(
        wording=f"I want to {_wording(call, tables, paragraph)}.",
        facts={slot: value for slot, value in facts.items() if value},
        unknown=tuple(slot for slot, value in facts.items() if not value),
        unsaid=frozenset(each for each in details if not _is_said(each, paragraph)) | unknown_names,
        part=part_of(call, tables, with_payment=bool(facts.get("payment"))),
        also=may_also_name(call, tables),
        summary=proposal(call, tables),
    )


def _is_said(detail: str, paragraph: Paragraph) -> bool:
    return paragraph.knows_order(detail) if detail.startswith("#") else paragraph.says(detail)


_VERBS = {
    "cancel_pending_order": "cancel",
    "modify_pending_order_address": "change the address of",
    "modify_pending_order_payment": "pay in another way for",
    "modify_pending_order_items": "change",
    "return_delivered_order_items": "return",
    "exchange_delivered_order_items": "exchange",
    "modify_user_address": "change my own address",
    "book_reservation": "book a trip",
    "cancel_reservation": "cancel a reservation",
    "update_reservation_flights": "change the flights or the cabin of a reservation",
    "update_reservation_baggages": "change the checked bags of a reservation",
    "update_reservation_passengers": "change who flies in a reservation",
    "send_certificate": "be compensated for what went wrong",
}


def _wording(call: Call, tables: Tables, paragraph: Paragraph) -> str:
    verb = _VERBS[call.name]
    if call.name == "book_reservation":
        places = (str(call.arguments["origin"]), str(call.arguments["destination"]))
        known = [_place(each, paragraph) for each in places]
        return f"{verb} from {known[0]} to {known[1]}" if all(known) else verb
    if "order_id" not in call.arguments:
        return verb
    names = _item_names(call, tables)
    known = [name for name in names if paragraph.mentions(name)]
    if "item_ids" not in call.arguments and paragraph.is_about_all:
        known = []
    if "item_ids" in call.arguments:
        # With one item unknown, to name the others would say that they are all.
        return f"{verb} {f'the {_listed(names)}' if known == names else 'items of an order'}"
    return f"{verb} {f'my order with the {_listed(known)}' if known else 'an order'}"


def _place(code: str, paragraph: Paragraph) -> str:
    city = CITIES.get(code, "")
    return next((form for form in (city, code) if form and paragraph.says(form)), "")


def _item_names(call: Call, tables: Tables) -> list[str]:
    order: Record = tables["orders"].get(call.arguments["order_id"], {"items": []})
    if "item_ids" not in call.arguments:
        return [item["name"] for item in order["items"]]
    by_id = {item["item_id"]: item["name"] for item in order["items"]}
    return [by_id.get(each, "item") for each in call.arguments["item_ids"]]


def _facts(call: Call, tables: Tables, paragraph: Paragraph) -> Iterator[tuple[str, str]]:
    """Yield what is said of each slot that a call takes; "" of what the paragraph does not say."""
    arguments = call.arguments
    names: Sequence[str] = _item_names(call, tables) if "order_id" in arguments else ()
    for key in ("order_id", "reservation_id"):
        if key in arguments:
            is_known = paragraph.knows_order(arguments[key])
            yield "order", arguments[key] if is_known else paragraph.about("order", *names)
    if "item_ids" in arguments:
        yield "item", paragraph.about("item", *names)
    if "new_item_ids" in arguments:
        yield "variant", paragraph.about("variant", *names)
    if "reason" in arguments:
        reason = str(arguments["reason"])
        yield "reason", reason if paragraph.says(reason) else paragraph.about("reason")
    if "address1" in arguments:
        yield "address", _address(arguments, paragraph)
    kept = _kept(call, tables)
    for slot, key in _TRIP_SLOTS:
        if key in arguments and slot not in kept:
            yield slot, paragraph.about(slot)
    if {"payment_method_id", "payment_id", "payment_methods"} & arguments.keys():
        yield "payment", paragraph.about("payment")


def _kept(call: Call, tables: Tables) -> frozenset[str]:
    """Return the slots of a trip that a call leaves as they are, so that nobody need ask."""
    arguments = call.arguments
    trip = tables.get("reservations", {}).get(arguments.get("reservation_id", ""))
    if trip is None or "flights" not in arguments:
        return frozenset()
    before = [(leg["flight_number"], leg["date"]) for leg in trip["flights"]]
    after = [(leg["flight_number"], leg["date"]) for leg in arguments["flights"]]
    kept = {"flights"} if before == after else set()
    if trip["cabin"] == arguments.get("cabin"):
        kept.add("cabin")
    return frozenset(kept)


_TRIP_SLOTS = (
    ("flights", "flights"),
    ("cabin", "cabin"),
    ("passengers", "passengers"),
    ("bags", "total_baggages"),
    ("insurance", "insurance"),
)


def _address(arguments: Mapping[str, Any], paragraph: Paragraph) -> str:
    lines = ("address1", "address2", "city", "state", "country", "zip")
    parts = [str(arguments[line]) for line in lines if arguments.get(line)]
    known = [part for part in parts if paragraph.says(part)]
    # The street makes an address: a city alone is a preference, and said in its sentence.
    return ", ".join(known) if parts[:1] == known[:1] else paragraph.about("address")


def _details(call: Call, tables: Tables) -> Iterator[str]:
    """Yield every detail of a call that a user may or may not know."""
    arguments = call.arguments
    for key in ("order_id", "reservation_id", "reason", "cabin", "address1", "address2"):
        yield str(arguments.get(key, ""))
    for key in ("payment_method_id", "payment_id"):
        yield str(arguments.get(key, ""))
    yield from arguments.get("item_ids", ())
    for _, new_id, options in differing_options(call, tables):
        yield new_id
        yield from map(str, options.values())
    for leg in arguments.get("flights", ()):
        yield leg["flight_number"]
        yield leg["date"]
    for passenger in arguments.get("passengers", ()):
        yield f"{passenger['first_name']} {passenger['last_name']}"
        yield passenger["dob"]
    for payment in arguments.get("payment_methods", ()):
        yield payment["payment_id"]
        yield f"{payment['amount']:g}"
    for place in ("origin", "destination"):
        yield str(arguments.get(place, ""))
        yield CITIES.get(arguments.get(place, ""), "")
    if call.name == "send_certificate":
        yield f"{arguments['amount']:g}"


def _listed(words: Sequence[str]) -> str:
    """Return words as a list, equal ones counted.

    >>> _listed(["Lamp", "Kettle", "Lamp"])
    '2 x Lamp and Kettle'
    """
    counted = [f"{count} x {word}" if count > 1 else word for word, count in Counter(words).items()]
    if len(counted) < 2:
        return "".join(counted)
    return f"{', '.join(counted[:-1])} and {counted[-1]}"

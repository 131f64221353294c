from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gem_envs_agents.desk.database import Database
from gem_envs_agents.desk.tool import Call, Outcome, Tool, by_name, run
from gem_envs_agents.service.shop import RETURN_DAYS, shop
from gem_envs_agents.service.tools import AGENT_TOOLS, USER_TOOLS
from gem_envs_agents.tau.airline import AIRLINE_2024
from gem_envs_agents.tau.retail import RETAIL_2024, RETAIL_V1

from .small import ADDRESS, AIRLINE, MOVED, RETAIL

SERVICE = shop(random.Random(3))
TOOLS = {
    "retail": by_name((*RETAIL_V1,)),
    "airline": by_name(AIRLINE_2024),
    "service": AGENT_TOOLS,
    "device": USER_TOOLS,
}
TABLES: Mapping[str, Any] = {
    "retail": RETAIL,
    "airline": AIRLINE,
    "service": SERVICE,
    "device": {"device": {"mine": {"serial": "SN1", "was_restarted": False}}},
}
EVERY = [(name, tool) for name in TOOLS for tool in TOOLS[name].values()]
FLIGHT = {"flight_number": "F3", "date": "2024-05-20"}
BO = {"first_name": "Bo", "last_name": "Lind", "dob": "1990-01-02"}
BOOKING = {
    "user_id": "bo_2",
    "origin": "JFK",
    "destination": "SEA",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [FLIGHT],
    "passengers": [BO],
    "payment_methods": [
        {"payment_id": "certificate_1", "amount": 100},
        {"payment_id": "gift_card_1", "amount": 50},
    ],
    "total_baggages": 1,
    "nonfree_baggages": 0,
    "insurance": "no",
}
ITEMS = {"order_id": "#W1", "item_ids": ["k1"], "new_item_ids": ["k2"]}
RIGHT: dict[str, dict[str, Any]] = {
    "cancel_pending_order": {"order_id": "#W1", "reason": "no longer needed"},
    "modify_pending_order_address": {"order_id": "#W1", **MOVED},
    "modify_pending_order_payment": {"order_id": "#W1", "payment_method_id": "credit_card_1"},
    "modify_pending_order_items": {**ITEMS, "payment_method_id": "paypal_1"},
    "return_delivered_order_items": {
        "order_id": "#W2",
        "item_ids": ["k1"],
        "payment_method_id": "gift_card_1",
    },
    "exchange_delivered_order_items": {
        **ITEMS,
        "order_id": "#W2",
        "payment_method_id": "gift_card_1",
    },
    "modify_user_address": {"user_id": "ada_1", **MOVED},
    "book_reservation": BOOKING,
    "cancel_reservation": {"reservation_id": "RES001"},
    "update_reservation_flights": {
        "reservation_id": "RES001",
        "cabin": "business",
        "flights": [{"flight_number": "F1", "date": "2024-05-20"}],
        "payment_id": "credit_card_1",
    },
    "update_reservation_baggages": {
        "reservation_id": "RES001",
        "total_baggages": 2,
        "nonfree_baggages": 1,
        "payment_id": "gift_card_1",
    },
    "update_reservation_passengers": {
        "reservation_id": "RES001",
        "passengers": [{**BO, "first_name": "Eva"}],
    },
    "send_certificate": {"user_id": "bo_2", "amount": 50},
}
DELIVERED = next(
    order
    for order in SERVICE["orders"].values()
    if order["status"] == "delivered" and order["days_since_delivery"] <= RETURN_DAYS
)
OPEN = next(order for order in SERVICE["orders"].values() if order["status"] == "open")
BOUGHT = DELIVERED["items"][0]
OTHER = next(
    item["item_id"]
    for item in SERVICE["products"][BOUGHT["product_id"]]["items"].values()
    if item["available"] and item["item_id"] != BOUGHT["item_id"]
)
ON_ITEM = {"order_id": DELIVERED["order_id"], "item_id": BOUGHT["item_id"]}
RIGHT_SERVICE: dict[str, dict[str, Any]] = {
    "cancel_order": {"order_id": OPEN["order_id"]},
    "change_address": {"order_id": OPEN["order_id"], "address": "9 Oak Road, Denver 80002"},
    "send_back": ON_ITEM,
    "exchange": {**ON_ITEM, "new_item_id": OTHER},
    "register_repair": {**ON_ITEM, "serial": "SN1"},
    "log_refusal": {"order_id": OPEN["order_id"], "rule": "not delivered"},
    "restart_device": {},
}
CUSTOMER = SERVICE["customers"][OPEN["customer_id"]]
ROUTE = {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}
RIGHT_READS: dict[str, dict[str, dict[str, Any]]] = {
    "retail": {
        "find_user_id_by_email": {"email": "ada@example.com"},
        "find_user_id_by_name_zip": {"first_name": "Ada", "last_name": "Berg", "zip": "80001"},
        "get_user_details": {"user_id": "ada_1"},
        "get_order_details": {"order_id": "#W1"},
        "get_product_details": {"product_id": "kettle"},
        "get_item_details": {"item_id": "k1"},
        "list_all_product_types": {},
    },
    "airline": {
        "get_user_details": {"user_id": "bo_2"},
        "get_reservation_details": {"reservation_id": "RES001"},
        "list_all_airports": {},
        "search_direct_flight": ROUTE,
        "search_onestop_flight": ROUTE,
    },
    "service": {
        "find_customer": {"email": CUSTOMER["email"]},
        "find_customer_by_name": {"name": CUSTOMER["name"], "zip": CUSTOMER["zip"]},
        "show_order": {"order_id": OPEN["order_id"]},
        "show_product": {"product_id": BOUGHT["product_id"]},
    },
    "device": {"read_label": {}},
}
RIGHT_SHARED: dict[str, dict[str, Any]] = {
    "calculate": {"expression": "6 * 7"},
    "think": {"thought": "What now?"},
    "transfer_to_human_agents": {"summary": "A lost parcel."},
}
IDS = {
    *("order_id", "user_id", "product_id", "item_id", "new_item_id", "reservation_id"),
    *("payment_method_id", "payment_id", "email", "item_ids", "new_item_ids", "zip"),
}
"""Arguments whose value has to be one that the tables hold."""
FREE = {"modify_pending_order_address", "modify_user_address"}
"""Tools whose zip is no key, but what is written."""
SERVICE_IDS = (OPEN["order_id"], *ON_ITEM.values(), OTHER)
WORDS = (
    *SERVICE_IDS,
    "#W1",
    "#W2",
    "ada_1",
    "bo_2",
    "k1",
    "k2",
    "paypal_1",
    "gift_card_1",
    "RES001",
    "F1",
    "",
)
NUMBERS = (0, -1, 10**30, 1.5, float("nan"), float("inf"))
SCALARS = (None, True, *NUMBERS, "2024-05-20", "\ud800", *WORDS)
KEYS = ("flight_number", "date", "amount", "first_name", "$")


def anything(rng: random.Random, depth: int = 2) -> Any:
    """Draw JSON data, and what is none."""
    kind = rng.random()
    if depth and kind < 0.25:
        return [anything(rng, depth - 1) for _ in range(rng.randrange(4))]
    if depth and kind < 0.4:
        return {rng.choice(KEYS): anything(rng, depth - 1) for _ in range(rng.randrange(4))}
    return rng.choice(SCALARS)


def of_type(rng: random.Random, schema: Mapping[str, Any]) -> Any:
    """Draw an argument that fits a schema, so that the tool itself is reached."""
    kind = schema["type"]
    if kind == "array":
        return [of_type(rng, schema["items"]) for _ in range(rng.randrange(1, 4))]
    if kind == "object":
        return {name: of_type(rng, each) for name, each in schema["properties"].items()}
    if kind == "string":
        return rng.choice(schema.get("enum", [*WORDS, "2024-05-20", "x" * 99]))
    return rng.choice((0, 1, 50, 999_999))


def call(shop: str, name: str, /, **arguments: Any) -> Outcome:
    return run(TOOLS[shop], Database(TABLES[shop], {}), Call(name, arguments))


def shop_of(name: str) -> str:
    return next(shop_name for shop_name, tools in TOOLS.items() if name in tools)


@pytest.mark.parametrize(("shop", "tool"), EVERY, ids=lambda each: getattr(each, "name", each))
def test_bad_arguments_are_an_error_text_and_write_nothing(shop: str, tool: Tool) -> None:
    rng = random.Random(f"{shop} {tool.name}")
    before = copy.deepcopy(TABLES[shop])
    for _ in range(300):
        draw = rng.choice((anything, of_type))
        schemas = tool.parameters.items()
        arguments = {
            name: of_type(rng, schema) if draw is of_type else anything(rng)
            for name, schema in schemas
        }
        if rng.random() < 0.1:
            arguments[rng.choice(KEYS)] = anything(rng)
        outcome = run(TOOLS[shop], Database(TABLES[shop], {}), Call(tool.name, arguments))
        assert outcome.text.startswith("Error: ") or not outcome.is_error
        if outcome.is_error or not tool.writes:
            assert outcome.database.state() == "{}"
    assert TABLES[shop] == before


def right(shop: str, name: str) -> dict[str, Any]:
    """Return arguments by which a tool does what it is for."""
    return {**RIGHT, **RIGHT_SERVICE, **RIGHT_SHARED, **RIGHT_READS[shop]}[name]


@pytest.mark.parametrize(("shop", "tool"), EVERY, ids=lambda each: getattr(each, "name", each))
def test_a_call_that_is_right_is_no_error(shop: str, tool: Tool) -> None:
    outcome = call(shop, tool.name, **right(shop, tool.name))
    assert not outcome.is_error, outcome.text
    assert (outcome.database.state() != "{}") == tool.writes


@pytest.mark.parametrize(("shop", "tool"), EVERY, ids=lambda each: getattr(each, "name", each))
def test_a_call_that_is_nearly_right_is_an_error(shop: str, tool: Tool) -> None:
    for arguments in nearly_right(tool, right(shop, tool.name)):
        outcome = call(shop, tool.name, **arguments)
        assert outcome.is_error, arguments
        assert outcome.database.state() == "{}"


def nearly_right(tool: Tool, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield arguments with one thing wrong: more, missing, of another type, unknown."""
    yield {**arguments, "force": True}
    for name, value in arguments.items():
        yield {each: arguments[each] for each in arguments if each != name}
        yield {**arguments, name: None}
        yield {**arguments, name: 7 if isinstance(value, str) else "7"}
        yield {**arguments, name: {"$eq": value}}
        yield {**arguments, name: [] if isinstance(value, list) else [value]}
        is_key = name in IDS and tool.name not in FREE
        if is_key or name in ("order_id", "user_id") or "enum" in tool.parameters[name]:
            nobody = [f"{value[0]}x", *value[1:]] if isinstance(value, list) else f"{value}x"
            yield {**arguments, name: nobody}


@pytest.mark.parametrize(("shop", "tool"), EVERY, ids=lambda each: getattr(each, "name", each))
def test_every_tool_has_a_schema_with_all_its_arguments(shop: str, tool: Tool) -> None:
    parameters = tool.schema()["function"]["parameters"]
    assert parameters["required"] == list(tool.parameters)
    assert tool.description.endswith(".")


@pytest.mark.parametrize("shop", ["retail", "airline"])
def test_tools_take_what_those_that_were_published_take(shop: str, local_data: Path) -> None:
    text = (local_data / f"tau_{shop}" / "tools.json").read_text(encoding="utf-8")
    published = {
        schema["function"]["name"]: signature(schema["function"]["parameters"])
        for schema in json.loads(text)
    }
    tools = RETAIL_2024 if shop == "retail" else AIRLINE_2024
    ours = {tool.name: signature(tool.schema()["function"]["parameters"]) for tool in tools}
    assert ours == published


def signature(schema: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return what a schema says but for its descriptions: types, choices, what is required."""
    said: dict[str, Any] = {path: (schema["type"], schema.get("enum"))}
    for name, inner in schema.get("properties", {}).items():
        said |= signature(inner, f"{path}.{name}")
    if "items" in schema:
        said |= signature(schema["items"], f"{path}[]")
    if "required" in schema:
        said[f"{path} required"] = sorted(schema["required"])
    return said


def test_a_pending_order_is_paid_by_another_method() -> None:
    arguments = RIGHT["modify_pending_order_payment"]
    outcome = call("retail", "modify_pending_order_payment", **arguments)
    order = outcome.database.get("orders", "#W1")
    assert order is not None
    assert [
        (payment["transaction_type"], payment["amount"], payment["payment_method_id"])
        for payment in order["payment_history"]
    ] == [
        ("payment", 40.0, "paypal_1"),
        ("payment", 40.0, "credit_card_1"),
        ("refund", 40.0, "paypal_1"),
    ]


def test_it_is_not_paid_twice_by_one_method_nor_by_a_card_that_holds_less() -> None:
    for method, why in (("paypal_1", "already"), ("gift_card_1", "holds 20")):
        arguments = {"order_id": "#W1", "payment_method_id": method}
        outcome = call("retail", "modify_pending_order_payment", **arguments)
        assert outcome.is_error
        assert why in outcome.text


def test_a_tool_that_does_not_exist_is_an_error_text() -> None:
    assert "There is no tool 'delete_all'" in call("retail", "delete_all").text


def test_a_cancelled_order_pays_a_gift_card_back() -> None:
    paid = call("retail", "modify_pending_order_payment", order_id="#W1", payment_method_id="x")
    assert paid.is_error
    tables = copy.deepcopy(RETAIL)
    tables["orders"]["#W1"]["payment_history"][0]["payment_method_id"] = "gift_card_1"
    arguments = {"order_id": "#W1", "reason": "ordered by mistake"}
    after = run(TOOLS["retail"], Database(tables, {}), Call("cancel_pending_order", arguments))
    user = after.database.get("users", "ada_1")
    assert user is not None
    assert user["payment_methods"]["gift_card_1"]["balance"] == 60.0


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("cancel_pending_order", {"order_id": "#W2"}, "'delivered'"),
        ("modify_pending_order_items", {"new_item_ids": ["k4"]}, "cannot be had"),
        ("modify_pending_order_items", {"new_item_ids": ["l1"]}, "no variant"),
        ("modify_pending_order_items", {"new_item_ids": ["k2", "k2"]}, "to take their places"),
        (
            "modify_pending_order_items",
            {"new_item_ids": ["k3"], "payment_method_id": "gift_card_1"},
            "holds 20",
        ),
        ("return_delivered_order_items", {"item_ids": ["k1", "k1"]}, "fewer of it"),
        ("exchange_delivered_order_items", {"order_id": "#W1"}, "'pending'"),
        ("book_reservation", {"passengers": [BO] * 4}, "Too few seats"),
        ("book_reservation", {"passengers": [BO] * 6}, "at most"),
        ("book_reservation", {"nonfree_baggages": 1}, "the price is 200"),
        ("book_reservation", {"flights": [{**FLIGHT, "date": "2024-05-21"}]}, "'delayed'"),
        ("update_reservation_baggages", {"payment_id": "certificate_1"}, "certificate"),
        ("update_reservation_baggages", {"nonfree_baggages": 9}, "holds 60"),
        ("update_reservation_passengers", {"passengers": [BO, BO]}, "number of passengers"),
    ],
)
def test_what_the_policy_rules_out_is_refused(
    name: str, arguments: Mapping[str, Any], why: str
) -> None:
    outcome = call(shop_of(name), name, **{**RIGHT[name], **arguments})
    assert outcome.is_error
    assert why in outcome.text


def test_an_order_is_modified_once() -> None:
    changed = call("retail", "modify_pending_order_items", **RIGHT["modify_pending_order_items"])
    again = Call("cancel_pending_order", RIGHT["cancel_pending_order"])
    assert run(TOOLS["retail"], changed.database, again).is_error


def test_pairs_in_another_order_are_the_same_exchange() -> None:
    pairs = {"order_id": "#W2", "payment_method_id": "paypal_1"}
    one = call(
        "retail",
        "exchange_delivered_order_items",
        **pairs,
        item_ids=["k1", "l1"],
        new_item_ids=["k2", "l2"],
    )
    other = call(
        "retail",
        "exchange_delivered_order_items",
        **pairs,
        item_ids=["l1", "k1"],
        new_item_ids=["l2", "k2"],
    )
    assert one.database.state() == other.database.state() != "{}"


def test_a_certificate_is_gone_once_it_has_paid() -> None:
    user = call("airline", "book_reservation", **BOOKING).database.get("users", "bo_2")
    assert user is not None
    assert "certificate_1" not in user["payment_methods"]
    assert user["payment_methods"]["gift_card_1"]["amount"] == 10
    assert user["reservations"] == ["RES001", "NEW001"]


def test_a_flight_that_stays_keeps_its_price() -> None:
    kept = {"flight_number": "F1", "date": "2024-05-20"}
    more = {"flight_number": "F2", "date": "2024-05-20"}
    outcome = call(
        "airline",
        "update_reservation_flights",
        reservation_id="RES001",
        cabin="economy",
        flights=[kept, more],
        payment_id="credit_card_1",
    )
    reservation = outcome.database.get("reservations", "RES001")
    assert reservation is not None
    assert [leg["price"] for leg in reservation["flights"]] == [140, 150]
    assert reservation["payment_history"][-1] == {"payment_id": "credit_card_1", "amount": 150}


def test_one_stop_waits_for_the_first_flight_to_land() -> None:
    route = {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}
    assert "F2" in call("airline", "search_onestop_flight", **route).text
    assert "F3" in call("airline", "search_direct_flight", **route).text
    assert call("airline", "search_onestop_flight", **{**route, "origin": "SEA"}).text == "[]"


def test_a_user_is_found_by_either_key() -> None:
    name = {"first_name": "ada", "last_name": "BERG", "zip": ADDRESS["zip"]}
    assert call("retail", "find_user_id_by_name_zip", **name).text == "ada_1"
    assert call("retail", "find_user_id_by_email", email="ADA@example.com").text == "ada_1"

"""The tools of the generated shop, and those of its customers' devices.

The tools hold the rules of the policy that the data can tell, but for the customer's consent and
what the customer has to try first: those are the agent's to keep.
"""

from __future__ import annotations

from gem_envs_agents.desk.database import Draft, Record
from gem_envs_agents.desk.tool import Refusal, Tool, by_name, reading, text_parameter, writing
from gem_envs_agents.service.shop import RETURN_DAYS

__all__ = ["AGENT_TOOLS", "RULES", "USER_TOOLS"]

RULES = ("not open any more", "not delivered", "too late", "sold out")
"""Why a request is turned down, as `log_refusal` takes it."""

_ORDER = text_parameter("the order number, such as '#A12345'")
_ITEM = text_parameter("the item id, such as 'P1234K-0'")


def _find_by_email(draft: Draft, email: str) -> Record:
    for customer_id in draft.keys("customers"):
        customer = reading(draft, "customers", customer_id)
        if customer["email"] == email.strip().casefold():
            return customer
    raise Refusal("No customer has this email.")


def _find_by_name(draft: Draft, name: str, **place: str) -> Record:
    wanted = (name.strip().casefold(), place["zip"].strip())
    for customer_id in draft.keys("customers"):
        customer = reading(draft, "customers", customer_id)
        if (customer["name"].casefold(), customer["zip"]) == wanted:
            return customer
    raise Refusal("No customer has this name and zip code.")


def _show_order(draft: Draft, order_id: str) -> Record:
    return reading(draft, "orders", order_id)


def _show_product(draft: Draft, product_id: str) -> Record:
    return reading(draft, "products", product_id)


def _cancel(draft: Draft, order_id: str) -> Record:
    order = writing(draft, "orders", order_id)
    if order["status"] != "open":
        raise Refusal(f"The order {order_id} is not open any more.")
    order["status"] = "cancelled"
    return order


def _change_address(draft: Draft, order_id: str, address: str) -> Record:
    order = writing(draft, "orders", order_id)
    if order["status"] != "open":
        raise Refusal(f"The order {order_id} is not open any more.")
    order["address"] = " ".join(address.split())
    return order


def _item_to_send_back(draft: Draft, order_id: str, item_id: str) -> tuple[Record, Record]:
    """Return an order to write into and its item. Raises Refusal where the rules forbid it."""
    order = writing(draft, "orders", order_id)
    if order["status"] != "delivered":
        raise Refusal(f"The order {order_id} is not delivered.")
    if order["days_since_delivery"] > RETURN_DAYS:
        raise Refusal(f"The order {order_id} was delivered more than {RETURN_DAYS} days ago.")
    return order, _bought(order, item_id)


def _bought(order: Record, item_id: str) -> Record:
    for item in order["items"]:
        if item["item_id"] == item_id and item["status"] == "bought":
            found: Record = item
            return found
    raise Refusal(f"The order {order['order_id']} has no {item_id!r:.40} that is bought.")


def _send_back(draft: Draft, order_id: str, item_id: str) -> Record:
    order, item = _item_to_send_back(draft, order_id, item_id)
    item["status"] = "coming back"
    return order


def _exchange(draft: Draft, order_id: str, item_id: str, new_item_id: str) -> Record:
    order, item = _item_to_send_back(draft, order_id, item_id)
    new = reading(draft, "products", item["product_id"])["items"].get(new_item_id)
    if new is None:
        raise Refusal(f"{new_item_id!r:.40} is no item of the same product.")
    if not new["available"]:
        raise Refusal(f"The item {new_item_id} is sold out.")
    item["status"] = f"exchanged for {new_item_id}"
    return order


def _register_repair(draft: Draft, order_id: str, item_id: str, serial: str) -> Record:
    order = reading(draft, "orders", order_id)
    if order["status"] != "delivered":
        raise Refusal(f"The order {order_id} is not delivered.")
    _bought(order, item_id)
    repair = {"order_id": order_id, "item_id": item_id, "serial": serial.strip().upper()}
    draft.add("repairs", f"{order_id}/{item_id}", repair)
    return repair


def _log_refusal(draft: Draft, order_id: str, rule: str) -> Record:
    reading(draft, "orders", order_id)
    draft.add("refusals", order_id, {"order_id": order_id, "rule": rule})
    return {"order_id": order_id, "rule": rule}


AGENT_TOOLS = by_name(
    (
        Tool(
            "find_customer",
            "Find a customer by the email.",
            _find_by_email,
            {"email": text_parameter("the email")},
        ),
        Tool(
            "find_customer_by_name",
            "Find a customer by name and zip code.",
            _find_by_name,
            {"name": text_parameter("first and last name"), "zip": text_parameter("the zip code")},
        ),
        Tool("show_order", "Show an order.", _show_order, {"order_id": _ORDER}),
        Tool(
            "show_product",
            "Show a product and its items: colors, prices, what is available.",
            _show_product,
            {"product_id": text_parameter("the product id, such as 'P1234K'")},
        ),
        Tool("cancel_order", "Cancel an open order.", _cancel, {"order_id": _ORDER}, writes=True),
        Tool(
            "change_address",
            "Change where an open order is sent.",
            _change_address,
            {"order_id": _ORDER, "address": text_parameter("the whole address in one line")},
            writes=True,
        ),
        Tool(
            "send_back",
            "Take an item of a delivered order back.",
            _send_back,
            {"order_id": _ORDER, "item_id": _ITEM},
            writes=True,
        ),
        Tool(
            "exchange",
            "Exchange an item of a delivered order for another item of the same product.",
            _exchange,
            {"order_id": _ORDER, "item_id": _ITEM, "new_item_id": _ITEM},
            writes=True,
        ),
        Tool(
            "register_repair",
            "Register the repair of an item, with the serial number on its label.",
            _register_repair,
            {"order_id": _ORDER, "item_id": _ITEM, "serial": text_parameter("such as 'SN12345'")},
            writes=True,
        ),
        Tool(
            "log_refusal",
            "Log that a request on an order was turned down, and by which rule.",
            _log_refusal,
            {"order_id": _ORDER, "rule": text_parameter("the rule", *RULES)},
            writes=True,
            needs_consent=False,
        ),
    )
)
"""What an agent of the shop may call."""


def _read_label(draft: Draft) -> str:
    return f"The label says {reading(draft, 'device', 'mine')['serial']}."


def _restart(draft: Draft) -> str:
    writing(draft, "device", "mine")["was_restarted"] = True
    return "It was restarted, and it still does not work."


USER_TOOLS = by_name(
    (
        Tool("read_label", "Read the label of the device.", _read_label, {}),
        Tool("restart_device", "Restart the device.", _restart, {}, writes=True),
    )
)
"""What a customer may call: on the device at home, which the shop cannot reach."""

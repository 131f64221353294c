"""The retail shop's tools: pure functions of ours over the published tables.

The rules are those that the policy states, and the tools hold every rule that the data can tell: an
order's status, what a product's variants are, what a gift card holds. Amounts are in dollars.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from gem_envs_agents.desk.database import Draft, Record
from gem_envs_agents.desk.tool import Refusal, Tool, reading, text_parameter, writing
from gem_envs_agents.tau._shared_tools import (
    ADDRESS,
    SHARED,
    address_of,
    gift_cards_can_pay,
    move_gift_card,
)
from gem_envs_agents.tau.retail_reads import ITEM_DETAILS, ORDER_ID, READS

__all__ = ["RETAIL_2024", "RETAIL_V1"]

_REASONS = ("no longer needed", "ordered by mistake")
_PAYMENT = text_parameter("the id of a method of payment of the user, such as 'paypal_0000000'")


def _ids(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _order_with_status(draft: Draft, order_id: str, status: str) -> Record:
    """Return an order to write into. Raises Refusal where its status is another."""
    order = reading(draft, "orders", order_id)
    if order["status"] != status:
        raise Refusal(f"The order {order_id} is {order['status']!r}, and not {status!r}.")
    return writing(draft, "orders", order_id)


def _method(draft: Draft, order: Record, payment_id: str) -> Record:
    methods = reading(draft, "users", order["user_id"])["payment_methods"]
    if payment_id not in methods:
        raise Refusal(f"The user has no method of payment {payment_id!r:.60}.")
    method: Record = methods[payment_id]
    return method


def _items_of(order: Record, item_ids: list[str]) -> list[Record]:
    """Return the items of an order by their ids. Raises Refusal where it has fewer of one."""
    missing = Counter(item_ids) - Counter(item["item_id"] for item in order["items"])
    if missing:
        raise Refusal(f"The order has no {next(iter(missing))!r:.60}, or fewer of it.")
    by_id = {item["item_id"]: item for item in order["items"]}
    return [by_id[item_id] for item_id in item_ids]


def _variants(draft: Draft, items: list[Record], new_ids: list[str]) -> list[Record]:
    """Return the variants that take the places of items. Raises Refusal where one cannot."""
    if len(items) != len(new_ids):
        raise Refusal(f"There are {len(items)} items, and {len(new_ids)} to take their places.")
    variants = []
    for item, new_id in zip(items, new_ids, strict=True):
        variant = reading(draft, "products", item["product_id"])["variants"].get(new_id)
        if variant is None:
            raise Refusal(f"{new_id!r:.60} is no variant of the product {item['name']}.")
        if not variant["available"]:
            raise Refusal(f"The item {new_id} cannot be had at present.")
        variants.append(variant)
    return variants


def _difference(items: list[Record], variants: list[Record]) -> float:
    before = sum(item["price"] for item in items)
    after = sum(variant["price"] for variant in variants)
    return round(float(after - before), 2)


def _payment(kind: str, amount: float, payment_id: str) -> Record:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": payment_id}


def _cancel(draft: Draft, order_id: str, reason: str) -> Record:
    order = _order_with_status(draft, order_id, "pending")
    user = writing(draft, "users", order["user_id"])
    for payment in list(order["payment_history"]):
        payment_id = payment["payment_method_id"]
        order["payment_history"].append(_payment("refund", payment["amount"], payment_id))
        move_gift_card(user, payment_id, payment["amount"])
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    return order


def _modify_address(draft: Draft, order_id: str, **address: str) -> Record:
    order = _order_with_status(draft, order_id, "pending")
    order["address"] = address_of(address)
    return order


def _modify_payment(draft: Draft, order_id: str, payment_method_id: str) -> Record:
    order = _order_with_status(draft, order_id, "pending")
    method = _method(draft, order, payment_method_id)
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        raise Refusal(f"The order {order_id} was not paid by one payment.")
    before = history[0]["payment_method_id"]
    amount = history[0]["amount"]
    if before == payment_method_id:
        raise Refusal(f"The order {order_id} is paid by {before} already.")
    gift_cards_can_pay(method, amount)
    history.append(_payment("payment", amount, payment_method_id))
    history.append(_payment("refund", amount, before))
    user = writing(draft, "users", order["user_id"])
    move_gift_card(user, payment_method_id, -amount)
    move_gift_card(user, before, amount)
    return order


def _modify_items(
    draft: Draft,
    order_id: str,
    item_ids: list[str],
    new_item_ids: list[str],
    payment_method_id: str,
) -> Record:
    order = _order_with_status(draft, order_id, "pending")
    method = _method(draft, order, payment_method_id)
    items = _items_of(order, item_ids)
    variants = _variants(draft, items, new_item_ids)
    difference = _difference(items, variants)
    gift_cards_can_pay(method, difference)
    # One place of the order an id: two equal items may become two different ones.
    for item_id, variant in zip(item_ids, variants, strict=True):
        item = next(each for each in order["items"] if each["item_id"] == item_id)
        item["item_id"] = variant["item_id"]
        item["price"] = variant["price"]
        item["options"] = dict(variant["options"])
    if difference:
        kind = "payment" if difference > 0 else "refund"
        order["payment_history"].append(_payment(kind, abs(difference), payment_method_id))
        user = writing(draft, "users", order["user_id"])
        move_gift_card(user, payment_method_id, -difference)
    order["status"] = "pending (items modified)"
    return order


def _return(draft: Draft, order_id: str, item_ids: list[str], payment_method_id: str) -> Record:
    order = _order_with_status(draft, order_id, "delivered")
    method = _method(draft, order, payment_method_id)
    paid_by = {payment["payment_method_id"] for payment in order["payment_history"]}
    if method["source"] != "gift_card" and payment_method_id not in paid_by:
        raise Refusal("A refund goes to a gift card, or to what the order was paid by.")
    _items_of(order, item_ids)
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return order


def _exchange(
    draft: Draft,
    order_id: str,
    item_ids: list[str],
    new_item_ids: list[str],
    payment_method_id: str,
) -> Record:
    order = _order_with_status(draft, order_id, "delivered")
    method = _method(draft, order, payment_method_id)
    items = _items_of(order, item_ids)
    variants = _variants(draft, items, new_item_ids)
    difference = _difference(items, variants)
    gift_cards_can_pay(method, difference)
    # In the order of the pairs, so that naming them in another order is the same exchange.
    pairs = sorted(zip(item_ids, new_item_ids, strict=True))
    order["status"] = "exchange requested"
    order["exchange_items"] = [old for old, _ in pairs]
    order["exchange_new_items"] = [new for _, new in pairs]
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return order


def _modify_user_address(draft: Draft, user_id: str, **address: str) -> Record:
    user = writing(draft, "users", user_id)
    user["address"] = address_of(address)
    return user


_WRITES = (
    Tool(
        "cancel_pending_order",
        "Cancel a pending order and refund it. The user has to confirm first.",
        _cancel,
        {"order_id": ORDER_ID, "reason": text_parameter("the reason", *_REASONS)},
        writes=True,
    ),
    Tool(
        "modify_pending_order_address",
        "Change where a pending order is sent. The user has to confirm first.",
        _modify_address,
        {"order_id": ORDER_ID, **ADDRESS},
        writes=True,
    ),
    Tool(
        "modify_pending_order_payment",
        "Change how a pending order is paid. The user has to confirm first.",
        _modify_payment,
        {"order_id": ORDER_ID, "payment_method_id": _PAYMENT},
        writes=True,
    ),
    Tool(
        "modify_pending_order_items",
        "Put other variants of the same products into a pending order, once an order. The user "
        "has to confirm first.",
        _modify_items,
        {
            "order_id": ORDER_ID,
            "item_ids": _ids("the items that go"),
            "new_item_ids": _ids("the items that come, each at the place of the one that goes"),
            "payment_method_id": _PAYMENT,
        },
        writes=True,
    ),
    Tool(
        "return_delivered_order_items",
        "Take items of a delivered order back, once an order. The user has to confirm first.",
        _return,
        {
            "order_id": ORDER_ID,
            "item_ids": _ids("the items that come back"),
            "payment_method_id": _PAYMENT,
        },
        writes=True,
    ),
    Tool(
        "exchange_delivered_order_items",
        "Exchange items of a delivered order for other variants of the same products, once an "
        "order. The user has to confirm first.",
        _exchange,
        {
            "order_id": ORDER_ID,
            "item_ids": _ids("the items that come back"),
            "new_item_ids": _ids("the items that go out, each at the place of what comes back"),
            "payment_method_id": _PAYMENT,
        },
        writes=True,
    ),
    Tool(
        "modify_user_address",
        "Change a user's own address. The user has to confirm first.",
        _modify_user_address,
        {"user_id": text_parameter("the user id"), **ADDRESS},
        writes=True,
    ),
)
RETAIL_2024 = (*READS, *_WRITES, *SHARED)
"""The tools of the retail tasks of 2024."""
RETAIL_V1 = (*READS, ITEM_DETAILS, *_WRITES, *(tool for tool in SHARED if tool.name != "think"))
"""The tools of the corrected retail tasks."""

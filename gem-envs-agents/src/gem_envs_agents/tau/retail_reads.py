"""The retail shop's tools that only read."""

from __future__ import annotations

from typing import Any

from gem_envs_agents.desk.database import Draft, Record
from gem_envs_agents.desk.tool import Refusal, Tool, reading, text_parameter

__all__ = ["ITEM_DETAILS", "ORDER_ID", "READS"]

ORDER_ID = text_parameter("the order id, such as '#W0000000', with its '#'")


def _find_by_email(draft: Draft, email: str) -> str:
    wanted = email.strip().casefold()
    for user_id in draft.keys("users"):
        if reading(draft, "users", user_id)["email"].casefold() == wanted:
            return user_id
    raise Refusal("No user has this email.")


def _find_by_name_zip(draft: Draft, first_name: str, last_name: str, **place: str) -> str:
    wanted = (first_name.strip().casefold(), last_name.strip().casefold(), place["zip"].strip())
    for user_id in draft.keys("users"):
        user = reading(draft, "users", user_id)
        name = user["name"]
        known = (name["first_name"].casefold(), name["last_name"].casefold())
        if (*known, user["address"]["zip"]) == wanted:
            return user_id
    raise Refusal("No user has this name and zip code.")


def _user(draft: Draft, user_id: str) -> Record:
    return reading(draft, "users", user_id)


def _order(draft: Draft, order_id: str) -> Record:
    return reading(draft, "orders", order_id)


def _product(draft: Draft, product_id: str) -> Record:
    return reading(draft, "products", product_id)


def _product_types(draft: Draft) -> dict[str, str]:
    named = {key: reading(draft, "products", key)["name"] for key in draft.keys("products")}
    return {name: key for key, name in sorted(named.items(), key=lambda each: each[1])}


def _item(draft: Draft, item_id: str) -> dict[str, Any]:
    for product_id in draft.keys("products"):
        variant = reading(draft, "products", product_id)["variants"].get(item_id)
        if variant is not None:
            return dict(variant)
    raise Refusal(f"There is no item {item_id!r:.60}.")


READS = (
    Tool(
        "find_user_id_by_email",
        "Find a user's id by the email.",
        _find_by_email,
        {"email": text_parameter("the email")},
    ),
    Tool(
        "find_user_id_by_name_zip",
        "Find a user's id by name and zip code, where the email is not known.",
        _find_by_name_zip,
        {
            "first_name": text_parameter("the first name"),
            "last_name": text_parameter("the last name"),
            "zip": text_parameter("the zip code"),
        },
    ),
    Tool(
        "get_user_details",
        "Show a user: address, email, methods of payment, ids of orders.",
        _user,
        {"user_id": text_parameter("the user id, such as 'sara_doe_496'")},
    ),
    Tool(
        "get_order_details",
        "Show an order: its items, status, address and payments.",
        _order,
        {"order_id": ORDER_ID},
    ),
    Tool(
        "get_product_details",
        "Show a product with its variants: options, price, whether each can be had.",
        _product,
        {"product_id": text_parameter("the product id, which is no item id")},
    ),
    Tool(
        "list_all_product_types",
        "List the names of all products with their product ids.",
        _product_types,
        {},
    ),
)
ITEM_DETAILS = Tool(
    "get_item_details",
    "Show one variant of a product: options, price, whether it can be had.",
    _item,
    {"item_id": text_parameter("the item id, which is no product id")},
)
"""A tool that the corrected tasks use, and those of 2024 do not know."""

"""Make up a shop: products, customers, orders. Knows nothing about tasks."""

from __future__ import annotations

import random
from typing import Any

from gem_envs_agents.desk.database import Record

__all__ = ["COLORS", "PRODUCTS", "RETURN_DAYS", "shop"]

PRODUCTS = (
    "kettle",
    "lamp",
    "toaster",
    "radio",
    "clock",
    "blender",
    "heater",
    "fan",
    "camera",
    "printer",
    "speaker",
    "keyboard",
)
COLORS = ("red", "blue", "green", "black", "white")
RETURN_DAYS = 30
"""Days after delivery in which an item may be sent back or exchanged."""

_CUSTOMERS = 12
_FIRST = ("Ada", "Bo", "Cleo", "Dan", "Edda", "Finn", "Gwen", "Hugo", "Iris", "Jon", "Kaja", "Leo")
_LAST = ("Alder", "Berg", "Costa", "Dale", "Ender", "Frost", "Gray", "Holm", "Ivers", "Jensen")
_STREETS = ("Mill Lane", "Oak Road", "High Street", "Station Road", "Park Avenue")
_CITIES = ("Denver", "Austin", "Boston", "Seattle", "Chicago")

Tables = dict[str, dict[str, Record]]


def shop(rng: random.Random) -> Tables:
    """Return the tables of a shop. Every product has each color, one of which is sold out."""
    products = {}
    for name in PRODUCTS:
        product_id = f"P{rng.randrange(1000, 10000)}{name[0].upper()}"
        products[product_id] = _product(rng, product_id, name)
    tables: Tables = {
        "customers": {},
        "orders": {},
        "products": products,
        "refusals": {},
        "repairs": {},
    }
    for number in range(_CUSTOMERS):
        _add_customer(rng, tables, number)
    return tables


def address(rng: random.Random) -> str:
    """Make up an address in one line."""
    city = rng.choice(_CITIES)
    return (
        f"{rng.randrange(1, 200)} {rng.choice(_STREETS)}, {city} {rng.randrange(10_000, 100_000)}"
    )


def _product(rng: random.Random, product_id: str, name: str) -> Record:
    sold_out = rng.choice(COLORS)
    items = {}
    for place, color in enumerate(COLORS):
        item_id = f"{product_id}-{place}"
        items[item_id] = {
            "item_id": item_id,
            "color": color,
            "price": rng.randrange(1500, 20000) / 100,
            "available": color != sold_out,
        }
    return {"product_id": product_id, "name": name, "items": items}


def _add_customer(rng: random.Random, tables: Tables, number: int) -> None:
    first = _FIRST[number % len(_FIRST)]
    last = rng.choice(_LAST)
    customer_id = f"{first}_{last}_{rng.randrange(1000, 10000)}".lower()
    home = address(rng)
    # One product is in two orders: who says "my kettle" has to be asked which.
    twice = rng.choice(list(tables["products"]))
    others = rng.sample([each for each in tables["products"] if each != twice], 4)
    orders = []
    for bought in ((twice, others[0]), (twice, others[1]), (others[2],), (others[3],)):
        order = _order(rng, tables, customer_id, home, bought)
        tables["orders"][order["order_id"]] = order
        orders.append(order["order_id"])
    tables["customers"][customer_id] = {
        "customer_id": customer_id,
        "name": f"{first} {last}",
        "email": f"{customer_id.replace('_', '.')}@example.com",
        "zip": home[-5:],
        "orders": orders,
    }


def _order(
    rng: random.Random, tables: Tables, customer_id: str, home: str, products: tuple[str, ...]
) -> Record:
    order_id = f"#A{rng.randrange(10_000, 100_000)}"
    while order_id in tables["orders"]:
        order_id = f"#A{rng.randrange(10_000, 100_000)}"
    status = rng.choice(("open", "shipped", "delivered", "delivered"))
    items: list[dict[str, Any]] = []
    for product_id in products:
        product = tables["products"][product_id]
        item = rng.choice(list(product["items"].values()))
        items.append(
            {
                "item_id": item["item_id"],
                "product_id": product_id,
                "name": product["name"],
                "color": item["color"],
                "price": item["price"],
                "status": "bought",
            }
        )
    return {
        "order_id": order_id,
        "customer_id": customer_id,
        "status": status,
        "days_since_delivery": rng.randrange(1, 61) if status == "delivered" else None,
        "address": home,
        "items": items,
    }

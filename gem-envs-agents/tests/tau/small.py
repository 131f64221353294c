"""Two small shops with the columns of the published ones, made up here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ADDRESS = {
    "address1": "1 Mill Lane",
    "address2": "",
    "city": "Denver",
    "state": "CO",
    "country": "USA",
    "zip": "80001",
}
MOVED = {**ADDRESS, "address1": "9 Oak Road", "zip": "80002"}


def item(product: str, id: str, price: float, color: str) -> dict[str, Any]:
    options = {"color": color}
    name = product.title()
    return {"name": name, "product_id": product, "item_id": id, "price": price, "options": options}


def order(id: str, status: str, *items: dict[str, Any]) -> dict[str, Any]:
    amount = round(sum(each["price"] for each in items), 2)
    payment = {"transaction_type": "payment", "amount": amount, "payment_method_id": "paypal_1"}
    return {
        "order_id": id,
        "user_id": "ada_1",
        "address": ADDRESS,
        "items": list(items),
        "status": status,
        "payment_history": [payment],
    }


def variants(product: str, *rows: tuple[str, float, str, bool]) -> dict[str, Any]:
    known = {
        id: {"item_id": id, "options": {"color": color}, "available": available, "price": price}
        for id, price, color, available in rows
    }
    return {"name": product.title(), "product_id": product, "variants": known}


RETAIL = {
    "users": {
        "ada_1": {
            "name": {"first_name": "Ada", "last_name": "Berg"},
            "address": ADDRESS,
            "email": "ada@example.com",
            "payment_methods": {
                "paypal_1": {"source": "paypal", "id": "paypal_1"},
                "credit_card_1": {"source": "credit_card", "id": "credit_card_1"},
                "gift_card_1": {"source": "gift_card", "balance": 20, "id": "gift_card_1"},
            },
            "orders": ["#W1", "#W2", "#W3"],
        }
    },
    "orders": {
        "#W1": order("#W1", "pending", item("kettle", "k1", 40.0, "red")),
        "#W2": order(
            "#W2",
            "delivered",
            item("kettle", "k1", 40.0, "red"),
            item("lamp", "l1", 15.5, "white"),
        ),
        "#W3": order("#W3", "cancelled", item("lamp", "l1", 15.5, "white")),
    },
    "products": {
        "kettle": variants(
            "kettle",
            ("k1", 40.0, "red", True),
            ("k2", 50.0, "blue", True),
            ("k3", 90.0, "gold", True),
            ("k4", 41.0, "grey", False),
        ),
        "lamp": variants("lamp", ("l1", 15.5, "white", True), ("l2", 15.5, "black", True)),
    },
}


def day(price: int, seats: int) -> dict[str, Any]:
    cabins = ("basic_economy", "economy", "business")
    return {
        "status": "available",
        "available_seats": dict.fromkeys(cabins, seats),
        "prices": {"basic_economy": price, "economy": price + 50, "business": price + 300},
    }


def flight(number: str, origin: str, destination: str, leaves: str, lands: str) -> dict[str, Any]:
    dates = {"2024-05-20": day(100, 3), "2024-05-21": {"status": "delayed"}}
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": leaves,
        "scheduled_arrival_time_est": lands,
        "dates": dates,
    }


AIRLINE = {
    "users": {
        "bo_2": {
            "name": {"first_name": "Bo", "last_name": "Lind"},
            "dob": "1990-01-02",
            "membership": "gold",
            "payment_methods": {
                "credit_card_1": {"source": "credit_card", "id": "credit_card_1"},
                "gift_card_1": {"source": "gift_card", "amount": 60, "id": "gift_card_1"},
                "certificate_1": {"source": "certificate", "amount": 100, "id": "certificate_1"},
            },
            "reservations": ["RES001"],
        }
    },
    "flights": {
        "F1": flight("F1", "JFK", "ORD", "08:00:00", "10:00:00"),
        "F2": flight("F2", "ORD", "SEA", "11:00:00", "14:00:00"),
        "F3": flight("F3", "JFK", "SEA", "09:00:00", "15:00:00"),
    },
    "reservations": {
        "RES001": {
            "reservation_id": "RES001",
            "user_id": "bo_2",
            "origin": "JFK",
            "destination": "ORD",
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [
                {
                    "flight_number": "F1",
                    "date": "2024-05-20",
                    "price": 140,
                    "origin": "JFK",
                    "destination": "ORD",
                }
            ],
            "passengers": [{"first_name": "Bo", "last_name": "Lind", "dob": "1990-01-02"}],
            "payment_history": [{"payment_id": "credit_card_1", "amount": 140}],
            "total_baggages": 1,
            "nonfree_baggages": 0,
            "insurance": "no",
        }
    },
}


def write(folder: Path, tables: dict[str, Any], tasks: list[dict[str, Any]]) -> str:
    """Write a shop and its tasks as the published files are."""
    for name, rows in tables.items():
        (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    lines = "\n".join(map(json.dumps, tasks))
    (folder / "tasks_test.jsonl").write_text(lines, encoding="utf-8")
    (folder / "wiki.md").write_text("# Policy\n\nBe kind.\n", encoding="utf-8")
    return str(folder)


CORRECTED = {
    "id": "7",
    "user_scenario": {
        "instructions": {
            "task_instructions": ".",
            "reason_for_call": "You want to cancel #W1.",
            "known_info": "You are Ada Berg, ada@example.com.",
            "unknown_info": None,
        }
    },
    "evaluation_criteria": {
        "actions": [
            {"name": "find_user_id_by_email", "arguments": {"email": "ada@example.com"}},
            {
                "name": "cancel_pending_order",
                "arguments": {"order_id": "#W1", "reason": "no longer needed"},
            },
        ],
        "communicate_info": None,
        "nl_assertions": ["The agent says what is paid back.", "The agent is kind."],
    },
}


def write_corrected(folder: Path) -> str:
    """Write a shop with one task as the corrected ones are published."""
    (folder / "tasks.json").write_text(json.dumps([CORRECTED]), encoding="utf-8")
    (folder / "split_tasks.json").write_text('{"base": ["7"]}', encoding="utf-8")
    return write(folder, RETAIL, [])

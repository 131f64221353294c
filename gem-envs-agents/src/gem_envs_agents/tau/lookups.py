"""Find the calls that show an agent what a solution says but never reads.

The solutions of a few published tasks leave their reads out. An answer that nobody has read does
not count as told (`desk/ledger.py`), so the one who plays the solution reads it first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gem_envs_agents.desk.database import Database, Tables
from gem_envs_agents.desk.scoring import communicates, is_number
from gem_envs_agents.desk.tool import Call, Tools, run

__all__ = ["lookups"]


def lookups(
    outputs: Sequence[str], calls: Sequence[Call], user_id: str, tools: Tools, tables: Tables
) -> tuple[Call, ...]:
    """Return the calls that show the outputs which are texts and which no call of these shows."""
    texts = [output for output in outputs if not is_number(output)]
    if not texts:
        return ()
    seen = _answers(calls, tools, tables)
    missing = [text for text in texts if not any(communicates(each, text) for each in seen)]
    found = []
    for call in _reads(user_id, tables):
        if not missing:
            break
        answer = " ".join(_answers([call], tools, tables))
        shown = [text for text in missing if communicates(answer, text)]
        if shown:
            found.append(call)
            missing = [text for text in missing if text not in shown]
    return tuple(found)


def _answers(calls: Sequence[Call], tools: Tools, tables: Tables) -> list[str]:
    database = Database(tables, {})
    outcomes = [run(tools, database, call) for call in calls if call.name in tools]
    return [outcome.text for outcome in outcomes if not outcome.is_error]


def _reads(user_id: str, tables: Tables) -> Iterator[Call]:
    """Yield what can be read about a customer of the shop: orders, then products in them."""
    orders = tables["users"].get(user_id, {}).get("orders", [])
    products: dict[str, None] = {}
    for order_id in orders:
        yield Call("get_order_details", {"order_id": order_id})
        for item in tables.get("orders", {}).get(order_id, {}).get("items", ()):
            products[item["product_id"]] = None
    for product_id in products:
        yield Call("get_product_details", {"product_id": product_id})

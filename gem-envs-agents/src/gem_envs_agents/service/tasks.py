"""Make up a task of the generated shop: a customer, what they want, and what is right.

Everything is drawn from one seed; the wording is drawn apart, so that one task can be had in every
wording. What is right follows from the rules, and is never what the customer expects where these
are against it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, NamedTuple

from gem_envs_agents.desk.case import Case, Plan
from gem_envs_agents.desk.database import Database, Record
from gem_envs_agents.desk.ledger import Decoys
from gem_envs_agents.desk.scoring import goal
from gem_envs_agents.desk.tool import Call
from gem_envs_agents.service.policy import POLICY
from gem_envs_agents.service.shop import COLORS, RETURN_DAYS, Tables, address, shop
from gem_envs_agents.service.tools import AGENT_TOOLS, USER_TOOLS
from gem_envs_agents.service.wording import Goal, Thing, worded
from gem_envs_agents.users.script import Device, Part, Request, Script

__all__ = ["Difficulty", "case"]

Difficulty = Literal["easy", "medium", "hard"]

_COUNTS = {"easy": 1, "medium": 2, "hard": 3}
_GOALS: dict[Difficulty, tuple[Goal, ...]] = {
    "easy": ("cancel", "send back", "price", "move"),
    "medium": ("cancel", "send back", "exchange", "move", "price"),
    "hard": ("cancel", "send back", "exchange", "move", "repair", "price"),
}
_FITTING: dict[str, tuple[Goal, ...]] = {
    "open": ("cancel", "move"),
    "shipped": ("price",),
    "delivered": ("send back", "exchange", "repair"),
}
_VERBS: dict[Goal, frozenset[str]] = {
    "cancel": frozenset({"cancel"}),
    "move": frozenset({"change"}),
    "send back": frozenset({"return"}),
    "exchange": frozenset({"exchange", "change"}),
    "repair": frozenset({"repair"}),
    "price": frozenset(),
}
_OF_WHOLE_ORDERS = ("cancel", "move")
_MOSTLY = 0.75  # of the requests fit their order; of the others the rules are against most


class _Errand(NamedTuple):
    """One thing that a customer wants, and how it is done."""

    goal: Goal
    thing: Thing
    plan: Plan
    facts: dict[str, str]
    new_color: str = ""
    variants: frozenset[str] = frozenset()  # the ids of all items of the product, to exchange

    @property
    def part(self) -> Part:
        """What a proposal of it has to name: the order, its item, and what is new.

        What is done with a whole order is named by the order alone.
        """
        names = [{self.thing.order_id}]
        if self.goal not in _OF_WHOLE_ORDERS:
            names.append({self.thing.item["item_id"], self.thing.item["name"]})
        names += [{new} for new in (self.new_color, self.facts.get("address", "")) if new]
        groups = (frozenset(map(str.casefold, group)) for group in names)
        return Part(_VERBS[self.goal], tuple(groups))

    def also(self, order: Record, serial: str) -> frozenset[str]:
        """What a proposal of it may name: what the shop knows of the customer and the order."""
        # Who exchanges may list what there is: the customer knows colors, and no id.
        known = {order["customer_id"], self.thing.item["color"], *self.variants}
        if self.goal in _OF_WHOLE_ORDERS:
            known.update(item["item_id"] for item in order["items"])
            known.update(item["product_id"] for item in order["items"])
        else:
            known |= {self.thing.item["product_id"]}
        if self.goal == "repair":
            # The rules want it asked for before the repair is proposed.
            known.add(serial)
        return frozenset(each.casefold() for each in known if each)


def case(seed: int, difficulty: Difficulty, wording: int) -> Case:
    """Return the task of a seed in one of the wordings. Equal arguments give equal tasks."""
    rng = random.Random(seed)
    tables = shop(rng)
    customer = rng.choice(list(tables["customers"].values()))
    serial = f"SN{rng.randrange(10_000, 100_000)}"
    errands = _errands(rng, tables, customer, difficulty, serial)
    # The wording also turns the order of the requests.
    turned = wording % len(errands)
    errands = [*errands[turned:], *errands[:turned]]
    orders = tables["orders"]
    requests = tuple(
        _request(errand, orders[errand.thing.order_id], wording, serial) for errand in errands
    )
    identity = {name: customer[name] for name in ("email", "name", "zip")}
    find = Call("find_customer", {"email": customer["email"]})
    plans = [errand.plan for errand in errands]
    plans[0] = plans[0]._replace(calls=(find, *plans[0].calls))
    user_tables = {"device": {"mine": {"serial": serial, "was_restarted": False}}}
    outputs = tuple(output for plan in plans for output in plan.outputs)
    restarts = [device.call for request in requests for device in request.devices]
    return Case(
        id=f"service/{difficulty}/{seed}/{wording}",
        policy=POLICY,
        tools=AGENT_TOOLS,
        tables=tables,
        user_tools=USER_TOOLS,
        user_tables=user_tables,
        script=Script("Hello.", identity, requests, _secrets(tables, customer, errands)),
        instruction=_instruction(identity, requests),
        plans=tuple(plans),
        goal=goal(
            AGENT_TOOLS, Database(tables, {}), [call for plan in plans for call in plan.calls]
        ),
        user_goal=goal(USER_TOOLS, Database(user_tables, {}), restarts),
        outputs=outputs,
        decoys=_decoys(tables, customer, errands, outputs),
    )


def _decoys(
    tables: Tables, customer: Record, errands: Sequence[_Errand], outputs: Sequence[str]
) -> Decoys:
    """Return the prices of a customer's items that nobody asks for."""
    names = {errand.thing.item["name"] for errand in errands if errand.goal == "price"}
    bought = [
        item for order_id in customer["orders"] for item in tables["orders"][order_id]["items"]
    ]
    alike = [f"{item['price']:.2f}" for item in bought if item["name"] in names]
    others = [f"{item['price']:.2f}" for item in bought if item["name"] not in names]
    return Decoys.of(alike, others, outputs)


def _errands(
    rng: random.Random, tables: Tables, customer: Record, difficulty: Difficulty, serial: str
) -> list[_Errand]:
    """Draw errands on different orders. One at least leaves its mark on the shop's database."""
    orders = [tables["orders"][order_id] for order_id in customer["orders"]]
    count = _COUNTS[difficulty]
    while True:
        chosen = rng.sample(orders, count)
        # One device a customer: at most one errand is a repair.
        goals = [_drawn_goal(rng, difficulty, order) for order in chosen]
        # Two wishes that may be in the same words could not be told apart.
        things = {
            (name, order["items"][0]["name"]) for name, order in zip(goals, chosen, strict=True)
        }
        if goals.count("repair") <= 1 and set(goals) != {"price"} and len(things) == count:
            break
    pairs = zip(goals, chosen, strict=True)
    return [_errand(rng, tables, name, order, serial) for name, order in pairs]


def _drawn_goal(rng: random.Random, difficulty: Difficulty, order: Record) -> Goal:
    """Draw what is wanted of an order: mostly what the rules may allow."""
    fitting = [name for name in _GOALS[difficulty] if name in _FITTING[order["status"]]]
    if fitting and rng.random() < _MOSTLY:
        return rng.choice(fitting)
    # A repair of what was not delivered would need a rule of its own.
    return rng.choice([name for name in _GOALS[difficulty] if name != "repair"])


def _errand(rng: random.Random, tables: Tables, name: Goal, order: Record, serial: str) -> _Errand:
    item = order["items"][0]
    thing = Thing(order["order_id"], item)
    look = Call("show_order", {"order_id": thing.order_id})
    facts = {"order": thing.order_id}
    on_order = {"order_id": thing.order_id}
    on_item = {**on_order, "item_id": item["item_id"]}
    if name == "price":
        plan = Plan((look,), outputs=(f"{item['price']:.2f}",))
        return _Errand(name, thing, plan, facts)
    if name == "repair":
        call = Call("register_repair", {**on_item, "serial": serial})
        return _Errand(
            name, thing, _allowed(f"repair the {thing.item['name']} of", look, call), facts
        )
    if name in ("cancel", "move"):
        call = Call("cancel_order", on_order)
        words = f"cancel the {item['name']} in"
        if name == "move":
            facts["address"] = address(rng)
            words = f"change the address of the {item['name']} to {facts['address']}, in"
            call = Call("change_address", {**on_order, "address": facts["address"]})
        rule = "" if order["status"] == "open" else "not open any more"
        return _Errand(name, thing, _plan(words, look, call, rule), facts)
    rule = _rule_on_sending_back(order)
    if name == "send back":
        words = f"return the {item['name']} of"
        return _Errand(name, thing, _plan(words, look, Call("send_back", on_item), rule), facts)
    color = rng.choice([each for each in COLORS if each != item["color"]])
    items = tables["products"][item["product_id"]]["items"].values()
    if rule:
        # One rule is against it, or none: of two an agent could log either.
        possible = [each["color"] for each in items if each["available"]]
        color = color if color in possible else _other(possible, item["color"])
    facts["variant"] = color
    new = next(each for each in items if each["color"] == color)
    call = Call("exchange", {**on_item, "new_item_id": new["item_id"]})
    if not rule and not new["available"]:
        rule = "sold out"
    words = f"exchange the {item['name']} for a {color} one, in"
    show = Call("show_product", {"product_id": item["product_id"]})
    plan = _plan(words, look, call, rule, show)
    variants = frozenset(each["item_id"] for each in items)
    return _Errand(name, thing, plan, facts, color, variants)


def _other(colors: Sequence[str], color: str) -> str:
    return next(each for each in colors if each != color)


def _rule_on_sending_back(order: Record) -> str:
    if order["status"] != "delivered":
        return "not delivered"
    return "too late" if order["days_since_delivery"] > RETURN_DAYS else ""


def _plan(words: str, look: Call, call: Call, rule: str, *reads: Call) -> Plan:
    if not rule:
        return _allowed(words, look, *reads, call)
    order_id = look.arguments["order_id"]
    log = Call("log_refusal", {"order_id": order_id, "rule": rule})
    return Plan((look, *reads, log), denial=f"{order_id} is {rule}.")


def _allowed(words: str, *calls: Call) -> Plan:
    return Plan(calls, f"I would {words} the order {calls[0].arguments['order_id']}.")


def _request(errand: _Errand, order: Record, wording: int, serial: str) -> Request:
    devices: tuple[Device, ...] = ()
    if errand.goal == "repair":
        restarted = "It was restarted, and it still does not work."
        devices = (
            Device("restart", Call("restart_device", {}), restarted),
            Device("label", Call("read_label", {}), f"The label says {serial}."),
        )
    return Request(
        kind="question" if errand.goal == "price" else "action",
        wording=worded(errand.goal, errand.thing, wording, new_color=errand.new_color),
        facts=errand.facts,
        private=frozenset({"address"} & errand.facts.keys()),
        parts=() if errand.goal == "price" else (errand.part,),
        also=errand.also(order, serial),
        devices=devices,
    )


def _secrets(tables: Tables, customer: Record, errands: Sequence[_Errand]) -> frozenset[str]:
    """Return what a customer never says: item ids, their own id, the prices of their items."""
    secrets = {customer["customer_id"]}
    for errand in errands:
        secrets |= {errand.thing.item["item_id"], f"{errand.thing.item['price']:.2f}"}
        secrets |= set(tables["products"][errand.thing.item["product_id"]]["items"])
    return frozenset(secrets)


def _instruction(identity: dict[str, str], requests: Sequence[Request]) -> str:
    """Return what a model or a person who plays the customer is told."""
    lines = [f"You are {identity['name']}, {identity['email']}, zip code {identity['zip']}."]
    for request in requests:
        facts = "; ".join(f"{slot}: {value}" for slot, value in request.facts.items())
        lines.append(f"You say: {request.wording} When you are asked: {facts}.")
        lines += [
            f"When you are asked to, you call {device.call.name}." for device in request.devices
        ]
    return "\n".join(lines)

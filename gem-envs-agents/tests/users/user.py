"""A user for tests: two things to do, one of them with a device, and a question."""

from __future__ import annotations

from gem_envs_agents.desk.tool import Call
from gem_envs_agents.users.script import Device, Part, Request, Script

READ = Call("read_label", {})
KETTLE = Request(
    "action",
    "I want to call off my order for the kettle.",
    {"order": "#W1", "reason": "ordered by mistake", "payment": "my paypal"},
    frozenset({"payment"}),
    (
        Part(
            frozenset({"cancel"}),
            (frozenset({"#w1"}), frozenset({"k1", "kettle"}), frozenset({"paypal"})),
        ),
    ),
    frozenset({"ada_1"}),
)
LAMP = Request(
    "action",
    "My lamp does not work any more.",
    {"order": "#W2"},
    frozenset(),
    (
        Part(frozenset({"repair"}), (frozenset({"#w2"}),)),
        Part(frozenset({"repair"}), (frozenset({"#w3"}),)),
    ),
    frozenset(),
    (Device("label", READ, "The label says SN77."),),
)
STOCK = Request("question", "How many kettles do you have?", {})
ADA = Script(
    "Hello.",
    {"email": "ada@example.com", "name": "Ada Berg"},
    (KETTLE, LAMP, STOCK),
    frozenset({"10"}),
)

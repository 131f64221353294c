"""Say one request in twenty ways: a grammar of five phrases and four ways to name a thing."""

from __future__ import annotations

from typing import Literal, NamedTuple

from gem_envs_agents.desk.database import Record

__all__ = ["WORDINGS", "Goal", "Thing", "worded"]

Goal = Literal["cancel", "move", "send back", "exchange", "repair", "price"]

_PHRASES: dict[Goal, tuple[str, ...]] = {
    "cancel": (
        "I want to cancel {it}.",
        "I have changed my mind about {it}, so call the whole order off.",
        "Please do not send {it} to me after all.",
        "There is no need for {it} any more: stop that order.",
        "Can you undo my purchase of {it}?",
    ),
    "move": (
        "I want {it} to be sent to another address.",
        "I am moving house, and {it} should go to my new place.",
        "{It} is on its way to the wrong house.",
        "Send {it} somewhere else than you have written down.",
        "Can {it} be delivered to another place?",
    ),
    "send back": (
        "I want to return {it}.",
        "I do not like {it}, and would send it back for my money.",
        "{It} is not for me. I would rather have my money back.",
        "Take {it} back, please.",
        "Can I get rid of {it} and be refunded?",
    ),
    "exchange": (
        "I want to exchange {it} for a {color} one.",
        "I would rather have {it} in {color}.",
        "{It} has the wrong color: it should be {color}.",
        "Swap {it} for the same in {color}.",
        "Can I have a {color} one in the place of {it}?",
    ),
    "repair": (
        "I want to have {it} repaired.",
        "{It} does not work any more.",
        "I think that {it} is broken, and I would like it mended.",
        "Nothing happens when I switch on {it}: mend it.",
        "Can somebody fix {it} for me?",
    ),
    "price": (
        "I want to know what I paid for {it}.",
        "How much was {it}?",
        "What did {it} cost me, without anything else?",
        "For my books I need the price of {it}.",
        "Can you look up what {it} was sold to me for?",
    ),
}
_NAMES = (
    "the {name} of the order {order}",
    "my {color} {name}",
    "the {name} that I bought from you",
    "a {name} from one of my orders",
)
WORDINGS = len(_NAMES) * 5
"""How many wordings each request has."""


class Thing(NamedTuple):
    """What a request is about: an item of an order."""

    order_id: str
    item: Record


def worded(goal: Goal, thing: Thing, wording: int, *, new_color: str = "") -> str:
    """Return one of the wordings of a request. All of them ask for the same.

    >>> kettle = Thing("#A1", {"name": "kettle", "color": "red"})
    >>> worded("cancel", kettle, 0), worded("send back", kettle, 6)
    ('I want to cancel the kettle of the order #A1.', 'I do not like my red kettle, and would \
send it back for my money.')
    """
    phrase = _PHRASES[goal][wording % 5]
    name = _NAMES[wording // 5 % len(_NAMES)]
    it = name.format(name=thing.item["name"], color=thing.item["color"], order=thing.order_id)
    return phrase.format(it=it, It=f"{it[0].upper()}{it[1:]}", color=new_color)

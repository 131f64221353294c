"""Make instances of frozen dataclasses fast. Knows nothing about what they hold."""

from __future__ import annotations

from copy import copy
from dataclasses import fields, make_dataclass
from typing import Any, TypeVar

__all__ = ["quick"]

T = TypeVar("T")


def quick(cls: type[T]) -> type[T]:
    """Return what makes instances of a frozen, slotted dataclass in less than half the time.

    A frozen class sets each of its fields through a call. This fills an open subclass and then
    gives the instance its own class, which freezes all at once.

    >>> from gem.content import Message
    >>> quick(Message)("user", "Hello.")
    Message(role='user', content='Hello.', tool_calls=(), call_id=None)
    """

    # The instance swaps its own class, which no other code here may do: this is the hot path of a
    # rollout, which makes two messages and a reply in each turn (benchmarks/overhead.py).
    def freeze(self: Any) -> None:
        self.__class__ = cls

    # Copies of the fields: `make_dataclass` writes into those that it is given.
    described = [(field.name, field.type, copy(field)) for field in fields(cls)]  # type: ignore[arg-type]
    filled = make_dataclass("filled", described, namespace={"__post_init__": freeze})
    members = {
        "__slots__": (),
        "__init__": vars(filled)["__init__"],
        "__post_init__": freeze,
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,  # one slot in C with setting: both, or neither is fast
    }
    return type(cls.__name__, (cls,), members)

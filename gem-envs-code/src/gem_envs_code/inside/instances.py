"""Instances of a problem's own classes, as plain values: a list node, a tree, a graph.

An instance crosses as its class's name and its fields, and is made again of the class of that name
on the other side. No class crosses, so that no method of a candidate ever runs beside a test. Any
number of instances may hold each other: they stand in one table, and hold numbers of it.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from gem_envs_code.inside.values import CannotCrossError, plain, revived

__all__ = ["packed", "unpacked"]

Find = Callable[[str], type]
"""Returns the class of a name, or raises LookupError."""


def packed(
    value: object, names: Collection[str], known: Sequence[object] = ()
) -> tuple[str, list[object]]:
    """Return a value as JSON text with the fields of every instance in it, and these instances.

    `names` are those of the classes whose instances may cross. The instances begin with `known`,
    in its order. Raises CannotCrossError on what is no plain value and no such instance.
    """
    instances = list(known)
    numbers = {id(instance): number for number, instance in enumerate(instances)}

    def number(instance: object) -> int:
        if id(instance) not in numbers:
            _name(instance, names)
            numbers[id(instance)] = len(instances)
            instances.append(instance)
        return numbers[id(instance)]

    content = plain(value, number)
    table = []
    for instance in instances:  # it grows meanwhile, by what the fields hold
        fields = {name: plain(field, number) for name, field in _fields(instance)}
        table.append([_name(instance, names), fields])
    return json.dumps([content, table]), instances


def unpacked(
    text: str, find: Find, known: Callable[[Any], Sequence[object]] = lambda content: ()
) -> tuple[Any, list[object]]:
    """Return the value that `packed` wrote, and its instances: of the classes that `find` has.

    `known` is told the value as JSON holds it, and returns the instances that are to take the
    fields of the first in the table. Raises ValueError on anything else than `packed` writes.
    """
    try:
        content, table = json.loads(text)
        instances = list(known(content))[: len(table)]
        for name, _ in table[len(instances) :]:
            instances.append(object.__new__(find(name)))
        for instance, (_, fields) in zip(instances, table, strict=True):
            _fill(instance, fields, instances)
        return revived(content, instances.__getitem__), instances
    except (TypeError, LookupError, RecursionError, ArithmeticError, AttributeError) as error:
        raise ValueError(f"these are no values: {type(error).__name__}") from error


def _fill(instance: object, fields: dict[str, Any], instances: Sequence[object]) -> None:
    for name, field in fields.items():
        if not _is_field(type(instance), name):
            raise ValueError(f"{name!r} is no field of a {type(instance).__name__}")
        # a class of the problem's may have a `__setattr__` that expects another order
        object.__setattr__(instance, name, revived(field, instances.__getitem__))


def _is_field(kind: type, name: str) -> bool:
    """Say whether instances may have a field of this name: not where it would hide a method."""
    for base in kind.__mro__:
        if name in base.__dict__:
            attribute = base.__dict__[name]
            is_slot = isinstance(attribute, types.MemberDescriptorType)
            return is_slot or not (callable(attribute) or hasattr(type(attribute), "__get__"))
    return True


def _name(instance: object, names: Collection[str]) -> str:
    for kind in type(instance).__mro__:
        if kind.__name__ in names:
            return kind.__name__
    raise CannotCrossError(f"a {type(instance).__name__} is no plain value")


def _fields(instance: object) -> Iterator[tuple[str, Any]]:
    for kind in type(instance).__mro__:
        for name, attribute in list(kind.__dict__.items()):
            if isinstance(attribute, types.MemberDescriptorType) and hasattr(instance, name):
                yield name, getattr(instance, name)
    yield from list(getattr(instance, "__dict__", {}).items())

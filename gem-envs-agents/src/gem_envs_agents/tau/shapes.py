"""What a row of each published table holds, as far as tools and scripts read it.

The files come from elsewhere, so a row is looked at before it is played with: an error then names
the file and the row, and no episode ends by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Union

__all__ = ["DEEPEST", "SHAPES", "ListOf", "RowsOf", "Shape", "Where", "is_too_deep", "misfit"]

DEEPEST = 30
"""How deep a row may be nested: copying it calls itself. The published ones have six levels."""


class ListOf(NamedTuple):
    """A list whose entries have one shape."""

    entry: Shape


class RowsOf(NamedTuple):
    """An object whose values have one shape, under keys of any name."""

    value: Shape


class Where(NamedTuple):
    """An object that has more keys where one of them has one of some values."""

    always: Mapping[str, Any]
    key: str
    values: tuple[str, ...]
    also: Mapping[str, Any]


Shape = Union[type, tuple[type, ...], Mapping[str, Any], ListOf, RowsOf, Where]
"""A type of JSON data, several of which one fits, or an object that has these keys at least."""

_NUMBER = (int, float)
_METHOD = {"source": str, "id": str}
_ITEM = {"name": str, "product_id": str, "item_id": str, "price": _NUMBER, "options": dict}
_CABINS = {"basic_economy": _NUMBER, "economy": _NUMBER, "business": _NUMBER}
_DAY = Where(
    {"status": str}, "status", ("available",), {"available_seats": _CABINS, "prices": _CABINS}
)
_LEG = {"flight_number": str, "date": str, "price": _NUMBER}

SHAPES: Mapping[str, Mapping[str, Shape]] = {
    "retail": {
        "users": {
            "name": {"first_name": str, "last_name": str},
            "address": {"zip": str},
            "email": str,
            "payment_methods": RowsOf(
                Where(_METHOD, "source", ("gift_card",), {"balance": _NUMBER})
            ),
            "orders": ListOf(str),
        },
        "orders": {
            "user_id": str,
            "status": str,
            "items": ListOf(_ITEM),
            "payment_history": ListOf(
                {"transaction_type": str, "amount": _NUMBER, "payment_method_id": str}
            ),
        },
        "products": {
            "name": str,
            "variants": RowsOf(
                {"item_id": str, "options": dict, "available": bool, "price": _NUMBER}
            ),
        },
    },
    "airline": {
        "users": {
            "payment_methods": RowsOf(
                Where(_METHOD, "source", ("gift_card", "certificate"), {"amount": _NUMBER})
            ),
            "reservations": ListOf(str),
        },
        "flights": {
            "origin": str,
            "destination": str,
            "scheduled_departure_time_est": str,
            "scheduled_arrival_time_est": str,
            "dates": RowsOf(_DAY),
        },
        "reservations": {
            "user_id": str,
            "cabin": str,
            "flights": ListOf(_LEG),
            "passengers": ListOf(dict),
            "payment_history": ListOf({"payment_id": str, "amount": _NUMBER}),
            "total_baggages": int,
            "nonfree_baggages": int,
        },
    },
}
"""The shapes of rows, by the kind of a shop and by table."""


def misfit(shape: Shape, value: Any) -> str | None:
    """Return where a value first differs from a shape, None where it fits. It costs linear time.

    >>> misfit(RowsOf({"price": (int, float)}), {"k1": {"price": "1"}})
    "k1.price is '1'"
    """
    return next(_misfits("", shape, value), None)


def is_too_deep(value: Any) -> bool:
    """Say whether JSON data are nested deeper than any row. It calls nothing, however deep."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _inner(each)]
        if not level:
            return False
    return True


def _inner(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _misfits(path: str, shape: Shape, value: Any) -> Iterator[str]:
    if isinstance(shape, ListOf):
        yield from _of_list(path, shape, value)
    elif isinstance(shape, RowsOf):
        yield from _of_rows(path, shape, value)
    elif isinstance(shape, Where):
        yield from _of_object(path, shape.always, value)
        if isinstance(value, dict) and value.get(shape.key) in shape.values:
            yield from _of_object(path, shape.also, value)
    elif isinstance(shape, Mapping):
        yield from _of_object(path, shape, value)
    elif not _is_of(shape, value):
        yield f"{path or 'it'} is {value!r:.60}"


def _is_of(kinds: type | tuple[type, ...], value: Any) -> bool:
    # To Python, true is an int, and a number may be infinite, which JSON has no word for.
    if isinstance(value, bool):
        return kinds is bool
    return isinstance(value, kinds) and not (isinstance(value, float) and not math.isfinite(value))


def _of_list(path: str, shape: ListOf, value: Any) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path or 'it'} is no list"
        return
    for place, entry in enumerate(value):
        yield from _misfits(f"{path}[{place}]", shape.entry, entry)


def _of_rows(path: str, shape: RowsOf, value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path or 'it'} is no object"
        return
    for key, each in value.items():
        yield from _misfits(f"{path}.{key:.60}".lstrip("."), shape.value, each)


def _of_object(path: str, shape: Mapping[str, Any], value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path or 'it'} is no object"
        return
    for key, inner in shape.items():
        if key not in value:
            yield f"{path or 'it'} has no {key!r}"
        else:
            yield from _misfits(f"{path}.{key}".lstrip("."), inner, value[key])

"""The two forms of a method, synchronous and asynchronous: which were written, and by whom.

A form that was not written is derived from the other. Knows nothing about seeds and phases.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from gem._python.sync_async import wait_for
from gem.env._lifecycle._phases import AnyEnv

__all__ = ["Raw", "author", "derive", "nearest_author", "put", "waits", "written"]

Raw = Callable[..., Any]
"""A method as its author wrote it, without a guard around it."""


class _Mark(NamedTuple):
    """What a guard remembers: itself, its class, who wrote the raw function (None: derived)."""

    form: Any
    cls: type
    author: type | None
    raw: Raw | None


def nearest_author(cls: type, name: str, async_name: str) -> type:
    """Return the first class of the MRO, mixins too, that wrote either form of a method.

    Raises TypeError where that class wrote both forms and does not promise that they are equal.
    """
    owner = next(
        owner
        for owner in cls.__mro__
        if written(owner, name) is not None or written(owner, async_name) is not None
    )
    raw = written(owner, name)
    async_raw = written(owner, async_name)
    # Two forms that a class wrote by hand can differ, and only its author can say that they do
    # not: `both_forms=True`. It is read of that class alone, for a subclass does not inherit the
    # promise: it would hold for forms that nobody compared.
    if raw is not None and async_raw is not None and not vars(owner).get("_writes_both"):
        raise TypeError(
            f"{owner.__name__} defines both {name} and {async_name}. Write the first, or the "
            "second if it waits; the other is derived. If both are needed and do the same, say so: "
            f"class {owner.__name__}(..., both_forms=True)."
        )
    if inspect.iscoroutinefunction(raw):
        raise TypeError(
            f"{owner.__name__}.{name} is a coroutine function. Call it {async_name}; {name} is "
            "then derived."
        )
    return owner


def written(owner: type, name: str) -> Raw | None:
    """Return what this class's author wrote under this name, without the guard around it."""
    form: Raw | None = vars(owner).get(name)
    mark: _Mark | None = getattr(form, "_mark", None)
    if mark is None or mark.form is not form:  # functools.wraps copies marks to decorators
        return form
    # A guard of another class is here by `step = Other.step`, or in a copied class body.
    return mark.raw if mark.author is owner or mark.cls is not owner else None


def put(
    cls: type, name: str, form: Any, author: type | None = None, raw: Raw | None = None
) -> None:
    """Set a form on a class, marked; without an author it counts as derived."""
    form._mark = _Mark(form, cls, author, raw)
    setattr(cls, name, form)


def author(env: AnyEnv, name: str) -> type | None:
    """Return the class that wrote a method, None where the form was derived from the other."""
    mark: _Mark | None = getattr(getattr(type(env), name), "_mark", None)
    return None if mark is None else mark.author


def waits(env: AnyEnv, name: str) -> bool:
    """Say whether awaiting a method can wait: not where its asynchronous form was derived."""
    form = getattr(type(env), f"a{name}")
    mark: _Mark | None = getattr(form, "_mark", None)
    # A form without a mark of its own was set on the class later, and may do anything.
    return mark is None or mark.form is not form or mark.raw is not None


def derive(cls: type, name: str, other: str) -> Raw:
    """Return the form `name` made from the form `other`, with the other's signature."""
    source: Raw = getattr(cls, other)
    is_async = name.startswith("a")
    form = functools.update_wrapper(_at_once(source) if is_async else _waiting(source), source)
    form.__name__ = name
    form.__qualname__ = f"{cls.__qualname__}.{name}"
    form.__doc__ = f"`{other}`, awaited." if is_async else f"`{other}`, waited for."
    return form


def _waiting(async_guarded: Raw) -> Raw:
    def form(self: AnyEnv, *args: Any, **kwargs: Any) -> Any:
        return wait_for(async_guarded(self, *args, **kwargs))

    return form


def _at_once(guarded: Raw) -> Raw:
    async def form(self: AnyEnv, *args: Any, **kwargs: Any) -> Any:
        return guarded(self, *args, **kwargs)

    return form

"""A candidate's functions, in its own process: found by name, called, and what came of it as JSON.

A method of a class `Solution` counts as a function.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from gem_envs_code.inside.instances import packed, unpacked
from gem_envs_code.inside.values import CannotCrossError, encoded

__all__ = ["Functions", "last_line", "tried"]

_MOST_SAID = 500
_MOST_ARGUMENTS = 1 << 16
_CLASS = "Solution"
_MISSING = object()


class Functions:
    """What a program has defined in `namespace`, where `given` is what was there before it ran.

    Instances of the classes of these names, which `given` defines, may be arguments and values.
    """

    def __init__(
        self, namespace: dict[str, Any], given: dict[str, Any], classes: Collection[str]
    ) -> None:
        self.namespace = namespace
        self._given = given
        self._classes = classes
        self._instances: dict[int | None, Any] = {}

    def answer(self, name: str, instance: int | None, arguments: str) -> str:
        """Call a function, or a method of the instance of this number; return `tried`'s text."""
        return tried(lambda: self._returned(name, instance, arguments))

    def _returned(self, name: str, instance: int | None, arguments: str) -> str:
        (positional, keywords), ours = unpacked(arguments, self._class)
        function = self.found(name) if instance is None else self._method(name, instance)
        value = function(*positional, **keywords)
        if value is None:  # what it was for, it has done to its arguments
            with suppress(CannotCrossError):
                return packed([None, [positional, keywords]], self._classes, ours)[0]
        return packed([value, None], self._classes)[0]

    def found(self, name: str) -> Callable[..., Any]:
        """Return a function, or a method of the one instance that this makes for its methods.

        Raises NameError where there is none. What was given and is still there is none of the
        program's: a `from heapq import *` does not hide a method `merge`.
        """
        named = self.namespace.get(name, _MISSING)
        is_given = named is self._given.get(name, _MISSING)
        if is_given and hasattr(self.namespace.get(_CLASS), name):
            return self._method(name, None)
        if named is _MISSING:
            raise NameError(f"name {name!r} is not defined")
        function: Callable[..., Any] = named
        return function

    def _method(self, name: str, instance: int | None) -> Callable[..., Any]:
        if instance not in self._instances:
            if _CLASS not in self.namespace:
                raise NameError(f"name {_CLASS!r} is not defined")
            self._instances[instance] = self.namespace[_CLASS]()
        method: Callable[..., Any] = getattr(self._instances[instance], name)
        return method

    def _class(self, name: str) -> type:
        """Return the program's class of a name, else the one that was given."""
        own = self.namespace.get(name)
        return own if isinstance(own, type) else self._given[name]


def tried(returned: Callable[[], str]) -> str:
    """Return as JSON what a call returned or raised; a program that ends itself has no answer."""
    try:
        return json.dumps({"returned": returned()})
    except CannotCrossError as error:
        return json.dumps({"uncrossed": str(error)})
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a test may expect it
        kind = _own_type(error)
        arguments = _arguments(error, kind)
        return json.dumps(
            {"raised": kind.__name__, "why": last_line(error), "arguments": arguments}
        )


def _own_type(error: Exception) -> type[Exception]:
    """Return the nearest type of Python's own."""
    return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")


def _arguments(error: Exception, kind: type[Exception]) -> str:
    """Return arguments, encoded, with which an error of this kind reads as this one does.

    Its own ones, unless they are more than data, or its class makes another text of them.
    """
    with suppress(Exception):  # the class of the error is the program's, and may do anything
        # Those that a copy is made with: `args` of an OSError leave out the names of its files.
        own = kind.__reduce__(error)[1]
        if str(kind(*own)) == str(error):
            arguments = encoded(list(own))
            if len(arguments) <= _MOST_ARGUMENTS:
                return arguments
    try:
        return encoded([str(error)[:_MOST_SAID]])
    except Exception:  # noqa: BLE001 - as above
        return encoded([])


def last_line(error: BaseException) -> str:
    """Return the last line of an error's traceback."""
    return traceback.format_exception_only(type(error), error)[-1].strip()[:_MOST_SAID]

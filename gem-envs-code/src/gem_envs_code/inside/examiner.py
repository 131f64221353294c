"""The program of an examiner's jail: run assertions about functions that are somewhere else.

A candidate's functions are stood in for by objects that ask the host for each call, and the host
asks the candidate's jail; so is its class `Solution`. Only plain values come back, of Python's own
types, and instances of classes that the problem itself defines, made here.
"""

from __future__ import annotations

import builtins
import collections
import itertools
import json
import sys
import traceback
import types
from contextlib import suppress
from typing import Any

from gem_envs_code.inside.instances import packed, unpacked
from gem_envs_code.inside.values import CannotCrossError, TooDeepError, decoded
from gem_tools.sandbox.inside.channel import receive, send

__all__ = ["main"]

_MOST_SAID = 500
_CLASS = "Solution"
_MODULE = "solution"
_NOT_ITS_OWN = (AssertionError, StopIteration, StopAsyncIteration)
"""What a candidate never raises in a test: the test's own verdict, and the end of a loop over
`map(f, ...)` or `iter(f, ...)`, which would leave out the assertions of all rounds to come.
"""


class _AbroadError(BaseException):
    """A test needs more than calls of data. No `except Exception` of a test may catch it."""


def main() -> None:
    """Serve the host until it closes the channel."""
    namespace: dict[str, Any] = {}
    while (order := receive()) is not None:
        message = json.loads(order)
        if "prepare" in message:
            namespace = _prepared(**message["prepare"])
            _tell({"prepared": True})
        else:
            _tell(_verdict(message["test"], namespace))


def _prepared(
    texts: list[str], functions: list[str], perhaps: list[str], classes: list[str]
) -> dict[str, Any]:
    """Run what was given, and put stand-ins beside it.

    `perhaps` are names that are the candidate's where nothing that was given defines them. An
    import of all that a module has is known to define them only here.
    """
    namespace: dict[str, Any] = {"__name__": "test"}
    for text in texts:
        exec(compile(text, "given.py", "exec"), namespace)  # noqa: S102 - the job of this process
    absent = [name for name in perhaps if name not in namespace]
    ours = {name: namespace[name] for name in classes if isinstance(namespace.get(name), type)}
    for name in [*functions, *absent] or perhaps:
        namespace[name] = _stand_in(name, ours)
    sys.modules[_MODULE] = _Program(ours)
    return namespace


def _stand_in(name: str, classes: dict[str, type]) -> _Class | _Abroad:
    return _Class(classes) if name == _CLASS else _Abroad(classes, name)


class _StandIn:
    """What is the candidate's: an attribute that a test sets must be set there, not here.

    Names with an underscore are attributes of the stand-in's own, and those that decorators set.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise _AbroadError(f"the attribute {name} of the program")
        super().__setattr__(name, value)


class _Program(_StandIn, types.ModuleType):
    """The module that a candidate is: `from solution import f` gives what stands in for `f`."""

    def __init__(self, classes: dict[str, type]) -> None:
        super().__init__(_MODULE)
        self._classes = classes

    def __getattr__(self, name: str) -> _Class | _Abroad:
        if name.startswith("__"):  # asked for by `import` itself
            raise AttributeError(name)
        return _stand_in(name, self._classes)


def _verdict(test: str, namespace: dict[str, Any]) -> dict[str, Any]:
    try:
        exec(compile(test, "test.py", "exec"), namespace)  # noqa: S102 - the job of this process
        return {"verdict": "passed"}
    except _AbroadError as error:
        return {"verdict": "uncrossed", "why": str(error)}
    except AssertionError:
        return {"verdict": "wrong"}
    except BaseException as error:  # noqa: BLE001 - the candidate's errors come here too
        why = traceback.format_exception_only(type(error), error)[-1].strip()
        return {"verdict": "error", "why": why[:_MOST_SAID]}


_instances = itertools.count()


class _Class(_StandIn):
    """The class `Solution` of the candidate. The first call of a method makes the instance."""

    def __init__(self, classes: dict[str, type]) -> None:
        self._classes = classes

    def __call__(self) -> _Instance:
        return _Instance(self._classes)


class _Instance(_StandIn):
    """An instance of the candidate's class, which has methods and nothing else."""

    def __init__(self, classes: dict[str, type]) -> None:
        self._classes = classes
        self._number = next(_instances)

    def __getattr__(self, name: str) -> _Abroad:
        if name.startswith("__"):  # asked for by `copy` and the like, and by no test
            raise AttributeError(name)
        return _Abroad(self._classes, name, self._number)


class _Abroad(_StandIn):
    """A function of the candidate, or a method of an instance of its class."""

    def __init__(self, classes: dict[str, type], name: str, instance: int | None = None) -> None:
        self._classes = classes
        self._name = name
        self._instance = instance

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        arguments = [list(positional), keywords]
        text, sent = self._packed(arguments)
        _tell({"call": {"name": self._name, "instance": self._instance, "arguments": text}})
        answer = json.loads(receive() or b"{}")
        if "raised" in answer:
            raise _own_error(answer["raised"], answer["arguments"])
        # Only of a call that returned None does a test see what became of its arguments: it may
        # take what it expects of any other call from them, after the call.
        (value, left), _ = unpacked(
            answer["returned"],
            self._classes.__getitem__,
            lambda content: sent if content[0] is None else (),
        )
        if value is None and left is not None:
            _restore(arguments, left)
        return value

    def __getattr__(self, name: str) -> Any:
        # Asked for by `functools.wraps` with two, by `asyncio.iscoroutinefunction` with one.
        if name.startswith("_"):
            raise AttributeError(name)
        raise _AbroadError(self._asked_for())

    def _asked_for(self) -> str:
        """Say why only the candidate's process can tell: the name may be of no function there."""
        return f"the value of {self._name} itself"

    def _packed(self, arguments: list[Any]) -> tuple[str, list[object]]:
        try:
            return packed(arguments, self._classes)
        except TooDeepError as error:  # perhaps of what the candidate returned before
            raise RecursionError(str(error)) from error
        except CannotCrossError as error:
            raise _AbroadError(str(error)) from error


def _look(stand_in: _Abroad, *_: object) -> Any:
    raise _AbroadError(stand_in._asked_for())


_LOOKS = (
    *("bool", "len", "iter", "next", "reversed", "contains", "getitem", "setitem", "delitem"),
    *("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "enter", "exit"),
    *("int", "float", "complex", "index", "round", "trunc", "floor", "ceil"),
    *("instancecheck", "subclasscheck", "mro_entries"),
)
"""What Python calls, with underscores around it, where a test looks at a name without calling it.

Its text is none of them: the message of an assertion may name a function, and is made only where
the candidate fails it. A candidate must not have a test moved to its own process by that.
"""
_OPERATORS = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "or", "xor"),
)

for _name in (*_LOOKS, *_OPERATORS, *(f"r{name}" for name in _OPERATORS)):
    setattr(_Abroad, f"__{_name}__", _look)
_Abroad.__hash__ = object.__hash__  # type: ignore[method-assign]  # which `__eq__` takes away
_Abroad.__doc__ = None  # the program's function need not have one


def _restore(arguments: Any, left: Any) -> None:
    """Put what a function has left of its arguments in their place, where they can change."""
    positional, keywords = arguments
    pairs = [
        *zip(positional, left[0], strict=False),
        *((keywords[key], left[1].get(key)) for key in keywords),
    ]
    for argument, after in pairs:
        if type(argument) is not type(after):
            continue
        if isinstance(argument, (list, bytearray)):
            argument[:] = after
        elif isinstance(argument, (dict, set)):
            argument.clear()
            argument.update(after)
        elif isinstance(argument, collections.deque):
            argument.clear()
            argument.extend(after)


def _own_error(name: str, arguments: str) -> Exception:
    """Return the error of a candidate, of the type of Python's own that has this name."""
    kind = _own_type(name)
    values = decoded(arguments)
    for nearest in kind.__mro__[: kind.__mro__.index(Exception)]:
        with suppress(Exception):  # some take arguments of their own alone: UnicodeDecodeError
            error: Exception = nearest(*values)
            return error
    return Exception(*values)


def _own_type(name: str) -> type[Exception]:
    kind = getattr(builtins, name, None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return RuntimeError
    return RuntimeError if kind in _NOT_ITS_OWN else kind


def _tell(message: dict[str, Any]) -> None:
    send(json.dumps(message).encode("ascii"))

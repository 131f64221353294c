"""The program of an examiner's jail: run assertions about functions that are somewhere else.

A candidate's functions are stood in for by objects that ask the host for each call, and the host
asks the candidate's jail. Only plain values come back, of Python's own types.
"""

from __future__ import annotations

import builtins
import json
import traceback
from typing import Any

from gem_envs_code.inside.values import CannotCrossError, decoded, encoded
from gem_tools.sandbox.inside.channel import receive, send

__all__ = ["main"]

_MOST_SAID = 500


class _AbroadError(BaseException):
    """Arguments that cannot cross. No `except Exception` of a test may catch it."""


def main() -> None:
    """Serve the host until it closes the channel."""
    namespace: dict[str, Any] = {}
    while (order := receive()) is not None:
        told = json.loads(order)
        if "prepare" in told:
            namespace = _prepared(**told["prepare"])
            _tell({"prepared": True})
        else:
            _tell(_verdict(told["test"], namespace))


def _prepared(texts: list[str], functions: list[str]) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "test"}
    for text in texts:
        exec(compile(text, "given.py", "exec"), namespace)  # noqa: S102 - the job of this process
    namespace.update({name: _Abroad(name) for name in functions})
    return namespace


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


class _Abroad:
    """A function of the candidate."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        try:
            arguments = encoded([list(positional), keywords])
        except CannotCrossError as error:
            raise _AbroadError(str(error)) from error
        _tell({"call": {"name": self._name, "arguments": arguments}})
        answer = json.loads(receive() or b"{}")
        if "raised" in answer:
            raise _own_error(answer["raised"])(answer["why"])
        return decoded(answer["returned"])


def _own_error(name: str) -> type[Exception]:
    kind = getattr(builtins, name, None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return RuntimeError
    # an AssertionError of the candidate's is not one of the test's
    return RuntimeError if kind is AssertionError else kind


def _tell(message: dict[str, Any]) -> None:
    send(json.dumps(message).encode("ascii"))

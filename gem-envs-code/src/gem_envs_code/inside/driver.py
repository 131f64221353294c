"""The program of a candidate's jail: run what a policy wrote, in a new process for each test.

This process compiles the candidate and forks; it never runs a line of it. No expected value ever
comes here, so whatever a candidate does to this process or says in its place, it can only give
answers, which are compared elsewhere. A report tells how a process ended and what it wrote.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
import traceback
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from gem_envs_code.inside.forking import Forks
from gem_envs_code.inside.values import CannotCrossError, decoded, encoded
from gem_tools.sandbox.inside.channel import receive, send

__all__ = ["main"]

_MOST_SAID = 500
_READY = b"ready\n"

Reports = tuple[list[dict[str, Any]], list[bytes]]
"""How each process ended, and what each wrote."""


def main() -> None:
    """Serve the host until it closes the channel."""
    driver = _Driver()
    os.write(2, _READY)  # so that the host can tell a broken jail from a hostile program
    while (order := receive()) is not None:
        reports, contents = driver.obey(json.loads(order))
        send(b"".join((json.dumps(reports).encode("ascii"), b"\n", *contents)))


class _Driver:
    def __init__(self) -> None:
        self._forks = Forks()
        self._codes: list[types.CodeType] = []
        self._limits: dict[str, Any] = {}
        self._broken = ""

    def obey(self, order: dict[str, Any]) -> Reports:
        """Do what an order says. The first one brings the candidate."""
        if "load" in order:
            self._load(**order["load"])
        if self._broken:
            return [{"broken": self._broken}], []
        if "streams" in order:
            return self._run_on(order["streams"])
        work = (
            partial(self._answer, **order["call"])
            if "call" in order
            else partial(self._examine, **order["exam"])
        )
        report, content = self._forked(work)
        return [report], [content]

    def _load(self, texts: list[str], limits: dict[str, Any]) -> None:
        """Take a candidate: texts that run one after the other in one namespace."""
        self._limits = limits
        try:
            self._codes = [_compiled(text, "main.py") for text in texts]
        except Exception as error:  # noqa: BLE001 - a compiler may raise more than SyntaxError
            self._broken = _last_line(error)

    def _run_on(self, inputs: list[str]) -> Reports:
        """Run the candidate on each input, up to the first where it does not end well."""
        reports, contents = [], []
        for text in inputs:
            stdin = text.encode("utf-8", "surrogatepass")
            report, content = self._forked(lambda: self._namespace("__main__"), stdin)
            reports.append(report)
            contents.append(content)
            if report["code"] or report["is_late"] or report["is_full"]:
                break
        return reports, contents

    def _forked(self, work: Callable[[], object], stdin: bytes = b"") -> tuple[Any, bytes]:
        most = self._limits["output_bytes"]
        ended = self._forks.run(
            work,
            stdin=stdin,
            cpu_s=self._limits["cpu_s"],
            wall_s=self._limits["wall_s"],
            most=most,
        )
        _clear_folder()
        report = {
            "code": ended.code,
            "is_late": ended.is_late,
            "is_full": max(len(ended.stdout), len(ended.stderr)) > most,
            "cpu_s": ended.cpu_s,
            "said": _last_line_of(ended.stderr),
            "size": len(ended.stdout),
        }
        return report, ended.stdout

    def _answer(self, name: str, arguments: str) -> None:
        """Call a function of the candidate, and write down what it returned or raised."""
        result = _taken_output()
        namespace = self._namespace("solution")
        positional, keywords = decoded(arguments)
        try:
            answer = {"returned": encoded(_found(namespace, name)(*positional, **keywords))}
        except CannotCrossError as error:
            answer = {"uncrossed": str(error)}
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - a test may expect it
            answer = {"raised": _own_type(error), "why": _last_line(error)}
        _write(result, json.dumps(answer))

    def _examine(self, test: str, word: str) -> None:
        """Run a test in the candidate's own process, and write a word where it has ended."""
        result = _taken_output()
        namespace = self._namespace("solution")
        exec(_compiled(test, "test.py"), namespace)  # noqa: S102 - the job of this process
        _write(result, word)

    def _namespace(self, name: str) -> dict[str, Any]:
        module = sys.modules[name] = types.ModuleType(name)
        module.__file__ = "main.py"
        for code in self._codes:
            exec(code, module.__dict__)  # noqa: S102 - the job of this process
        return module.__dict__


def _found(namespace: dict[str, Any], name: str) -> Any:
    """Return a function, or a method of the class that some data sets ask for."""
    if name not in namespace and hasattr(namespace.get("Solution"), name):
        return getattr(namespace["Solution"](), name)
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined")
    return namespace[name]


def _own_type(error: Exception) -> str:
    """Return the name of the nearest type of Python's own."""
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins")


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(type(error), error)[-1].strip()[:_MOST_SAID]


def _last_line_of(said: bytes) -> str:
    return said.rstrip().rpartition(b"\n")[2][:_MOST_SAID].decode("utf-8", "replace").strip()


def _compiled(text: str, name: str) -> types.CodeType:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec", dont_inherit=True)


def _taken_output() -> int:
    """Take stdout away from the candidate, and return a descriptor of what it was."""
    output, nothing = os.dup(1), os.open("/dev/null", os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    return output


def _write(file: int, text: str) -> None:
    rest = memoryview(text.encode("ascii"))
    while rest:
        rest = rest[os.write(file, rest) :]


def _clear_folder() -> None:
    """Remove what a test left in its working folder."""
    for name in os.listdir():  # noqa: PTH208 - pathlib is not imported in a jail
        try:
            os.unlink(name)  # noqa: PTH108
        except OSError:  # it is a folder
            import shutil  # here: importing it takes longer than a test

            shutil.rmtree(name, ignore_errors=True)

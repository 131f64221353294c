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
import types
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from gem_envs_code.inside.forking import Ended, Forks, taken_output
from gem_envs_code.inside.functions import Functions, last_line, tried
from gem_envs_code.inside.talking import Talks
from gem_envs_code.inside.values import decoded, encoded
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
        self._talks = Talks(self._forks)
        self._codes: list[types.CodeType] = []
        self._classes: list[str] = []
        self._limits: dict[str, Any] = {}
        self._broken = ""

    def obey(self, order: dict[str, Any]) -> Reports:
        """Do what an order says. The first one brings the candidate."""
        if "load" in order:
            self._load(**order["load"])
        if self._broken:
            return [{"broken": self._broken}], []
        if "ask" in order:
            report, content = self._asked(**order["ask"])
            return [report], [content]
        self._talks.end()
        if "streams" in order:
            return self._run_on(order["streams"])
        work = (
            partial(self._answer, **order["call"])
            if "call" in order
            else partial(self._examine, **order["exam"])
        )
        report, content = self._forked(work)
        return [report], [content]

    def _load(self, texts: list[str], classes: list[str], limits: dict[str, Any]) -> None:
        """Take a candidate: texts that run one after the other in one namespace.

        The last is the program; `classes` are those of the others whose instances may cross.
        """
        self._limits = limits
        self._classes = classes
        try:
            self._codes = [_compiled(text, "main.py") for text in texts]
        except Exception as error:  # noqa: BLE001 - a compiler may raise more than SyntaxError
            self._broken = last_line(error)

    def _run_on(self, inputs: list[str]) -> Reports:
        """Run the candidate on each input, up to the first where it does not end well."""
        reports = []
        contents = []
        for text in inputs:
            stdin = text.encode("utf-8", "surrogatepass")
            report, content = self._forked(self._run, stdin)
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
        return self._reported(ended)

    def _reported(self, ended: Ended) -> tuple[Any, bytes]:
        most = self._limits["output_bytes"]
        report = {
            "code": ended.code,
            "is_late": ended.is_late,
            "is_full": max(len(ended.stdout), len(ended.stderr)) > most,
            "cpu_s": ended.cpu_s,
            "said": _last_line_of(ended.stderr) if ended.stderr else "",
            "size": len(ended.stdout),
        }
        return report, ended.stdout

    def _asked(self, *, is_first: bool, **question: Any) -> tuple[Any, bytes]:
        """Have a function called in the process of a test, a new one for its first call."""
        if is_first:
            self._talks.end()
            _clear_folder()
            limits = self._limits
            self._talks.begin(
                self._answering,
                cpu_s=limits["cpu_s"],
                wall_s=limits["wall_s"],
                most=limits["output_bytes"],
            )
        return self._reported(self._talks.ask(json.dumps(question).encode("ascii")))

    def _answering(self) -> Callable[[bytes], bytes]:
        functions = self._functions()
        return lambda question: functions.answer(**json.loads(question)).encode("ascii")

    def _answer(self, name: str, arguments: str) -> None:
        """Call a function of the candidate, and write down what it returned or raised."""
        result = taken_output()
        functions = self._functions()

        def returned() -> str:
            positional, keywords = decoded(arguments)
            return encoded(functions.found(name)(*positional, **keywords))

        _write(result, tried(returned))

    def _examine(self, texts: list[str], word: str, function: str) -> None:
        """Run a test in the candidate's own process, and write a word where it has ended."""
        result = taken_output()
        functions = self._functions()
        namespace = functions.namespace
        if function:
            with suppress(NameError):  # the test says so too, if it comes to that
                namespace[function] = functions.found(function)
        for text in texts:
            exec(_compiled(text, "test.py"), namespace)  # noqa: S102 - the job of this process
        _write(result, word)

    def _functions(self) -> Functions:
        """Run the candidate. What it has of a name that was given before it is not its own."""
        given_namespace: dict[str, Any] = {}
        module = self._module("solution")
        for number, code in enumerate(self._codes, 1):
            if number == len(self._codes):
                given_namespace = dict(module.__dict__)
            exec(code, module.__dict__)  # noqa: S102 - the job of this process
        return Functions(module.__dict__, given_namespace, self._classes)

    def _run(self) -> None:
        module = self._module("__main__")
        for code in self._codes:
            exec(code, module.__dict__)  # noqa: S102 - the job of this process

    def _module(self, name: str) -> types.ModuleType:
        module = sys.modules[name] = types.ModuleType(name)
        module.__file__ = "main.py"
        return module


def _last_line_of(stderr: bytes) -> str:
    return stderr.rstrip().rpartition(b"\n")[2][:_MOST_SAID].decode("utf-8", "replace").strip()


def _compiled(text: str, name: str) -> types.CodeType:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec", dont_inherit=True)


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

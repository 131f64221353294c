"""Run a program in this process as `python main.py` would, and end with it."""

from __future__ import annotations

import atexit
import contextlib
import io
import linecache
import os
import random
import site
import sys
import threading
import traceback
import types
from typing import Any, NoReturn

__all__ = ["be_fresh", "compiled", "offer_exit", "run_and_exit"]

_NAME = "main.py"


def offer_exit() -> None:
    """Provide `exit()` and its like, which interpreters without site packages lack."""
    for name in ("setquit", "setcopyright", "sethelper"):
        getattr(site, name)()


def be_fresh(arguments: list[str]) -> types.ModuleType:
    """Make this process look like a new interpreter with new streams, and return `__main__`."""
    _open_streams()
    sys.argv = [_NAME, *arguments]
    sys.orig_argv = ["python", *sys.argv]
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - pathlib is not imported here
    random.seed()
    numbers = sys.modules.get("numpy.random")
    if numbers is not None:
        numbers.seed()
    main = types.ModuleType("__main__")
    main.__file__ = _NAME
    sys.modules["__main__"] = main
    return main


def _open_streams() -> None:
    for number, name, mode, errors in (
        (0, "stdin", "r", "surrogateescape"),
        (1, "stdout", "w", "surrogateescape"),
        (2, "stderr", "w", "backslashreplace"),
    ):
        raw = io.FileIO(number, mode, closefd=False)
        buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        stream = io.TextIOWrapper(
            buffered, encoding="utf-8", errors=errors, line_buffering=number == 2
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def compiled(code: str, name: str) -> types.CodeType:
    """Compile a program whose lines a traceback can show."""
    with contextlib.suppress(UnicodeError):  # what cannot be encoded is not compiled either
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    return compile(code, name, "exec", dont_inherit=True)


def run_and_exit(code: str, main: types.ModuleType) -> NoReturn:
    """Run the program to its end and exit with its status, as an interpreter does."""
    status = 1
    try:
        status = _status_of(code, main)
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the end does
        atexit._run_exitfuncs()
    finally:
        if not _flush():
            status = status or 120
        os._exit(status)


def _status_of(code: str, main: types.ModuleType) -> int:
    try:
        exec(compiled(code, _NAME), main.__dict__)  # noqa: S102 - the job of this process
        return 0
    except SystemExit as error:
        return _exit_status(error.code)
    except BaseException as error:  # noqa: BLE001 - a program may raise anything
        show(error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1


def show(error: BaseException) -> None:
    """Print a traceback without the frames of this module."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error = error.with_traceback(trace)
    if sys.excepthook is sys.__excepthook__:  # it would look for the lines in a file
        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, trace)


def _exit_status(code: Any) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    with contextlib.suppress(Exception):
        print(code, file=sys.stderr)  # noqa: T201 - as Python does
    return 1


def _flush() -> bool:
    flushed = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001 - closed, or replaced by anything
            flushed = stream is None or getattr(stream, "closed", False)
    return flushed

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
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

__all__ = [
    "be_fresh",
    "end_status",
    "flush",
    "offer_exit",
    "open_streams",
    "run_and_exit",
    "run_program",
    "show_lines_of",
]

_NAME = "main.py"
_STREAM = io.IOBase.__mro__[1]  # of all streams, too; a check against `io.IOBase` may run any code


def offer_exit() -> None:
    """Provide `exit()` and its like, which interpreters without site packages lack."""
    for name in ("setquit", "setcopyright", "sethelper"):
        getattr(site, name)()


def be_fresh(arguments: list[str]) -> types.ModuleType:
    """Make this process look like a new interpreter with new streams, and return `__main__`."""
    open_streams()
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


def open_streams() -> None:
    """Make new standard streams over the descriptors 0, 1 and 2."""
    for number, name, mode, errors in (
        (0, "stdin", "r", "surrogateescape"),
        (1, "stdout", "w", "surrogateescape"),
        (2, "stderr", "w", "backslashreplace"),
    ):
        raw: Any = io.FileIO(number, mode, closefd=False)
        raw.name = f"<{name}>"
        buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        stream: Any = io.TextIOWrapper(
            buffered, encoding="utf-8", errors=errors, line_buffering=number == 2
        )
        stream.mode = mode  # an interpreter's have it, and contestants' own streams ask for it
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def run_program(code: str, main: types.ModuleType) -> None:
    """Run a program in a module. Raises whatever it raises."""
    exec(_compiled(code, _NAME), main.__dict__)  # noqa: S102 - the job of this process


def _compiled(code: str, name: str) -> types.CodeType:
    """Compile a program whose lines a traceback can show."""
    show_lines_of(code, name)
    return compile(code, name, "exec", dont_inherit=True)


def show_lines_of(code: str, name: str) -> None:
    """Let tracebacks show the lines of this code, which is in no file."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)


def run_and_exit(work: Callable[[], object]) -> NoReturn:
    """Do the work to its end and exit with its status, as an interpreter does a program."""
    status = 1
    try:
        status = _status_of(work)
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the end does
        atexit._run_exitfuncs()
    finally:
        if not flush(_own_streams()):
            status = status or 120
        os._exit(status)


def _status_of(work: Callable[[], object]) -> int:
    try:
        work()
        return 0
    except BaseException as error:  # noqa: BLE001 - a program may raise anything
        return end_status(error)


def end_status(error: BaseException) -> int:
    """Show what ended a program, as an interpreter does, and return its exit status."""
    if isinstance(error, SystemExit):
        return _exit_status(error.code)
    show(error)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def show(error: BaseException) -> None:
    """Print a traceback without the frames of this package."""
    trace = error.__traceback__
    while trace is not None and _is_own(trace.tb_frame.f_code):
        trace = trace.tb_next
    error = error.with_traceback(trace)
    if sys.excepthook is sys.__excepthook__:  # it would look for the lines in a file
        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, trace)


def _is_own(code: types.CodeType) -> bool:
    return os.path.dirname(code.co_filename) == os.path.dirname(__file__)  # noqa: PTH120


def _exit_status(code: Any) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    with contextlib.suppress(Exception):
        print(code, file=sys.stderr)  # noqa: T201 - as Python does
    return 1


def flush(others: Iterable[Any] = ()) -> bool:
    """Write out what the standard streams hold, and say whether that was possible.

    Then other streams are flushed, and last the first standard ones, which a program may have
    replaced and still use: those in their places may write to them as they are flushed. Whether
    that works is their own matter, for what they are over may be detached, or closed on purpose.
    """
    flushed = [_does_flush(getattr(sys, name, None)) for name in ("stdout", "stderr")]
    for stream in (*others, *_first_streams()):
        _does_flush(stream)
    return all(flushed)


def _first_streams() -> list[Any]:
    return [getattr(sys, name, None) for name in ("__stdout__", "__stderr__")]


def _own_streams() -> list[Any]:
    """Return the streams that the variables of the program hold, but for the first ones.

    An interpreter closes them as it ends, before the first ones. Nothing of the program's runs
    here, so that none of its other objects keeps a stream from being found.
    """
    first = [id(stream) for stream in _first_streams()]
    try:
        values = list(vars(sys.modules["__main__"]).values())
    except Exception:  # noqa: BLE001 - a program may have put anything there
        return []
    # Not `isinstance`: it asks an object for its `__class__`.
    return [
        value for value in values if issubclass(type(value), _STREAM) and id(value) not in first
    ]


def _does_flush(stream: Any) -> bool:
    """Flush a stream, and say whether nothing was lost that it was to write."""
    try:
        if stream is not None:
            stream.flush()
        return True
    except BaseException:  # noqa: BLE001 - closed, full, or replaced by anything
        return _is_closed(stream)


def _is_closed(stream: Any) -> bool:
    try:
        return bool(stream.closed)
    except BaseException:  # noqa: BLE001 - it may be anything
        return False

"""Jails for one of the programs in `inside`, from the sandbox that a process shares.

Whoever grades takes a place first, so that the environments of a process keep its cores busy and
no more. Needs gem-tools, which is imported when the first sandbox is made.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import marshal
import os
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from gem_envs_code import inside

if TYPE_CHECKING:
    from gem_tools.sandbox import Sandbox, Session

__all__ = ["Options", "keep_sandbox", "open_jail", "place"]

Options = tuple[str, str]
"""A sandbox's name and its options as JSON text."""

Role = Literal["driver", "examiner", "checker"]

_MODULES: dict[Role, list[str]] = {
    "driver": ["values", "instances", "functions", "forking", "talking", "driver"],
    "examiner": ["values", "instances", "examiner"],
    "checker": ["checker"],
}
_PREPARES = {"bwrap"}
_HEAVY = re.compile(r"^[ \t]*(?:import|from)[ \t]+(numpy|sympy|scipy|pandas)\b", re.MULTILINE)
_LOAD = """\
import marshal, sys, types
for name, code in marshal.loads({codes!r}):
    module = sys.modules[name] = types.ModuleType(name)
    exec(code, module.__dict__)
"""
_LOAD_HERE = """\
import marshal, sys, types
with open(0, "rb", closefd=False) as stdin:
    codes = marshal.load(stdin)
for name, code in codes:
    module = sys.modules[name] = types.ModuleType(name)
    exec(code, module.__dict__)
"""
_START = """\
import sys
module = sys.modules[{name!r}]
ours = [name for name in sys.modules if name.startswith(("gem_envs_code.", "gem_tools."))]
kept = [sys.modules.pop(name) for name in ours]  # to free them would copy the pages they are on
{imports}module.main()
"""
_IMPORT = """\
try:
    import {name}
except ImportError:
    pass
"""


_lock = threading.Lock()  # environments on several threads share what one of them makes
_kept: dict[Options, Sandbox] = {}


def keep_sandbox(options: Options) -> Sandbox:
    """Return the sandbox of this process, made at the first call and kept until the process ends.

    Raises SandboxUnavailable where this machine has none, with what to install.
    """
    from gem_tools.sandbox import make_sandbox  # heavy: 0.1 s

    name, text = options
    with _lock:
        if options not in _kept:
            if not _kept:
                atexit.register(_close)
            _kept[options] = make_sandbox(name, **_prepared(name, json.loads(text)))
        return _kept[options]


def _prepared(name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Have our programs loaded once, before there is a jail, by a sandbox that can."""
    if name not in _PREPARES:
        return kwargs
    every = dict.fromkeys(module for modules in _MODULES.values() for module in modules)
    ours = _LOAD.format(codes=_codes(*every))
    return {**kwargs, "preparations": [*kwargs.get("preparations", ()), ours]}


def _close() -> None:
    """End the processes of sandboxes that can be ended without waiting on a loop."""
    while _kept:
        _, sandbox = _kept.popitem()
        close = getattr(sandbox, "close", None)
        if close is not None:
            close()


async def open_jail(options: Options, role: Role, *, memory_mb: int, program: str = "") -> Session:
    """Open a jail with one of our programs in it; `program` is what it will be given to run.

    What of the heavy packages the program imports is imported once, before it comes.
    """
    from gem_tools.sandbox import ExecRequest

    start = _START.format(name=_full(role), imports=_imports(program))
    if options[0] in _PREPARES:
        request = ExecRequest(start, memory_mb=memory_mb)
    else:
        codes = _codes(*_MODULES[role])
        request = ExecRequest(_LOAD_HERE + start, stdin=codes, memory_mb=memory_mb)
    return await keep_sandbox(options).open(request)


def _imports(program: str) -> str:
    names = sorted({match[1] for match in _HEAVY.finditer(program)})
    return "".join(_IMPORT.format(name=name) for name in names)


@functools.cache
def _codes(*names: str) -> bytes:
    """Return modules, compiled: jails have the interpreter that runs this."""
    folder = Path(inside.__file__).parent
    codes = []
    for name in names:
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        codes.append((_full(name), compile(text, f"{name}.py", "exec")))
    return marshal.dumps(codes)


def _full(name: str) -> str:
    return f"{inside.__name__}.{name}"


_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


@asynccontextmanager
async def place() -> AsyncIterator[None]:
    """Wait until one more problem may be graded on this loop: two more at once than cores."""
    most = (os.cpu_count() or 1) + 2
    # A semaphore belongs to the loop that it is first waited on with.
    async with _places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(most)):
        yield


def _start_afresh() -> None:
    """Forget the sandboxes after a fork: their processes answer the parent alone."""
    global _lock
    _lock = threading.Lock()
    _kept.clear()


os.register_at_fork(after_in_child=_start_afresh)

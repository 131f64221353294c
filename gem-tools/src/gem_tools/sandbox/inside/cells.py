"""A session's program that runs cells one after the other, as an interactive interpreter does.

What a cell wrote, to whichever stream and by whatever it started, is read by another process: a
cell may close or replace anything, and write more than there is room for.
"""

from __future__ import annotations

import os
import struct
import sys
import traceback
import types
from contextlib import suppress
from typing import Any

from gem_tools.sandbox.inside import channel, program
from gem_tools.sandbox.inside.outputs import Outputs

__all__ = ["ANSWER", "CUT_STDERR", "CUT_STDOUT", "EXITED", "LOST", "RAISED", "main"]

ANSWER = struct.Struct(">BBI")
"""An answer begins with flags, an exit status, and the length of stdout; stdout and stderr
follow."""
RAISED = 1
CUT_STDOUT = 2
CUT_STDERR = 4
EXITED = 8
"""It raised SystemExit, with this exit status."""
LOST = 16
"""What it wrote last is still in a stream that cannot be written to: it was closed below it."""


def main(most: int) -> None:
    """Run each message as a cell, and answer with at most this many bytes of each stream."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    outputs = Outputs(most)
    own = os.getpid()
    for number, message in enumerate(iter(channel.receive, None), start=1):
        flags, status = _ending(message.decode("utf-8", "surrogatepass"), f"cell {number}", module)
        flags |= 0 if program.flush() else LOST
        if os.getpid() != own:  # a fork that the cell did not end
            os._exit(0)
        channel.send(_answer(outputs.taken(), most, flags, status))


def _answer(texts: list[bytes], most: int, flags: int, status: int) -> bytes:
    for text, flag in zip(texts, (CUT_STDOUT, CUT_STDERR), strict=True):
        flags |= flag if len(text) > most else 0
    stdout, stderr = (text[:most] for text in texts)
    return ANSWER.pack(flags, status, len(stdout)) + stdout + stderr


def _ending(code: str, name: str, module: types.ModuleType) -> tuple[int, int]:
    """Run a cell, and return flags and the exit status that it asked for."""
    try:
        _run(code, name, module.__dict__)
    except BaseException as error:  # noqa: BLE001 - a cell may raise anything
        status = _shown(error)
        if isinstance(error, SystemExit):
            return (RAISED | EXITED if status else 0), status
        return RAISED, 0
    return 0, 0


def _shown(error: BaseException) -> int:
    """Show what ended a cell, and return its exit status."""
    try:
        return program.end_status(error)
    except BaseException as failure:  # noqa: BLE001 - a cell may set `sys.excepthook`, or `stderr`
        for each in (error, failure):
            with suppress(OSError):  # nor may the descriptor be open
                os.write(2, "".join(traceback.format_exception_only(each)).encode(errors="replace"))
        return 1


def _run(code: str, name: str, names: dict[str, Any]) -> None:
    import ast  # heavy: it makes every fork of the zygote larger

    program.show_lines_of(code, name)
    # Not `ast.parse`: its own line would stand in the traceback of a SyntaxError.
    tree = compile(code, name, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", dont_inherit=True), names)  # noqa: S102 - the job of this
    if last is not None:
        exec(compile(ast.Interactive([last]), name, "single", dont_inherit=True), names)  # noqa: S102

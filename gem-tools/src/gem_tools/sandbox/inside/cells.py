"""A session's program that runs cells one after the other, as an interactive interpreter does.

What a cell wrote, to whichever stream and by whatever it started, is read from files: a cell may
close or replace anything.
"""

from __future__ import annotations

import os
import struct
import sys
import types
from typing import Any

from gem_tools.sandbox.inside import channel, files, program

__all__ = ["ANSWER", "CUT_STDERR", "CUT_STDOUT", "RAISED", "main"]

ANSWER = struct.Struct(">BI")
"""An answer begins with flags and the length of stdout; stdout and stderr follow."""
RAISED = 1
CUT_STDOUT = 2
CUT_STDERR = 4


def main(most: int) -> None:
    """Run each message as a cell, and answer with at most this many bytes of each stream."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    outputs = [files.new_file(), files.new_file()]
    for stream, descriptor in enumerate(outputs, start=1):
        os.dup2(descriptor, stream)
    own = os.getpid()
    for number, message in enumerate(iter(channel.receive, None), start=1):
        raised = _raises(message.decode("utf-8", "surrogatepass"), f"cell {number}", module)
        program.flush()
        if os.getpid() != own:  # a fork that the cell did not end
            os._exit(0)
        channel.send(_answer(outputs, most, RAISED if raised else 0))


def _answer(outputs: list[int], most: int, flags: int) -> bytes:
    texts = []
    for descriptor, flag in zip(outputs, (CUT_STDOUT, CUT_STDERR), strict=True):
        text = os.pread(descriptor, most + 1, 0)
        os.ftruncate(descriptor, 0)
        flags |= flag if len(text) > most else 0
        texts.append(text[:most])
    return ANSWER.pack(flags, len(texts[0])) + b"".join(texts)


def _raises(code: str, name: str, module: types.ModuleType) -> bool:
    try:
        _run(code, name, module.__dict__)
    except BaseException as error:  # noqa: BLE001 - a cell may raise anything
        return program.end_status(error) != 0
    return False


def _run(code: str, name: str, names: dict[str, Any]) -> None:
    import ast  # heavy: it makes every fork of the zygote larger

    program.show_lines_of(code, name)
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", dont_inherit=True), names)  # noqa: S102 - the job of this
    if last is not None:
        exec(compile(ast.Interactive([last]), name, "single", dont_inherit=True), names)  # noqa: S102

"""`[search(query="gem"), add(a=1, b=2)]`: a Python list of calls, as Llama models write.

The text is read as Python and never run: only literals are taken as arguments.
"""

from __future__ import annotations

import ast
import re
from itertools import accumulate
from typing import Any

from gem.parsing._calls import CallOrError, Malformed, Parsed, ParsedCall, Span, parsed
from gem.parsing._cursor import only_piece
from gem.parsing._plain import NotPlainError, plain
from gem.parsing._syntax import syntax_tree

__all__ = ["Pythonic"]

_BEGINS = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(")
_FRAMES = (
    ("<|python_start|>", "<|python_end|>"),  # Llama 4
    ("<|tool_call_start|>", "<|tool_call_end|>"),  # LFM2
)
_MAX_CHARACTERS = 64 * 1024
_MAX_DEPTH = 64
_DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError, TypeError)


class Pythonic:
    """Calls written as a Python list of calls, which is all of an answer but for its thinking.

    An answer that does not begin with `[name(` is text. Arguments have names, and are literals
    that JSON has, tuples being lists. More than 65536 characters, or more than 64 open brackets
    at once (those in strings count), are not read.
    """

    def parse(self, action: str) -> Parsed:
        span = only_piece(action)
        if span is None:
            return Parsed((), action)
        written = _unframed(action[slice(*span)])
        if not _BEGINS.match(written):
            return Parsed((), action)
        return parsed(action, _calls(written, span))


def _unframed(text: str) -> str:
    for begin, end in _FRAMES:
        text = text.removeprefix(begin).removesuffix(end).strip()
    return text


def _calls(written: str, span: Span) -> list[CallOrError]:
    # Both before Python reads it: its parser takes memory by the length, and by the depth it can
    # end the whole process.
    if len(written) > _MAX_CHARACTERS:
        reason = f"The calls have {len(written)} characters, and {_MAX_CHARACTERS} are read."
        return [Malformed("call_0", "size", reason, span=span)]
    if max(accumulate(_DEPTHS.get(character, 0) for character in written)) > _MAX_DEPTH:
        return [Malformed("call_0", "size", "The calls are nested too deep.", span=span)]
    try:
        tree = syntax_tree(written, "eval").body
    except _UNREADABLE as error:
        # A MemoryError is of Python's parser, which stops at some depth, and has no text.
        why = getattr(error, "msg", str(error)) or "they are nested too deep"
        reason = f"The calls cannot be read as Python: {why}."
        return [Malformed("call_0", "syntax", reason, span=span)]
    if not isinstance(tree, ast.List):
        return [Malformed("call_0", "shape", "The calls are not a list of calls alone.", span=span)]
    return [_call(f"call_{number}", node, span) for number, node in enumerate(tree.elts)]


def _call(id: str, node: ast.expr, span: Span) -> CallOrError:
    name = _dotted_name(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or name is None:
        return Malformed(id, "shape", "An item of the list is not a call by name.", span=span)
    arguments: dict[str, Any] = {}
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        reason = f"The arguments of {name} must have names: {name}(argument=...)."
        return Malformed(id, "shape", reason, name, span)
    for keyword in node.keywords:
        try:
            arguments[str(keyword.arg)] = plain(ast.literal_eval(keyword.value))
        except NotPlainError as error:
            reason = f"The argument {keyword.arg} of {name} cannot be read: {error}."
            return Malformed(id, "shape", reason, name, span)
        except _UNREADABLE:
            reason = f"The argument {keyword.arg} of {name} is not a literal."
            return Malformed(id, "syntax", reason, name, span)
    return ParsedCall(id, name, arguments, span)


def _dotted_name(node: ast.expr) -> str | None:
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None

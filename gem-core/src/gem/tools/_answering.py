"""Call a tool at its boundary: whatever it does, there is an answer.

Knows nothing about who calls, or how many calls there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gem.content import ToolResult, normalise_text
from gem.errors import BadArguments, in_one_line
from gem.tools._base import Tool, ToolContext

__all__ = ["answer", "failure"]

_MAX_ERROR_CHARACTERS = 2_000


async def answer(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Call a tool and return its answer, or what went wrong as an answer with `is_error`.

    A call that outlasts `context.timeout_s` is cancelled and not waited for. Text is cut at
    `tool.max_characters`, and lone surrogates are replaced. `meta["error"]` is "arguments",
    "timeout" or "failed"; `meta["cut"]` counts the characters that were cut off.
    """
    call = asyncio.ensure_future(_attempt(tool, arguments, context))
    # Not `wait_for`: it waits until a cancelled call has ended, and a tool may refuse to.
    try:
        done, _ = await asyncio.wait({call}, timeout=context.timeout_s)
    except asyncio.CancelledError:
        call.cancel()  # the episode was: `wait` alone would leave the call running
        raise
    if not done:
        call.cancel()
        return failure(
            context.call_id, "timeout", f"{tool.name} was stopped after {context.timeout_s:g} s."
        )
    if call.cancelled():  # by itself, for nobody else did
        return failure(context.call_id, "failed", f"{tool.name} failed: it was cancelled.")
    return _cut_to_size(call.result(), tool.max_characters)


def failure(call_id: str, kind: str, text: str) -> ToolResult:
    """Return the answer to a call that came to nothing. `kind` goes to `meta["error"]`."""
    if len(text) > _MAX_ERROR_CHARACTERS:
        text = f"{text[:_MAX_ERROR_CHARACTERS]}..."
    return ToolResult(call_id, normalise_text(text), True, {"error": kind})


async def _attempt(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Call the tool. Raises nothing that a task may not raise: SystemExit would end the loop."""
    try:
        result: Any = await tool.call(arguments, context)
    except BadArguments as error:
        return failure(context.call_id, "arguments", str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may raise anything
        return failure(context.call_id, "failed", f"{tool.name} failed: {in_one_line(error)}")
    if isinstance(result, ToolResult) and isinstance(result.content, str):
        # The id of the call is ours: a tool that keeps its answers would give an older one.
        return replace(result, call_id=context.call_id, is_error=bool(result.is_error))
    problem = f"it answered {type(result).__name__}, and no ToolResult of text"
    return failure(context.call_id, "failed", f"{tool.name} failed: {problem}.")


def _cut_to_size(result: ToolResult, max_characters: int) -> ToolResult:
    """Return an answer as a record can hold it: not too long, and without lone surrogates."""
    text = result.content
    cut = len(text) - max_characters
    if cut <= 0:
        return replace(result, content=normalise_text(text))
    shortened = f"{text[:max_characters]}\n[cut here: {cut} more characters]"
    return replace(result, content=normalise_text(shortened), meta={**result.meta, "cut": cut})

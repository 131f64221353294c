"""The tool `python`: a policy writes a program and reads what it printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem.content import ToolResult
from gem.errors import BadArguments
from gem.tools import Tool, ToolContext
from gem_tools.sandbox import ExecRequest, ExecResult, Sandbox, make_sandbox
from gem_tools.sandbox.backends import DEFAULT_BACKEND
from gem_tools.sandbox.cells import CellResult, Notebooks

__all__ = ["PythonTool"]


_STATELESS = "Run a Python program and return what it prints. Nothing is kept."
_STATEFUL = (
    "Run a cell of Python and return what it prints, and the value of its last expression. "
    "Variables are kept from call to call."
)
_LOST_OUTPUT = (
    "[what was printed last cannot be shown: the descriptor of stdout or stderr was closed]"
)


class PythonTool(Tool):
    """Run each call's program in a sandbox of its own; nothing is kept from call to call.

    The answer is what the program wrote to stdout, then to stderr, then how it ended unless it
    ended with exit status 0. A program that ends in any other way is an error. `backend` is a
    sandbox's name, with its `options`, or a sandbox, which whoever made it closes.

    With `stateful` an episode has one sandbox, and its calls are cells: they run one after the
    other, share their variables, and show the value of their last expression. A call that runs
    past `program_timeout_s`, takes too much memory or ends the interpreter loses them, and says
    so; so does `idle_s` without a call. An episode with variables cannot be saved or forked.

    Raises SandboxUnavailable where this machine cannot provide the backend.
    """

    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "a Python program; print what matters"}
        },
        "required": ["code"],
        "additionalProperties": False,
    }

    def __init__(
        self,
        *,
        backend: str | Sandbox = DEFAULT_BACKEND,
        options: Mapping[str, Any] | None = None,
        stateful: bool = False,
        idle_s: float = 600.0,
        program_timeout_s: float = 10.0,
        memory_mb: int = 512,
        max_output_bytes: int = 64 * 1024,
        max_characters: int = 8_000,
        name: str = "python",
        description: str | None = None,
    ) -> None:
        self.name = name
        self.description = description or (_STATEFUL if stateful else _STATELESS)
        self.keeps_sessions = stateful
        self.max_characters = max_characters
        self.timeout_s = None  # each program has a deadline, and may wait for its turn
        self._limits: dict[str, Any] = {
            "timeout_s": program_timeout_s,
            "memory_mb": memory_mb,
            "max_output_bytes": max_output_bytes,
        }
        ExecRequest("", **self._limits)  # so that a bad limit is told here, not at a call
        self._owns_sandbox = isinstance(backend, str)
        self._sandbox: Sandbox = (
            make_sandbox(backend, **(options or {})) if isinstance(backend, str) else backend
        )
        self._notebooks = Notebooks(
            self._sandbox, memory_mb=memory_mb, max_output_bytes=max_output_bytes, idle_s=idle_s
        )

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Run a program. `meta` says how it ended. Raises BadArguments and SandboxError."""
        code = self._code(arguments)
        limits = dict(self._limits)
        if context.timeout_s is not None:  # so that what was printed until then is kept
            limits["timeout_s"] = min(limits["timeout_s"], 0.9 * context.timeout_s)
        if self.keeps_sessions:
            cell = await self._notebooks.run(context.session, code, limits["timeout_s"])
            return _answer_of_cell(cell, context)
        return _answer(await self._sandbox.run(ExecRequest(code, **limits)), context)

    def _code(self, arguments: Mapping[str, Any]) -> str:
        code = arguments.get("code")
        if not isinstance(code, str) or len(arguments) != 1:
            raise BadArguments(
                f"{self.name} cannot be called with these arguments: it takes 'code', a string "
                "with a Python program, and nothing else.",
                subject=self.name,
            )
        return code

    def end_session(self, session: str) -> None:
        self._notebooks.end(session)

    async def aclose(self) -> None:
        await self._notebooks.aclose()
        if self._owns_sandbox:
            await self._sandbox.aclose()


def _answer(result: ExecResult, context: ToolContext) -> ToolResult:
    pieces = [
        _text(result.stdout, "stdout", is_cut=result.stdout_truncated),
        _text(result.stderr, "stderr", is_cut=result.stderr_truncated),
        "" if result.status == "ok" else f"[the program ended: {result.summary}]",
    ]
    return ToolResult(context.call_id, _joined(pieces), result.status != "ok", _meta(result))


def _answer_of_cell(cell: CellResult, context: ToolContext) -> ToolResult:
    pieces = [
        f"[the variables of earlier calls are lost: {cell.loss}]" if cell.loss else "",
        _text(cell.stdout, "stdout", is_cut=cell.stdout_truncated),
        _text(cell.stderr, "stderr", is_cut=cell.stderr_truncated),
    ]
    if cell.ending is None:
        pieces += _remarks(cell)
        is_error = cell.raised or cell.output_lost
        meta: dict[str, Any] = {"status": "error" if is_error else "ok"}
        return ToolResult(context.call_id, _joined(pieces), is_error, meta)
    pieces.append(f"[the interpreter ended: {cell.ending.summary}; all variables are lost]")
    return ToolResult(context.call_id, _joined(pieces), True, _meta(cell.ending))


def _remarks(cell: CellResult) -> list[str]:
    status = cell.exit_status
    return [
        f"[the cell ended: exit status {status}; variables are kept]" if status else "",
        _LOST_OUTPUT if cell.output_lost else "",
    ]


def _meta(result: ExecResult) -> dict[str, Any]:
    return {"status": result.status, "exit_code": result.exit_code, "signal": result.signal}


def _joined(pieces: list[str]) -> str:
    return "\n".join(piece for piece in pieces if piece)


def _text(content: bytes, name: str, *, is_cut: bool) -> str:
    text = content.decode("utf-8", errors="replace").rstrip("\n")
    return f"{text}\n[{name} was cut here]" if is_cut else text

"""The tool `python`: a policy writes a program and reads what it printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gem.content import ToolResult
from gem.errors import BadArguments
from gem.tools import Tool, ToolContext
from gem_tools.sandbox import ExecRequest, ExecResult, Sandbox, make_sandbox
from gem_tools.sandbox.backends import DEFAULT_BACKEND

__all__ = ["PythonTool"]


class PythonTool(Tool):
    """Run each call's program in a sandbox of its own; nothing is kept from call to call.

    The answer is what the program wrote to stdout, then to stderr, then how it ended unless it
    ended with exit status 0. A program that ends in any other way is an error. `backend` is a
    sandbox's name, with its `options`, or a sandbox, which whoever made it closes.

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
        program_timeout_s: float = 10.0,
        memory_mb: int = 512,
        max_output_bytes: int = 64 * 1024,
        max_characters: int = 8_000,
        name: str = "python",
        description: str = "Run a Python program and return what it prints. Nothing is kept.",
    ) -> None:
        self.name, self.description = name, description
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

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Run a program. `meta` says how it ended. Raises BadArguments and SandboxError."""
        code = arguments.get("code")
        if not isinstance(code, str) or len(arguments) != 1:
            raise BadArguments(
                f"{self.name} cannot be called with these arguments: it takes 'code', a string "
                "with a Python program, and nothing else.",
                subject=self.name,
            )
        limits = dict(self._limits)
        if context.timeout_s is not None:  # so that what was printed until then is kept
            limits["timeout_s"] = min(limits["timeout_s"], 0.9 * context.timeout_s)
        result = await self._sandbox.run(ExecRequest(code, **limits))
        meta = {
            "status": result.status,
            "exit_code": result.exit_code,
            "signal": result.signal,
        }
        return ToolResult(context.call_id, _shown(result), result.status != "ok", meta)

    async def aclose(self) -> None:
        if self._owns_sandbox:
            await self._sandbox.aclose()


def _shown(result: ExecResult) -> str:
    pieces = [
        _text(result.stdout, "stdout", is_cut=result.stdout_truncated),
        _text(result.stderr, "stderr", is_cut=result.stderr_truncated),
        "" if result.status == "ok" else f"[the program ended: {result.summary}]",
    ]
    return "\n".join(piece for piece in pieces if piece)


def _text(content: bytes, name: str, *, is_cut: bool) -> str:
    text = content.decode("utf-8", errors="replace").rstrip("\n")
    return f"{text}\n[{name} was cut here]" if is_cut else text

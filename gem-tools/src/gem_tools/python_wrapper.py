"""`python_tool` and `python_tool_no_int_reward`: the wrapper `tools` with the tool `python`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from gem.env import Env
from gem_tools.choosing import given
from gem_tools.wrapper import Tools

__all__ = ["python_tool", "python_tool_no_int_reward"]


def python_tool(
    env: Env,
    *,
    tool_reward: float = 0.05,
    tool_success_reward: float = 0.05,
    tool_error_reward: float = 0.0,
    max_tool_uses: int | None = 10,
    timeout_s: float | None = None,
    result_tag: str = "tool_response",
    stateful: bool = False,
    backend: str | None = None,
    options: Mapping[str, Any] | None = None,
    program_timeout_s: float | None = None,
) -> Tools:
    """Let a policy run Python.

    A call is one beside the text, as a server or `gem.tokens` reads it where the chat template
    has tools, `<tool_call>` with JSON, `<python>...</python>`, or a block fenced as `python`.
    `stateful`, `backend`, `options` and `program_timeout_s` are those of the tool, all others
    those of `tools`. Raises SandboxUnavailable where this machine has no such sandbox.
    """
    python = {
        "stateful": stateful or None,
        "backend": backend,
        "options": options,
        "program_timeout_s": program_timeout_s,
    }
    return Tools(
        env,
        [{"id": "python", **given(python)}],
        format="gem_tools.formats:fences_tags_or_json",
        max_tool_uses=max_tool_uses,
        tool_reward=tool_reward,
        tool_success_reward=tool_success_reward,
        tool_error_reward=tool_error_reward,
        timeout_s=timeout_s,
        result_tag=result_tag,
    )


python_tool_no_int_reward = functools.partial(python_tool, tool_reward=0.0, tool_success_reward=0.0)
"""As `python_tool`, and no call earns anything."""

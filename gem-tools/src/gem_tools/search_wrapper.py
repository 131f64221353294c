"""`search_tool` and `search_tool_no_int_reward`: the wrapper `tools` with the tool `search`."""

from __future__ import annotations

import functools

from gem.env import Env
from gem.errors import BadArguments
from gem_tools.choosing import given
from gem_tools.wrapper import Tools

__all__ = ["search_tool", "search_tool_no_int_reward"]


def search_tool(
    env: Env,
    *,
    index: str | None = None,
    url: str | None = None,
    k: int | None = None,
    tool_reward: float = 0.05,
    tool_success_reward: float = 0.05,
    tool_error_reward: float = 0.0,
    max_tool_uses: int | None = 10,
    timeout_s: float | None = None,
    result_tag: str = "tool_response",
) -> Tools:
    """Let a policy search.

    A call is one beside the text, as a server or `gem.tokens` reads it where the chat template
    has tools, `<tool_call>` with JSON, or `<search>...</search>`.
    `index` is a folder that `gem-env build-search` wrote, `url` the address of a `/retrieve`
    server; one of them is needed. Each answer has `k` documents. All others are those of `tools`.
    Raises BadArguments and SearchError.
    """
    if (index is None) == (url is None):
        raise BadArguments(
            "search_tool was given "
            + ("no index to search" if index is None else "both index and url")
            + ". Give index=, a folder of `gem-env build-search`, or url=, a search server.",
            subject="search_tool",
        )
    return Tools(
        env,
        [{"id": "search", **given({"index": index or url, "k": k})}],
        format="gem_tools.formats:tags_or_json",
        max_tool_uses=max_tool_uses,
        tool_reward=tool_reward,
        tool_success_reward=tool_success_reward,
        tool_error_reward=tool_error_reward,
        timeout_s=timeout_s,
        result_tag=result_tag,
    )


search_tool_no_int_reward = functools.partial(search_tool, tool_reward=0.0, tool_success_reward=0.0)
"""As `search_tool`, and no call earns anything."""

"""`SearchTool`: gem-llm's way to search, over an index or a server of ours."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

from gem.compat import BaseTool, ToolEnvWrapper
from gem.env import Env
from gem.errors import BadArguments, GemError, in_one_line
from gem_tools.search.hits import Hit
from gem_tools.search.opening import is_address, open_index

__all__ = ["SearchTool", "search_tool", "search_tool_no_int_reward"]

_OPEN = "<search>"
_CLOSE = "</search>"
_HOW = (
    "You may search while you answer this. Write what you look for between <search> and "
    "</search>, as often as you need to. The best matches come back between <information> and "
    "</information>. Give the final answer in an answer of its own, without a search."
)


class SearchTool(BaseTool):
    """Answer the first `<search>...</search>` of an action with the `topk` best documents.

    `search_url` is the address of a `/retrieve` server (`gem-env serve-search` is one), or a
    folder of `gem-env build-search`; without it the variable SEARCH_URL says. `timeout` is in
    seconds. Raises BadArguments where neither says.
    """

    tool_type = "search"

    def __init__(
        self,
        num_workers: int = 1,
        search_url: str | None = None,
        topk: int = 3,
        timeout: float = 5,
    ) -> None:
        super().__init__(num_workers)
        where = search_url or os.environ.get("SEARCH_URL")
        if not where:
            raise BadArguments(
                "SearchTool was given no search_url, and SEARCH_URL is not set. Give the address "
                "of a /retrieve server or a folder of `gem-env build-search`.",
                subject="SearchTool",
            )
        self.search_url = where
        self.topk = topk
        self.timeout = timeout

    def instruction_string(self) -> str:
        """Return what tells a policy how to search."""
        return _HOW

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        """Search. What goes wrong is an answer that says so."""
        start = action.find(_OPEN)
        stop = action.find(_CLOSE, start) if start >= 0 else -1
        if stop < 0:
            return False, True, "", ""
        query = action[start + len(_OPEN) : stop].strip()
        try:
            information = _documents_text(self._index.search([query], self.topk)[0])
            failed = False
        except GemError as error:
            information = f"[SearchTool Error: {in_one_line(error)}]"
            failed = True
        answer = f"\n\n<information>{information}</information>\n\n"
        return True, failed, answer, action[: stop + len(_CLOSE)]

    @functools.cached_property
    def _index(self) -> Any:
        if not is_address(self.search_url):
            return open_index(self.search_url)
        from gem_tools.search.retrieve_client import RetrieveClient  # needs httpx

        return RetrieveClient(self.search_url, timeout_s=self.timeout)

    def close(self) -> None:
        """Free the index, or the connection to the server, where a search has opened one."""
        if "_index" in vars(self):
            self._index.close()


def _documents_text(hits: Sequence[Hit]) -> str:
    return "\n".join(
        f'Doc {number}(Title: "{hit.title}") {hit.text}' for number, hit in enumerate(hits, 1)
    )


def search_tool(
    env: Env,
    *,
    search_url: str | None = None,
    topk: int = 3,
    timeout: float = 5,
    tool_reward: float = 0.3,
    tool_success_reward: float = 0.0,
    max_tool_uses: int | None = 5,
) -> ToolEnvWrapper:
    """Let a policy search, with gem-llm's rewards and limits."""
    tool = SearchTool(search_url=search_url, topk=topk, timeout=timeout)
    return ToolEnvWrapper(env, [tool], tool_reward, tool_success_reward, max_tool_uses)


search_tool_no_int_reward = functools.partial(search_tool, tool_reward=0.0)
"""As `search_tool`, and no call earns anything."""

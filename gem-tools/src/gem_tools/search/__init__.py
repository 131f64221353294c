"""Search: indexes on disk, a server of them and a client, and the tool that a policy calls.

Importing this package costs nothing: each public name loads its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gem_tools.search.building import build_index
    from gem_tools.search.documents import Fields
    from gem_tools.search.errors import SearchError, SearchIndexError, SearchUnavailable
    from gem_tools.search.hits import Hit, SearchIndex
    from gem_tools.search.opening import open_index
    from gem_tools.search.retrieve_client import RetrieveClient
    from gem_tools.search.search_tool import SearchTool

_HOMES = {
    "building": "build_index",
    "documents": "Fields",
    "errors": "SearchError SearchIndexError SearchUnavailable",
    "hits": "Hit SearchIndex",
    "opening": "open_index",
    "retrieve_client": "RetrieveClient",
    "search_tool": "SearchTool",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Fields",
    "Hit",
    "RetrieveClient",
    "SearchError",
    "SearchIndex",
    "SearchIndexError",
    "SearchTool",
    "SearchUnavailable",
    "build_index",
    "open_index",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'gem_tools.search' has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(f"gem_tools.search.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

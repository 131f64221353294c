"""What can go wrong in a search, below `gem.GemError`.

GemError
└── SearchError               any error of a search
    ├── SearchIndexError      an index that cannot be built or opened
    └── SearchUnavailable     a server that gives no proper answer
"""

from __future__ import annotations

from gem.errors import GemError

__all__ = ["SearchError", "SearchIndexError", "SearchUnavailable"]


class SearchError(GemError):
    """Any error of a search that is raised on purpose; its text is one line for a person."""


class SearchIndexError(SearchError):
    """An index that cannot be built or opened. What was at `path` before is unharmed."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


class SearchUnavailable(SearchError):
    """The server at `url` gives no proper answer, or none in time."""

    def __init__(self, message: str, *, url: str) -> None:
        super().__init__(message)
        self.url = url

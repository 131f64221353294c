"""Wikis on loopback, and the environments that play on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .loopback import BOOK, Wiki, action_api, kiwix_serve

MEDIAWIKI = "wiki:MediaWiki-v0"
KIWIX = "wiki:Kiwix-v0"

Served = tuple[Wiki, str, dict[str, Any]]
"""A server, the id that plays on it, and the arguments that it needs."""


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def mediawiki() -> Iterator[Wiki]:
    with Wiki(action_api) as wiki:
        yield wiki


@pytest.fixture
def kiwix() -> Iterator[Wiki]:
    with Wiki(kiwix_serve) as wiki:
        yield wiki


@pytest.fixture(params=[MEDIAWIKI, KIWIX])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """Return a server, the id that plays on it, and the arguments that it needs."""
    with Wiki(action_api if request.param == MEDIAWIKI else kiwix_serve) as wiki:
        book = {} if request.param == MEDIAWIKI else {"book": BOOK}
        yield wiki, request.param, {"url": wiki.url, "retries": 0, **book}

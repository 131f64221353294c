"""Whether a data set of the hub is in the cache here, told from its folders. Imports no library."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from gem.specs import DataSource

__all__ = ["is_cached"]


def is_cached(source: DataSource) -> bool:
    """Whether `datasets` has prepared a data set here, so that it loads without a network.

    Looks for the folders that the library makes; which commit they hold it does not tell.
    """
    if source.hub is None:
        return False
    owner, _, name = source.hub.rpartition("/")
    folder = _cache() / (f"{owner}___{_snake_case(name)}" if owner else _snake_case(name))
    config = f"{_literal(source.config)}*" if source.config else "*"
    return any(folder.glob(f"{config}/*/*/*.arrow"))


def _cache() -> Path:
    """Return the library's cache, by what it read at its import or by what it would read."""
    loaded = sys.modules.get("datasets")
    if loaded is not None:
        return Path(loaded.config.HF_DATASETS_CACHE).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("HF_HOME", f"{caches}/huggingface")
    return Path(os.environ.get("HF_DATASETS_CACHE", f"{home}/datasets")).expanduser()


def _snake_case(name: str) -> str:
    """Return a name as the library spells it in a folder's name.

    >>> _snake_case("MATH-lvl3to5-8k"), _snake_case("RuleTaker-d0-70k")
    ('math-lvl3to5-8k', 'rule_taker-d0-70k')
    """
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z\d])([A-Z])", r"\1_\2", name).lower()


def _literal(text: str) -> str:
    """Return text with nothing in it that a shell pattern reads otherwise."""
    return re.sub(r"([*?[])", r"[\1]", text)

"""Which pip command installs what is missing. Knows nothing about what is missing it.

Nothing of ours is in a package index, where a stranger could own the name. So what is ours is
named by its folder: the one that core was installed from has the others beside it.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

__all__ = ["Provider", "absent_providers", "forget_sources", "pip_command"]

_KNOWN_PACKS = Path(__file__).with_name("known_packs.json")
_THIS = "gem-core"


class Provider(NamedTuple):
    """A distribution that is not installed, and the pip command that installs it."""

    distribution: str
    command: str


def pip_command(requirements: Iterable[str], *, of: str | None = None) -> str:
    """Return the command that installs requirements; `of` is the distribution that states them.

    Where that one was installed from a folder the command names the folder and the extras that
    bring them, as its documentation does. Else it names the requirements.
    """
    wanted = dict.fromkeys(requirements)  # in order, each once
    checkout = _installed_from(of) if of else None
    others = [text for text in wanted if not _is_in_this_repository(text)]
    extras = _extras_with(others, of) if of and checkout else {}
    brought = {text for texts in extras.values() for text in texts}
    parts = [
        f'"{text}"' if text in others else _ours(text) for text in wanted if text not in brought
    ]
    if checkout and extras:
        with_extras = shlex.quote(f"{checkout.folder}[{','.join(extras)}]")
        parts.append(f"-e {with_extras}" if checkout.is_editable else with_extras)
    return " ".join(["pip install", *parts])


def absent_providers(kind: str, word: str) -> list[Provider]:
    """Return who is known to provide a word of a kind, of those that are not installed here.

    `kind` is a field of a manifest or `commands`; of an environment the word is the namespace.
    """
    providers = []
    for line in _known_packs().get(kind, {}).get(word, ()):
        names = line.split()
        distribution = _canonical_name(names[-1])
        if not _is_installed(distribution):
            # The line may name others before it, without which pip could not install it.
            absent = [name for name in names if not _is_installed(_canonical_name(name))]
            command = " ".join(["pip install", *map(_ours, absent)])
            providers.append(Provider(distribution, command))
    return providers


class _Checkout(NamedTuple):
    """The folder that a distribution was installed from."""

    folder: Path
    is_editable: bool


@functools.lru_cache(maxsize=256)
def _installed_from(distribution: str) -> _Checkout | None:
    """Return the folder that pip says it took a distribution from, if that is still there."""
    try:
        text = importlib.metadata.distribution(distribution).read_text("direct_url.json")
        origin: Any = json.loads(text or "{}")
        folder = Path(url2pathname(urlsplit(origin["url"]).path))
        is_editable = bool(origin["dir_info"].get("editable", False))
    except (importlib.metadata.PackageNotFoundError, OSError, ValueError):  # absent, or damaged
        return None
    except (KeyError, TypeError, AttributeError):  # from an index, or from a wheel
        return None
    return _Checkout(folder, is_editable) if (folder / "pyproject.toml").is_file() else None


def forget_sources() -> None:
    """Look again at what is installed when it is next asked for."""
    _installed_from.cache_clear()


def _extras_with(wanted: Sequence[str], distribution: str) -> dict[str, list[str]]:
    """Return the extras of a distribution that bring requirements, and which each one brings.

    The extra that brings most of them comes first, and of two alike the one that brings less else.
    """
    stated_by: dict[str, list[str]] = {}
    for stated in importlib.metadata.requires(distribution) or ():
        extra = re.search(r"extra == ['\"]([\w.-]+)['\"]", stated)
        if extra:
            stated_by.setdefault(extra[1], []).append(stated)
    left = list(wanted)
    found: dict[str, list[str]] = {}
    while True:
        brought = {extra: _brought(left, stated) for extra, stated in stated_by.items()}
        best = max(
            brought, key=lambda extra: (len(brought[extra]), -len(stated_by[extra])), default=""
        )
        if not brought.get(best):
            return found
        found[best] = brought[best]
        left = [text for text in left if text not in brought[best]]


def _brought(wanted: Sequence[str], stated: Sequence[str]) -> list[str]:
    """Return those of the wanted requirements that any of what an extra states brings."""
    return [text for text in wanted if any(_brings(each, text) for each in stated)]


def _brings(stated: str, text: str) -> bool:
    """Say whether what a distribution states is a requirement, or an extra of ours that brings it.

    The extra `data` of a pack is `gem-data[datasets]`, and that brings `datasets`.
    """
    name = _canonical_name(stated)
    if name == _canonical_name(text):
        return True
    if not _is_in_this_repository(name) or not _is_installed(name):
        return False
    return not Requirement(stated).extras.isdisjoint(_extras_with([text], name))


def _is_in_this_repository(text: str) -> bool:
    ours = {
        _canonical_name(name)
        for words in _known_packs().values()
        for lines in words.values()
        for line in lines
        for name in line.split()
    }
    return _canonical_name(text) in ours


def _ours(text: str) -> str:
    """Return what pip is given for one of ours: its folder, beside core's or in the checkout."""
    name = _canonical_name(text)
    extras = text.partition("[")[2].partition("]")[0]
    core = _installed_from(_THIS)
    folder = f"./{name}" if core is None else str(core.folder.with_name(name))
    return shlex.quote(f"{folder}[{extras}]" if extras else folder)


def _canonical_name(text: str) -> str:
    try:
        return canonicalize_name(Requirement(text).name)
    except InvalidRequirement:
        return text


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


@functools.cache
def _known_packs() -> Mapping[str, Mapping[str, list[str]]]:
    """Read the directory of packs, which is data: no code of core names one."""
    known: Mapping[str, Mapping[str, list[str]]] = json.loads(
        _KNOWN_PACKS.read_text(encoding="utf-8")
    )
    return known

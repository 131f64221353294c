"""What an environment lacks to be made here and now, found out without making it.

Reads installed metadata, the folders of caches, and what a pack's own probes say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gem.errors import in_one_line
from gem.registry._catalogue import provider
from gem.registry._dataset_cache import is_cached
from gem.registry._importing import load_target, missing_of
from gem.registry._installed import installed
from gem.registry._installing import pip_command
from gem.specs import DataSource, EnvSpec, ToolSpec, WrapperSpec

__all__ = ["Lack", "lacks"]

_READER = "datasets>=3.0"
"""What reads a data set of the hub."""


class Lack(NamedTuple):
    """One thing that is not here, in a few words, and what to do about it: "" where nothing can."""

    what: str
    remedy: str


def lacks(spec: EnvSpec | WrapperSpec | ToolSpec, kind: str = "envs") -> tuple[Lack, ...]:
    """Return what is needed and not here; nothing, and it can be made without a network.

    `kind` is the field of a manifest that lists the spec. Imports nothing but the probe that a
    spec names. What a server answers, and whether a file is whole, is known only when an
    environment is made.
    """
    rivals = installed().rivals(kind, spec.id)
    if rivals:
        claim = f"a single pack ({' and '.join(rivals)} claim it)"
        return (Lack(claim, "uninstall all but one of them"),)
    if isinstance(spec, EnvSpec):
        return (*_packages(spec, kind, _reader(spec)), *_data(spec), *_probed(spec))
    return tuple(_packages(spec, kind, ()))


def _packages(
    spec: EnvSpec | WrapperSpec | ToolSpec, kind: str, extra: tuple[str, ...]
) -> Iterator[Lack]:
    missing = missing_of(dict.fromkeys((*spec.requires, *extra)))  # each once, in order
    if missing:
        command = pip_command(missing, of=provider(kind, spec.id))
        yield Lack(", ".join(missing), command)


def _reader(spec: EnvSpec) -> tuple[str, ...]:
    source = _data_source(spec)
    return () if source is None or source.hub is None else (_READER,)


def _data(spec: EnvSpec) -> Iterator[Lack]:
    source = _data_source(spec)
    if source is None:
        return
    if source.hub is None:
        yield Lack("a file of its rows", "data=FILE; `gem-env show ID` says where it is published")
    elif not is_cached(source):
        yield Lack(
            "its data set", "`gem-env data ID --prefetch` where there is a network; data=FILE"
        )


def _data_source(spec: EnvSpec) -> DataSource | None:
    """Return the data set that an environment reads, if it is given no rows of another kind."""
    stated: Any = spec.kwargs.get("source")
    if spec.kwargs.get("data") is not None or not isinstance(stated, Mapping):
        return None
    return DataSource.model_validate(stated)


def _probed(spec: EnvSpec) -> Iterator[Lack]:
    """Yield what the pack's own probe says is lacking, or that the probe itself fails."""
    if spec.probe is None:
        return
    try:
        # Of None, or of what is lacking and the remedy, as a pack's own code says it.
        answer = load_target(spec.probe)(**spec.kwargs)
        if answer is not None:
            lacking, remedy = answer
            yield Lack(str(lacking), str(remedy))
    except Exception as error:  # noqa: BLE001  a pack may raise anything, and its neighbours are listed
        yield Lack(f"a probe that works ({in_one_line(error)})", "")

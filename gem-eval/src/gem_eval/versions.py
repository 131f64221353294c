"""Say which code and which data a run is of. Knows nothing about run folders."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gem.registry import owner, versions
from gem.specs import EnvSpec

__all__ = ["packs_of", "versions_of"]

_DATA = "data"  # the argument by which a gem.DatasetEnv has its table
_DIGITS = 16  # of a digest, as many as that of a file with an environment has
_CHUNK = 1 << 20


def versions_of(envs: Iterable[EnvSpec], env_kwargs: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of core and of the packs of environments; of files, their digests.

    `env_kwargs` are arguments of all, over those of a spec. Files are those with environments of
    their own, and the tables that `data` names. Each is read whole: a table in another order has
    other tasks under the same numbers.
    """
    found: dict[str, str] = {}
    for spec in envs:
        found |= versions(spec.id)
        data = env_kwargs.get(_DATA, spec.kwargs.get(_DATA))
        if isinstance(data, str) and data not in found:  # a table that many share is read once
            digest = _digest(data)
            if digest is not None:
                found[data] = digest
    return found


def packs_of(envs: Iterable[EnvSpec]) -> dict[str, str]:
    """Return which pack provides an environment, as "acme-words 1.0", by id.

    Those that this process registered and those that are in no pack are not among them.
    """
    records = {spec.id: owner(spec.id) for spec in envs}
    return {
        id: f"{record.distribution} {record.version}" for id, record in records.items() if record
    }


def _digest(path: str) -> str | None:
    """Return a digest of a file, None where there is none to read: `data` may name anything."""
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except (OSError, ValueError):  # ValueError: a text that no file system takes
        return None
    return f"sha256:{digest.hexdigest()[:_DIGITS]}"

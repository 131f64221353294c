"""The code that a training runs: a digest of the installed sources that may decide its figures.

A line of results says by which code it was made, so that two that were made by different code are
not taken for one measurement. Works on an installed copy as on a checkout.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.baselines.arms import Arm

from gem.registry import spec, wrapper_spec

__all__ = ["code_of"]

ALWAYS = ("gem", "gem_baselines", "gem_train")


def code_of(arm: Arm) -> str:
    """Return a digest of the sources of core, the trainer, and whatever provides what an arm plays.

    Comments count: it may differ where no figure does, and never the other way round.
    """
    settings = arm.settings
    played = [
        {"env": settings.env, "kwargs": settings.env_kwargs, "wrappers": settings.wrappers},
        *arm.also_on.values(),
    ]
    targets = {target for environment in played for target in _targets(environment)}
    sources = {*ALWAYS, *map(_source_of, targets)}
    text = "".join(f"{source} {_digest(source)}\n" for source in sorted(sources))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


def _targets(environment: Mapping[str, Any]) -> Iterator[str]:
    """Yield the `module:attribute` of an environment, its wrappers, and the parts of a mixture."""
    yield spec(environment["env"]).target
    yield from map(_wrapper_target, environment.get("wrappers", ()))
    for part in _parts(environment):
        yield from _targets(part)


def _parts(environment: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    kwargs = environment.get("kwargs") or environment.get("env_kwargs") or {}
    parts: Sequence[Mapping[str, Any]] = kwargs.get("envs", ())
    return parts


def _wrapper_target(wrapper: str | Mapping[str, Any]) -> str:
    name = wrapper if isinstance(wrapper, str) else str(wrapper["id"])
    return name if ":" in name else wrapper_spec(name).target


def _source_of(target: str) -> str:
    """Return what to look at of a target: a pack as a whole, and of anything else its module."""
    module = target.partition(":")[0]
    package = module.partition(".")[0]
    return package if package.startswith("gem") else module


@cache
def _digest(source: str) -> str:
    """Return the digest of a module's file, or of all files of a package."""
    found = importlib.util.find_spec(source)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"No module {source!r} is installed.", name=source)
    origin = Path(found.origin)
    is_package = found.submodule_search_locations is not None
    digest = hashlib.sha256()
    for path in _files(origin.parent) if is_package else [origin]:
        name = path.relative_to(origin.parent).as_posix()
        digest.update(name.encode("utf-8") + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in files if "__pycache__" not in path.parts)

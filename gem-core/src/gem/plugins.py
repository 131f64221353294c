"""Find plugins by their entry points and load their manifests, each behind its own guard.

scan reads installed metadata; load imports one manifest. A plugin that fails becomes a record
with its error, and no other plugin notices. Knows nothing about how environments are made.
"""

from __future__ import annotations

import importlib.metadata
import os
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from gem.specs import API_GROUP, API_VERSION, PluginManifest

__all__ = ["PluginRecord", "load_all"]

_GROUP_PREFIX = "gem.plugins."
_KINDS = ("envs", "wrappers", "tools", "policies", "adapters", "executors")


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """One installed plugin and what became of it.

    `state`: "ok"; "failed" (its manifest did not load); "incompatible" (another version of the
    plugin API, never imported); "conflict" (another distribution claims one of its ids).
    """

    name: str
    distribution: str
    version: str
    state: Literal["ok", "failed", "incompatible", "conflict"]
    manifest: PluginManifest | None = None
    error: str | None = None
    traceback: str | None = None


def load_all() -> tuple[PluginRecord, ...]:
    """Load every installed plugin. With GEM_STRICT_PLUGINS=1 the first failure is raised."""
    found = [*_scan(), *_impostors()]
    return tuple(_with_conflicts(sorted(found, key=lambda record: record.name)))


def _scan() -> Iterator[PluginRecord]:
    entry_points = importlib.metadata.entry_points()
    for group in sorted(entry_points.groups):
        if group == API_GROUP:
            yield from map(_load, entry_points.select(group=group))
        elif group.startswith(_GROUP_PREFIX):
            yield from (_incompatible(point, group) for point in entry_points.select(group=group))


def _load(point: importlib.metadata.EntryPoint) -> PluginRecord:
    try:
        manifest = point.load()
        if not isinstance(manifest, PluginManifest):
            raise TypeError(
                f"{point.value} is a {type(manifest).__name__}, and must be a gem.PluginManifest"
            )
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # a plugin may raise anything at import, SystemExit too
        if os.environ.get("GEM_STRICT_PLUGINS") == "1":
            raise
        text = "".join(traceback.format_exception(error))
        shown = " ".join(f"{type(error).__name__}: {error}".split())
        return _record(point, "failed", error=shown, traceback=text)
    return _record(point, "ok", manifest=manifest)


def _incompatible(point: importlib.metadata.EntryPoint, group: str) -> PluginRecord:
    theirs = group.removeprefix(_GROUP_PREFIX)
    error = (
        f"It is written for plugin API {theirs}, and this gem-core speaks v{API_VERSION}. "
        "Install versions of the two that match."
    )
    return _record(point, "incompatible", error=error)


def _record(
    point: importlib.metadata.EntryPoint,
    state: Literal["ok", "failed", "incompatible"],
    *,
    manifest: PluginManifest | None = None,
    error: str | None = None,
    traceback: str | None = None,
) -> PluginRecord:
    distribution = point.dist
    name, version = (distribution.name, distribution.version) if distribution else ("?", "?")
    return PluginRecord(point.name, name, version, state, manifest, error, traceback)


def _impostors() -> Iterator[PluginRecord]:
    """Report the published package that owns the same import folder as this one."""
    try:
        version = importlib.metadata.version("gem-llm")
    except importlib.metadata.PackageNotFoundError:
        return
    error = (
        "It installs the same import folder, `gem`, as gem-core. Run `pip uninstall gem-llm`, "
        "then install gem-core again."
    )
    yield PluginRecord("gem-llm", "gem-llm", version, "conflict", error=error)


def _with_conflicts(records: Iterable[PluginRecord]) -> Iterator[PluginRecord]:
    records = tuple(records)
    claims = _claims(records)
    for record in records:
        shared = {
            claim: claims[claim] for claim in _claimed(record) if len(claims[claim]) > 1
        }
        if not shared:
            yield record
            continue
        error = "; ".join(
            f"{id!r} is claimed by {' and '.join(sorted(owners))}"
            for (_, id), owners in sorted(shared.items())
        )
        yield replace(record, state="conflict", error=f"{error}. Uninstall all but one.")


def _claims(records: Iterable[PluginRecord]) -> dict[tuple[str, str], list[str]]:
    claims: dict[tuple[str, str], list[str]] = {}
    for record in records:
        for claim in _claimed(record):
            claims.setdefault(claim, []).append(f"{record.distribution} {record.version}")
    return claims


def _claimed(record: PluginRecord) -> list[tuple[str, str]]:
    if record.manifest is None:
        return []
    return [(kind, spec.id) for kind in _KINDS for spec in getattr(record.manifest, kind)]

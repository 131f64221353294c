"""Find plugins by their entry points and load their manifests, each behind its own guard.

scan reads installed metadata; load imports one manifest. A plugin that fails becomes a record
with its error, and no other plugin notices. Knows nothing about how environments are made.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, EntryPoint
from typing import Literal

from pydantic import ValidationError

from gem.errors import in_one_line, problems_of, traceback_of
from gem.registry._importing import name_and_version
from gem.specs import API_GROUP, API_VERSION, PluginManifest

__all__ = ["RIVAL", "PluginRecord", "load_all"]

RIVAL = "gem-llm"

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
    records = [*_scan(), *_impostors()]
    # By name, whatever the order of the path: what is listed first is the same on each machine.
    return tuple(_with_conflicts(sorted(records, key=lambda record: record.name)))


def _scan() -> Iterator[PluginRecord]:
    """Yield a record of each plugin that a distribution on the path announces."""
    seen: set[str] = set()
    for distribution in importlib.metadata.distributions():
        # The text alone, first: to parse the entry points of every distribution takes longer than
        # all the rest of the scan.
        if _GROUP_PREFIX not in _entry_points_text(distribution):
            continue
        name = re.sub(r"[-_.]+", "-", name_and_version(distribution)[0]).lower()
        if name not in seen:  # the first on the path is the one that imports find
            seen.add(name)
            yield from _records(distribution)


def _entry_points_text(distribution: Distribution) -> str:
    try:
        return distribution.read_text("entry_points.txt") or ""
    except (OSError, ValueError):  # damaged, and so is whatever else it may hold
        return ""


def _records(distribution: Distribution) -> Iterator[PluginRecord]:
    """Yield a record of each plugin of one distribution."""
    name, version = name_and_version(distribution)
    try:
        points = tuple(distribution.entry_points)
    except Exception as error:  # noqa: BLE001  its entry points may be written anyhow
        yield _failed_record(PluginRecord(name, name, version, "failed"), error)
        return
    for point in points:
        blank = PluginRecord(point.name, name, version, "ok")
        if point.group == API_GROUP:
            yield _load_manifest(point, blank)
        elif point.group.startswith(_GROUP_PREFIX):
            its_api = point.group.removeprefix(_GROUP_PREFIX)
            reason = (
                f"It is written for plugin API {its_api}, and this gem-core speaks v{API_VERSION}. "
                "Install versions of the two that match."
            )
            yield replace(blank, state="incompatible", error=reason)


def _load_manifest(point: EntryPoint, blank: PluginRecord) -> PluginRecord:
    """Return the record with its manifest, or with the error that importing it raised."""
    try:
        manifest = point.load()
        if isinstance(manifest, PluginManifest):
            return replace(blank, manifest=manifest)
        kind = type(manifest).__name__
        raise TypeError(f"{point.value} is a {kind}, and must be a gem.PluginManifest")
    except (KeyboardInterrupt, GeneratorExit):  # what the user or Python wants, not the plugin
        raise
    except BaseException as error:  # noqa: BLE001  a plugin may raise anything, SystemExit too
        return _failed_record(blank, error)


def _failed_record(blank: PluginRecord, error: BaseException) -> PluginRecord:
    if os.environ.get("GEM_STRICT_PLUGINS") == "1":
        raise error
    text = in_one_line(error)
    if isinstance(error, ValidationError):  # whose own text has a line for each of pydantic's facts
        text = f"{error.title}: {'; '.join(problems_of(error))}"
    return replace(blank, state="failed", error=text, traceback=traceback_of(error))


def _impostors() -> Iterator[PluginRecord]:
    """Report the published package that owns the same import folder as this one."""
    try:
        _, version = name_and_version(importlib.metadata.distribution(RIVAL))
    except importlib.metadata.PackageNotFoundError:
        return
    error = (
        f"{RIVAL} installs the same import folder, `gem`, as gem-core. Run "
        f"`pip uninstall {RIVAL}`, then install gem-core again."
    )
    yield PluginRecord(RIVAL, RIVAL, version, "conflict", error=error)


def _with_conflicts(records: Sequence[PluginRecord]) -> Iterator[PluginRecord]:
    """Yield the records, with an error where another distribution claims the same id."""
    claims = _claims(records)
    for record in records:
        shared = {claim: claims[claim] for claim in _claimed(record) if len(claims[claim]) > 1}
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

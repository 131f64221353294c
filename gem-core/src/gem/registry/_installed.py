"""Every spec that an installed plugin provides, by kind and id. Read once a process.

Knows nothing about what this process registered itself (`_registering`).
"""

from __future__ import annotations

from typing import Any

from gem.registry._discovery import PluginRecord, load_all
from gem.registry._importing import forget_installed

__all__ = ["InstalledSpecs", "installed", "refresh"]

_KINDS = ("envs", "wrappers", "tools", "policies", "executors")
"""The fields of a manifest that list specs which are looked up by their id."""


class InstalledSpecs:
    """What the installed plugins provide. Two that claim one id are both kept."""

    def __init__(self) -> None:
        self.records = load_all()
        self.claims: dict[tuple[str, str], list[tuple[PluginRecord, Any]]] = {}
        """By kind and id: each plugin that claims it, with its spec."""
        for record in self.records:
            for kind in _KINDS:
                for spec in getattr(record.manifest, kind, ()):  # a failed one has no manifest
                    self.claims.setdefault((kind, spec.id), []).append((record, spec))

    def specs(self, kind: str) -> list[Any]:
        """Return the specs of a kind by id; of a conflict, the first."""
        return [
            claims[0][1]
            for (claimed_kind, _), claims in sorted(self.claims.items())
            if claimed_kind == kind
        ]

    def ids(self, kind: str) -> list[str]:
        """Return the ids of a kind, in the order of the plugins."""
        return [id for claimed_kind, id in self.claims if claimed_kind == kind]

    def rivals(self, kind: str, id: str) -> list[str]:
        """Return the plugins that claim one id of a kind, with versions; none but of a conflict."""
        claims = self.claims.get((kind, id), [])
        owners = [f"{record.distribution} {record.version}" for record, _ in claims]
        return owners if len(owners) > 1 else []

    def owner(self, kind: str, id: str) -> PluginRecord | None:
        """Return the plugin that provides an id of a kind, None where none does."""
        claims = self.claims.get((kind, id))
        return claims[0][0] if claims else None


_installed: InstalledSpecs | None = None


def installed() -> InstalledSpecs:
    """Return what is installed. The first call loads every plugin's manifest."""
    global _installed
    if _installed is None:
        _installed = InstalledSpecs()
    return _installed


def refresh() -> None:
    """Forget what was scanned, so that plugins installed since are found."""
    global _installed
    _installed = None
    forget_installed()

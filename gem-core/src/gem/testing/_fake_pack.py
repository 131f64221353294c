"""Write a pack as pip would leave it in a folder: a package and its .dist-info."""

from __future__ import annotations

import base64
import hashlib
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from gem.specs import API_GROUP

__all__ = ["fake_plugin"]

_MANIFEST = """\
from gem.specs import EnvSpec, PluginManifest

plugin = PluginManifest(
    name={name!r},
    envs=({envs}),
    hooks={hooks!r},
)
"""


def fake_plugin(
    folder: Path,
    name: str,
    *,
    envs: Mapping[str, str] | None = None,
    hooks: tuple[str, ...] = (),
    manifest: str | None = None,
    files: Mapping[str, str] | None = None,
    version: str = "1.0",
    group: str = API_GROUP,
) -> Path:
    """Install a made-up distribution into `folder` and return that folder.

    `envs` maps ids to targets. `manifest` is instead the whole source of its `plugin.py`, and
    may be as broken as you like. `files` maps paths inside the package to their text. Put the
    folder on the path to have it found: on PYTHONPATH for another process, or in this one with

        from gem import registry

        monkeypatch.syspath_prepend(fake_plugin(tmp_path, "acme-words", envs={...}))
        registry.refresh()

    Python keeps what it has imported, so give every pack of one process a name of its own.
    """
    package = re.sub(r"\W", "_", name)  # as a wheel spells it
    lines = "".join(
        f"\n        EnvSpec(id={id!r}, target={target!r})," for id, target in (envs or {}).items()
    )
    source = _MANIFEST.format(name=name, envs=lines, hooks=hooks) if manifest is None else manifest
    texts = {"__init__.py": "", "plugin.py": source, **(files or {})}
    written = {f"{package}/{path}": textwrap.dedent(text) for path, text in texts.items()}
    about = f"{package}-{version}.dist-info"
    written |= {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/INSTALLER": "gem.testing\n",
        f"{about}/entry_points.txt": f"[{group}]\n{name} = {package}.plugin:plugin\n",
    }
    # Last, for it lists all others; without it pip would not know what to remove.
    written[f"{about}/RECORD"] = _record(written, f"{about}/RECORD")
    for path, text in written.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def _record(written: Mapping[str, str], own_path: str) -> str:
    rows = []
    for path, text in written.items():
        content = text.encode()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        rows.append(f"{path},sha256={digest},{len(content)}\n")
    return "".join([*rows, f"{own_path},,\n"])

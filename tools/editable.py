"""What `pip install -e .` at the root adds: the code of the checkout comes before the copies.

pip installs what a distribution depends on as copies, and cannot be asked for anything else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = ["Editable"]


class Editable(BuildHookInterface[Any]):
    """Put a `.pth` file into the wheel of an editable install, and nothing into any other."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file, which every Python of the environment reads as it starts."""
        if version != "editable":
            return
        folders = sorted(str(path) for path in Path(self.root).glob("gem-*/src"))
        line = f"import sys; sys.path[:0] = {folders!r}\n"  # at the end the copies would win
        written = Path(self.directory, "gem_suite_checkout.pth")
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(line, encoding="utf-8")
        build_data["force_include_editable"][str(written)] = written.name

"""The interpreter that has gem-llm, and Gymnasium beside it."""

from __future__ import annotations

import subprocess

from benchmarks import games

PACKAGES = (*games.PACKAGES, "gymnasium==1.4.0")


def reference_python() -> str:
    """Return it, its environment made or completed on first use."""
    python = games.reference_python()
    done = games.REFERENCE / "complete-with-gymnasium"
    if not done.exists():
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        done.touch()
    return python

"""The figures of docs/estimators.md are those that its script computes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_first_figure_of_each_cell_is_what_is_computed() -> None:
    script = [sys.executable, str(ROOT / "benchmarks" / "estimators.py"), "--check"]

    done = subprocess.run(script, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

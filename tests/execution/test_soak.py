"""The soak of benchmarks/, for some seconds: faults all along, and nothing is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

SOAK = Path(__file__).parents[2] / "benchmarks" / "soak.py"


def test_a_short_soak_loses_nothing(
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = run_python(str(SOAK), "--minutes", "0.05", "--envs", "256")

    assert done.stdout.splitlines()[-1:] == ["nothing was lost"], done.stdout + done.stderr
    assert done.returncode == 0

"""The soak of benchmarks/, for some seconds: faults all along, and nothing is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

PATIENT_SOAK = """
import sys
import soak

soak.STEP_TIMEOUT_S = 5.0  # a machine that others use, too, may stand still for its half second
sys.exit(soak.main())
"""


def test_a_short_soak_loses_nothing(
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    short = ("--minutes", "0.05", "--envs", "256")
    done = run_python("-c", PATIENT_SOAK, *short, path=BENCHMARKS)

    assert done.stdout.splitlines()[-1:] == ["nothing was lost"], done.stdout + done.stderr
    assert done.returncode == 0

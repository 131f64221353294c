"""The examples run as they stand, are short, and print what they say."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
Run = Callable[..., "subprocess.CompletedProcess[str]"]

examples = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)


@examples
def test_an_example_runs_and_prints_the_same_again(run_python: Run, example: Path) -> None:
    needs_torch = "TransformerPolicy" in example.read_text(encoding="utf-8")
    if needs_torch and importlib.util.find_spec("torch") is None:
        pytest.skip("gem-baselines' extra `torch` is not installed")
    short = {"GEM_EXAMPLE_UPDATES": "2"}  # of those that train
    first, second = (
        run_python("-W", "error", str(example), env={"PYTHONHASHSEED": seed, **short})
        for seed in "12"
    )

    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout
    assert first.stdout == second.stdout


@examples
def test_an_example_is_under_100_lines(example: Path) -> None:
    assert len(example.read_text(encoding="utf-8").splitlines()) < 100

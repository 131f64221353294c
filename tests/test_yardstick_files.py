"""What gem-baselines prints of an environment scales the returns of an evaluation of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.yardsticks import RESULTS, summary

GUESS = "game:GuessTheNumber-v0"
SMALL = ["--env-kwargs", '{"max_number": 4, "max_turns": 3}']
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_solver_is_at_1_on_the_scale_of_a_yardstick(gem_env: Run, tmp_path: Path) -> None:
    found = gem_env("yardstick", GUESS, *SMALL, "--json")
    (tmp_path / "work" / "guess.json").write_text(found.stdout, encoding="utf-8")
    gem_env("eval", GUESS, *SMALL, "--policy", "solver", "--episodes", "20", "--out", "run")

    reported = gem_env("report", "run", "--yardsticks", "guess.json", "--json")

    [report] = json.loads(reported.stdout)
    assert report["results"][0]["normalised_return"] == pytest.approx(1.0, abs=1e-9)


def test_the_page_has_the_rows_of_the_results_and_how_many_ids_are_exact() -> None:
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    page = (Path(__file__).parents[1] / "docs" / "yardsticks.md").read_text(encoding="utf-8")

    wanted = ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows]

    assert [row for row in wanted if row not in page] == []
    assert summary(rows) in " ".join(page.split())

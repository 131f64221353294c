"""The quickstart's run: the solver succeeds everywhere, and guesses as few times as can be."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem

GUESS = "game:GuessTheNumber-v0-hard"
MEAN_TURNS = 243 / 50  # bisection of 50 numbers: 1 + 2*2 + 4*3 + 8*4 + 16*5 + 19*6 turns
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def quickstart() -> list[str]:
    """Return the command that the quickstart runs, read from the noxfile."""
    text = (Path(__file__).parents[1] / "noxfile.py").read_text(encoding="utf-8")
    return text.partition('QUICKSTART = """')[2].partition('"""')[0].split()[1:]


@pytest.fixture
def printed(gem_env: Run, tmp_path: Path) -> str:
    """Run it and return what it prints."""
    done = gem_env(*quickstart(), "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    # After ten seconds, on a busy machine, a run tells how far it is.
    assert [line for line in done.stderr.splitlines() if " episodes  " not in line] == []
    return done.stdout


@pytest.fixture
def rows(printed: str, tmp_path: Path) -> dict[tuple[str, str], Any]:
    """Return the rows of its summary."""
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    return {(row["env_id"], row["policy"]): row for row in summary["results"]}


def test_the_quickstart_shows_what_it_promises(rows: dict[tuple[str, str], Any]) -> None:
    solved = {env_id: row for (env_id, policy), row in rows.items() if policy == "solver"}
    assert len(solved) == 3
    assert {row["episodes"] for row in rows.values()} == {200}
    assert {row["success_rate"] for row in solved.values()} == {1.0}
    low, high = solved[GUESS]["mean_turns_ci95"]
    assert low <= MEAN_TURNS <= high


def test_the_readme_shows_what_it_prints(printed: str) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    tables = printed.partition("\n\nRun folder")[0]

    assert len(tables.splitlines()) == 16  # two tables of six rows, and what the brackets mean
    assert tables in readme


def test_the_solver_takes_bisections_243_turns_over_the_50_secrets() -> None:
    turns: dict[str, int] = {}
    env = gem.make(GUESS)
    for seed in range(1000):
        env.reset(seed=seed)
        while True:
            action = env.solve()
            assert action is not None
            if env.step(action).terminated:
                break
        turns[action] = env.turn  # the last guess is the secret

    assert (len(turns), sum(turns.values())) == (50, 243)

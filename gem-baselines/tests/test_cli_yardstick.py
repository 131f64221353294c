"""`gem-env yardstick` prints a table or JSON, and wrong use in one line."""

from __future__ import annotations

import json

import pytest

from gem.cli._main import main

pytest.importorskip("gem_envs_games", reason="gem-envs-games is not installed")


def test_the_command_prints_a_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["yardstick", "game:GuessTheNumber-v0-easy", "--turns"]) == 0
    table = capsys.readouterr().out
    assert main(["yardstick", "game:GuessTheNumber-v0-easy", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)

    assert "best                 1.0000    2.90  every action" in table
    assert "2  0.2000" in table
    assert data["best"]["turns"] == {"1": 0.1, "2": 0.2, "3": 0.4, "4": 0.3}
    assert data["worst"]["is_exact"]
    assert data["env_kwargs"] == {"min_number": 1, "max_number": 10, "max_turns": 4}


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["game:GuessTheNumbr-v0"], "Did you mean"),
        (["game:GuessTheNumber-v0", "--env-kwargs", "{"], "is not a JSON object"),
        (["game:GuessTheNumber-v0", "--env-kwargs", "[]"], "it is a list"),
        (["game:GuessTheNumber-v0", "--episodes", "1"], "An interval takes 2 at least"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["yardstick", *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert what in line

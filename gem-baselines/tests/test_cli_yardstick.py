"""`gem-env yardstick` prints a table or JSON, and wrong use in one line."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_returns_of_several_seats_come_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    piles = ["--env-kwargs", '{"piles": [1, 1]}']
    assert main(["yardstick", "game:Nim-v0", *piles, "--json"]) == 0
    several = capsys.readouterr()
    assert main(["yardstick", "game:GuessTheNumber-v0-easy"]) == 0

    [line] = several.err.splitlines()
    assert "game:Nim-v0 has 2 seats. A return is the sum over them here" in line
    assert json.loads(several.out)["best"]["is_exact"]
    assert capsys.readouterr().err == ""


def test_a_seat_is_named_in_the_json_and_comes_without_a_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    piles = ["--env-kwargs", '{"piles": [1, 2]}']
    assert main(["yardstick", "game:Nim-v0", *piles, "--seat", "first", "--json"]) == 0

    shown = capsys.readouterr()
    assert shown.err == ""
    found = json.loads(shown.out)
    assert found["seat"] == "first"
    assert (found["best"]["low"], found["worst"]["low"]) == (1.0, -1.0)


def test_a_seat_that_there_is_not_is_refused_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["yardstick", "game:Nim-v0", "--seat", "third"]) == 2

    assert capsys.readouterr().err == (
        "gem-env: A yardstick of the seat 'third' of game:Nim-v0 was asked for; take first or "
        "second.\n"
    )


RARE = """
import gem


class Rare(gem.Env):
    max_turns = 3

    def reset(self, seed=None):
        return "Draw a 0 of 0 to 119, and go on.", {}

    def step(self, action):
        return gem.Step("", 0.0, terminated=action != "0", truncated=self.turn == 2)

    def sample_action(self):
        return str(self.sample_rng.randrange(120))
"""


def test_a_number_of_turns_that_hardly_ever_is_seen_is_not_shown_as_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rare.py").write_text(RARE, encoding="utf-8")

    assert main(["yardstick", "./rare.py:Rare", "--turns"]) == 0

    table = capsys.readouterr().out
    assert " 3  < 0.0001" in table
    assert " 0.0000\n" not in table


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

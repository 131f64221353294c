"""`--json` prints JSON alone, whatever an environment prints at its import, reset and step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gem_eval
from gem.cli._main import main

CHATTY = """
import gem

print("noise of an import")

class Chatty(gem.Env):
    def __init__(self):
        print("noise of a constructor")
    def reset(self, seed=None):
        print("noise of a reset")
        return "Say anything.", {}
    def step(self, action):
        print("noise of a step")
        return gem.Step("", 1.0, True, False, {"success": True})
    def sample_action(self):
        return "anything"
"""


@pytest.fixture(autouse=True)
def _chatty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chatty.py").write_text(CHATTY)


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_new_run_prints_json_alone(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    what = ["./chatty.py:Chatty", "--policy", "random", "--episodes", "2"]

    status = main(["eval", *what, *more, "--json"])

    printed = capsys.readouterr()
    assert status == 0
    assert isinstance(json.loads(printed.out), dict)
    assert "noise of an import" in printed.err
    assert "noise of a reset" in printed.err


@pytest.mark.parametrize(
    "command",
    [
        ["eval", "--resume", "run", "--episodes", "3"],
        ["report", "run", "--references"],
        ["branch", "run", "1", "--turn", "1", "--policy", "random"],
        ["noise", "./chatty.py:Chatty", "--policy", "random", "--episodes", "2"],
    ],
)
def test_what_follows_a_run_prints_json_alone(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    gem_eval.evaluate("./chatty.py:Chatty", "random", episodes=2, out="run")
    capsys.readouterr()

    main([*command, "--json"])

    printed = capsys.readouterr()
    assert json.loads(printed.out)
    assert "noise of a constructor" in printed.err
    assert "noise of a step" in printed.err

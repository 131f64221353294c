"""Commands on a stranger's file: no packaging, and one clear line for what is wrong."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import gem
from gem.cli._main import main

Output = pytest.CaptureFixture[str]

PARITY = '''
import gem

class Parity(gem.Env):
    """Tell odd numbers from even ones.

    By saying which.
    """
    def __init__(self, highest: int = 1000):
        self.highest = highest
    def reset(self, seed=None):
        self.number = self.rng.randrange(self.highest)
        return f"Is {self.number} even or odd?", {}
    def step(self, action):
        is_right = action == ("even", "odd")[self.number % 2]
        return gem.Step("", float(is_right), True, False, {"success": is_right})
'''


@pytest.fixture(autouse=True)
def _file(own_folder: Path) -> None:
    (own_folder / "gem_own.py").write_text(PARITY)


def test_a_file_is_checked(capsys: Output) -> None:
    options = ["--env-kwargs", '{"highest": 50}', "--backend", "sync", "--json"]

    assert main(["check", "./gem_own.py:Parity", *options]) == 0

    [report] = json.loads(capsys.readouterr().out)
    states = {line["name"]: line["state"] for line in report["lines"]}
    assert report["env_id"] == "./gem_own.py:Parity"
    assert {states[name] for name in ("same_seed", "another_process", "rollouts")} == {"passed"}
    assert {states[name] for name in ("sampled_actions", "sampling", "solve_beats_random")} == {
        "skipped"
    }


NOISY = """
print("import")

import gem

class Noisy(gem.Env):
    def reset(self, seed=None):
        print("reset")
        return "Say it.", {}
    def step(self, action):
        print("step")
        return gem.Step("", 1.0, True)
    def close(self):
        print("close")
"""


def test_json_is_alone_where_an_environment_prints(own_folder: Path) -> None:
    (own_folder / "noisy.py").write_text(NOISY)
    [episode] = gem.run(lambda request: "it", "./noisy.py:Noisy", episodes=1)
    with gem.EpisodeLog(own_folder / "episodes.jsonl") as log:
        log.append(episode)

    for command in (["show", "./noisy.py:Noisy"], ["replay", "."]):
        # In a process of its own: this one has imported the file.
        done = subprocess.run(
            [sys.executable, "-m", "gem", *command, "--json"], capture_output=True, check=True
        )
        assert json.loads(done.stdout)
        assert {b"import", b"reset", b"close"} <= set(done.stderr.splitlines())


def test_a_file_is_played(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("even\n"))

    assert main(["play", "gem_own.py:Parity", "--seed", "3"]) == 0

    page = capsys.readouterr().out
    assert ("Is 596 even or odd?" in page, "Success after 1 turn" in page) == (True, True)


def test_a_file_is_shown(capsys: Output) -> None:
    assert main(["show", "./gem_own.py:Parity", "--json"]) == 0

    facts = json.loads(capsys.readouterr().out)
    assert facts["summary"] == "Tell odd numbers from even ones."
    assert (facts["id"], facts["pack"]) == ("./gem_own.py:Parity", "none")
    assert [parameter["name"] for parameter in facts["parameters"]] == ["highest"]


def test_a_module_of_the_current_folder_is_found(capsys: Output) -> None:
    assert main(["show", "gem_own:Parity"]) == 0
    assert "Tell odd numbers" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["check", "play", "show"])
@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("./gem_owm.py:Parity", "no such file. Did you mean gem_own.py?"),
        ("./gem_own.py:Parrity", "It has Parity."),
        ("./gem_own.py", "Write ./gem_own.py:Parity."),
        ("./gem_own.py:__name__", "which cannot be called"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(
    command: str, target: str, what: str, capsys: Output
) -> None:
    assert main([command, target]) == 2

    error = capsys.readouterr().err
    assert (what in error, error.count("\n")) == (True, 1), error

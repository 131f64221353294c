"""Environments in no pack: evaluated by their target, resumed and replayed by it later."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import gem
import gem_eval
from gem.testing.envs import Guess

PARITY = """
import gem

class Parity(gem.Env):
    def reset(self, seed=None):
        self.number = self.rng.randrange(1000)
        return f"Is {self.number} even or odd?", {}
    def step(self, action):
        is_right = action == ("even", "odd")[self.number % 2]
        return gem.Step("", float(is_right), True, False, {"success": is_right})

def even(request):
    return "even"
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])


def gem_env(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gem", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
def test_a_file_is_evaluated_and_resumed_and_its_changes_are_told() -> None:
    # Another name than any test's file: a process imports a file once.
    Path("gem_evaluated.py").write_text(PARITY)
    env = "gem_evaluated.py:Parity"

    run = gem_eval.evaluate(env, "scripted:./gem_evaluated.py:even", episodes=4, out="runs/a")
    unchanged = gem_env("eval", "--resume", "runs/a", "--episodes", "5")
    Path("gem_evaluated.py").write_text(PARITY.replace("Is ", "Say: is "))
    changed = gem_env("eval", "--resume", "runs/a", "--episodes", "6")
    replayed = gem_env("replay", "runs/a", "--verify")

    assert run.settings.envs[0].id == "./gem_evaluated.py:Parity"
    assert [episode.env_id for episode in run.episodes()] == ["./gem_evaluated.py:Parity"] * 6
    assert "changed since" not in unchanged.stderr
    assert (unchanged.returncode, changed.returncode, replayed.returncode) == (0, 0, 1)
    assert "./gem_evaluated.py (it was sha256:" in changed.stderr
    assert "6 episodes: 1 the same, 5 different" in replayed.stdout
    assert "./gem_evaluated.py was sha256:" in replayed.stdout


@pytest.mark.slow
def test_a_file_that_changed_is_a_warning_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gem_resumed.py").write_text(PARITY)
    done = gem_env("eval", "gem_resumed.py:Parity", "--policy", "noop", "--out", "runs/b")
    Path("gem_resumed.py").write_text(f"{PARITY}\n# edited\n")

    with pytest.warns(RuntimeWarning, match=r"\./gem_resumed\.py \(it was sha256:"):
        gem_eval.resume("runs/b")
    assert done.returncode == 0


def test_a_class_is_evaluated_as_the_target_that_finds_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = gem_eval.evaluate(Guess, "solver", episodes=2, out="runs/c")
        gem_eval.resume("runs/c")

    assert [episode.env_id for episode in run.episodes()] == ["gem.testing.envs:Guess"] * 2
    assert {gem.replay(episode).state for episode in run.episodes()} == {"same"}


@pytest.mark.parametrize(
    ("env", "what"),
    [
        ("./gem_absent.py:A", "no such file"),
        ("./gem_[odd]*.py:A", "no such file"),
        ("./gem_evaluating.py", "Write ./gem_evaluating.py:Parity"),
    ],
)
def test_what_is_wrong_with_a_file_makes_no_folder(env: str, what: str) -> None:
    Path("gem_evaluating.py").write_text(PARITY)

    with pytest.raises(gem.GemError, match=what):
        gem_eval.evaluate(env, "noop", out="runs/d")
    assert not Path("runs").exists()

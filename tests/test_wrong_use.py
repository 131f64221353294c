"""Wrong use is one line that says what to do, exit status 2, and never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

import gem
import gem_data
import gem_envs_math
import gem_eval

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Install = Callable[..., None]

GUESS = "game:GuessTheNumber-v0-hard"
NEEDY = """
    from gem.specs import EnvSpec, PluginManifest

    spec = EnvSpec(id="acme:Needy", target="acme_needy:Env", requires=("acme-absent>=1.0",))
    plugin = PluginManifest(name="needy", envs=(spec,))
"""
FINE = '{"problem": "1+1?", "answer": "2"}'
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """Return the one line of a wrong use, once it is known to be one."""
    assert "Traceback" not in done.stderr
    assert done.returncode == 2, done
    [line] = done.stderr.splitlines()
    return line


def kwargs(**values: object) -> list[str]:
    return ["--env-kwargs", json.dumps(values)]


def evaluate(gem_env: Run, env_id: str, *arguments: str) -> Run:
    def run(**options: object) -> subprocess.CompletedProcess[str]:
        command = ["eval", env_id, "--policy", "solver", "--episodes", "2", *arguments]
        return gem_env(*command, **options)

    return run


@pytest.mark.parametrize("command", ["show", "play", "check", "list"])
def test_an_unknown_id_is_answered_by_the_nearest(gem_env: Run, command: str) -> None:
    line = complaint(gem_env(command, "game:GuesTheNumber-v0-hard"))

    assert "'game:GuesTheNumber-v0-hard'" in line
    assert f"Did you mean '{GUESS}'" in line


def test_eval_answers_an_unknown_id_by_the_nearest(gem_env: Run) -> None:
    line = complaint(evaluate(gem_env, "Game:guessthenumber-v0-hard")())

    assert f"Did you mean '{GUESS}'" in line


def test_a_pattern_that_matches_nothing_is_wrong_use(gem_env: Run) -> None:
    assert "nope:*" in complaint(evaluate(gem_env, "nope:*")())


def test_an_unknown_parameter_is_answered_by_the_allowed_ones_and_their_types(
    gem_env: Run,
) -> None:
    line = complaint(evaluate(gem_env, GUESS, *kwargs(max_numbr=5))())

    assert "'max_numbr'" in line
    assert "max_number: int" in line


@pytest.mark.parametrize("value", ["5", True, 5.5, [5]])
def test_a_value_of_the_wrong_type_is_refused(gem_env: Run, value: object) -> None:
    line = complaint(evaluate(gem_env, GUESS, *kwargs(max_turns=value))())

    assert f"max_turns={value!r}" in line
    assert "max_turns: int" in line


def test_arguments_that_are_not_json_are_refused(gem_env: Run) -> None:
    assert "JSON" in complaint(evaluate(gem_env, GUESS, "--env-kwargs", "{max_turns: 5}")())


def test_an_unknown_policy_is_answered_by_the_nearest(gem_env: Run) -> None:
    line = complaint(gem_env("eval", GUESS, "--policy", "solvr"))

    assert "'solver'" in line


def test_an_unknown_wrapper_is_answered_by_the_nearest(gem_env: Run) -> None:
    line = complaint(evaluate(gem_env, GUESS, "--wrappers", "concatt")())

    assert "'concat'" in line


def test_an_unknown_command_is_answered_by_the_nearest(gem_env: Run) -> None:
    assert "'eval'" in complaint(gem_env("evl"))


def test_a_missing_requirement_is_answered_by_the_pip_command(
    gem_env: Run, install: Install, site: Path
) -> None:
    install("acme-needy", NEEDY)

    line = complaint(evaluate(gem_env, "acme:Needy")(path=site))

    assert 'pip install "acme-absent>=1.0"' in line


def test_a_missing_extra_is_answered_by_the_pip_command(run_python: Run, site: Path) -> None:
    """Without site-packages, but with links to everything in it save one distribution."""
    installed = Path(sysconfig.get_paths()["purelib"])
    for entry in installed.iterdir():
        if not entry.name.startswith(("datasets", "__pycache__")):
            (site / entry.name).symlink_to(entry)
    ours = (gem, gem_data, gem_envs_math, gem_eval)
    homes = {Path(str(package.__file__)).parents[1] for package in ours}
    path = os.pathsep.join(map(str, [site, *homes - {installed}]))  # editable ones lie elsewhere

    command = ["-S", "-m", "gem", "eval", "math:GSM8K", "--policy", "solver"]
    line = complaint(run_python(*command, env={"PYTHONPATH": path}))

    assert "datasets" in line
    assert "pip install" in line


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        ([FINE, '{"problem": "2+2?"}'], ("2", "answer")),
        ([FINE, FINE, '{"problem": null, "answer": "4"}'], ("3", "problem")),
        ([FINE, "{not json"], ("2",)),
    ],
)
def test_an_unreadable_data_file_is_answered_by_row_and_field(
    gem_env: Run, tmp_path: Path, rows: list[str], where: tuple[str, ...]
) -> None:
    pytest.importorskip("datasets", reason="gem-envs-math's extra `data` is not installed")
    data = tmp_path / "bad.jsonl"
    data.write_text("\n".join(rows) + "\n", encoding="utf-8")

    line = complaint(evaluate(gem_env, "math:GSM8K", *kwargs(data=str(data)))())

    assert "bad.jsonl" in line
    assert "row" in line.lower()
    assert [word for word in where if word not in line] == []


def test_a_data_file_that_is_not_there_is_named(gem_env: Run) -> None:
    pytest.importorskip("datasets", reason="gem-envs-math's extra `data` is not installed")

    line = complaint(evaluate(gem_env, "math:GSM8K", *kwargs(data="no/such/file.jsonl"))())

    assert "no/such/file.jsonl" in line


def test_a_data_set_that_is_not_there_while_offline_tells_how_to_use_a_local_file(
    gem_env: Run, tmp_path: Path
) -> None:
    pytest.importorskip("datasets", reason="gem-envs-math's extra `data` is not installed")
    offline = {**OFFLINE, "HF_HOME": str(tmp_path / "cache")}

    line = complaint(evaluate(gem_env, "math:GSM8K")(env=offline))

    assert "data=" in line or '"data"' in line


def test_a_run_that_is_not_there_is_named(gem_env: Run) -> None:
    assert "no/such/run" in complaint(gem_env("replay", "no/such/run"))

"""The pack of docs/writing-a-pack.md, built as a wheel and used in a fresh environment.

Our own distributions are wheels too, given to pip by path and never by name. What they depend
on comes from the package index, as it does for a user.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "writing-a-pack.md"
FILES = re.compile(r"^```\w+\n(# ([\w./-]+\.\w+)\n.*?)^```$", re.DOTALL | re.MULTILINE)
Tool = Callable[..., "subprocess.CompletedProcess[str]"]

IDS = ["acme:Backwards-v0", "acme:Backwards-v0-long"]

pytestmark = pytest.mark.timeout(600)


def write_pack(folder: Path) -> None:
    """Write every file that the page shows."""
    for text, name in FILES.findall(PAGE.read_text(encoding="utf-8")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "src" / "acme_words" / "py.typed").touch()


def pip(*arguments: str) -> None:
    # PYTHONPATH would make what stands on it look installed.
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pip", *arguments]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("acme-words")
    write_pack(folder)
    return folder


@pytest.fixture(scope="module")
def fresh(pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """Install the wheels into a new environment and return a function that runs its tools."""
    folder = tmp_path_factory.mktemp("fresh")
    wheels = folder / "wheels"
    sources = [str(ROOT / "gem-core"), str(ROOT / "gem-eval"), str(pack)]
    pip("wheel", "--quiet", "--no-deps", f"--wheel-dir={wheels}", *sources)
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    bin_folder = folder / "venv" / "bin"
    built = sorted(map(str, wheels.glob("*.whl")))
    assert len(built) == len(sources)
    constraints = f"--constraint={ROOT / 'constraints.txt'}"
    target = f"--python={bin_folder / 'python'}"
    pip(target, "install", "--quiet", constraints, *built, "pytest", "pytest-timeout")

    def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(bin_folder / tool), *arguments]
        return subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, check=False
        )

    return run


def test_it_is_found(fresh: Tool) -> None:
    done = fresh("gem-env", "plugins", "--json")

    states = {each["distribution"]: each["state"] for each in json.loads(done.stdout)}
    assert done.returncode == 0, done.stdout
    assert states == {"gem-core": "ok", "gem-eval": "ok", "acme-words": "ok"}


def test_it_is_listed(fresh: Tool) -> None:
    done = fresh("gem-env", "list", "--json")

    assert [spec["id"] for spec in json.loads(done.stdout)] == IDS


def test_it_is_shown(fresh: Tool) -> None:
    done = fresh("gem-env", "show", "acme:Backwards-v0")

    assert done.returncode == 0, done.stderr
    assert "acme-words 0.1.0" in done.stdout


def test_it_is_made_and_played(fresh: Tool) -> None:
    code = "import gem; env = gem.make('acme:Backwards-v0-long', seed=1, length=8); env.reset()\n"
    code += "print(env.step(env.solve()).info['success'])"

    done = fresh("python", "-c", code)

    assert (done.stdout, done.stderr) == ("True\n", "")


def test_its_arguments_are_checked(fresh: Tool) -> None:
    command = ["eval", "acme:Backwards-v0", "--policy", "solver", "--env-kwargs", '{"length": 1}']
    done = fresh("gem-env", *command)

    assert done.returncode == 2
    assert "length=1" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("subject", ["acme-words", "acme:Backwards-v0", "acme:*"])
def test_it_is_checked(fresh: Tool, subject: str) -> None:
    done = fresh("gem-env", "check", subject)

    assert done.returncode == 0, done.stdout


def test_it_is_evaluated(fresh: Tool, tmp_path: Path) -> None:
    run = tmp_path / "run"
    policies = ["--policy", "solver", "--policy", "random"]
    done = fresh("gem-env", "eval", "acme:*", *policies, "--episodes", "20", "--out", str(run))

    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    rates = {(row["env_id"], row["policy"]): row["success_rate"] for row in summary["results"]}
    assert rates == {
        (env_id, policy): rate
        for env_id in IDS
        for policy, rate in (("solver", 1.0), ("random", 0.0))
    }
    assert fresh("gem-env", "replay", str(run), "--verify").returncode == 0


def test_its_own_tests_pass(fresh: Tool, pack: Path) -> None:
    done = fresh("pytest", "-q", str(pack))

    assert done.returncode == 0, done.stdout

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

OURS = ["gem-core", "gem-data", "gem-eval", "gem-tools"]
IDS = ["acme:Backwards-v0", "acme:Backwards-v0-long", "acme:Sums-v0"]

pytestmark = pytest.mark.timeout(600)


def write_pack(folder: Path) -> None:
    """Write every file that the page shows."""
    for text, name in FILES.findall(PAGE.read_text(encoding="utf-8")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shown_as_file(name, text), encoding="utf-8")
    (folder / "src" / "acme_words" / "py.typed").touch()


def shown_as_file(name: str, text: str) -> str:
    """Return a file as it is on disk: one that has no comments does not say its own name."""
    return text.partition("\n")[2] if name.endswith(".jsonl") else text


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
    sources = [str(ROOT / name) for name in OURS]
    wheel = ("wheel", "--quiet", "--no-deps", f"--wheel-dir={wheels}")
    pip(*wheel, "--no-build-isolation", *sources)  # what builds ours is here; the pack says itself
    pip(*wheel, str(pack))
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    bin_folder = folder / "venv" / "bin"
    built = sorted(map(str, wheels.glob("*.whl")))
    assert len(built) == len(sources) + 1
    constraints = f"--constraint={ROOT / 'constraints.txt'}"
    target = f"--python={bin_folder / 'python'}"
    pip(
        target,
        "install",
        "--quiet",
        "--no-compile",
        constraints,
        *built,
        "pytest",
        "pytest-timeout",
    )

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
    assert states == dict.fromkeys([*OURS, "acme-words"], "ok")


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


def test_its_wrapper_its_tool_and_its_data_file_are_used(fresh: Tool) -> None:
    code = r"""
import gem
layers = ["acme_lower_case", {"id": "tools", "tools": ["acme_letters"]}]
env = gem.make("acme:Sums-v0", wrappers=layers[::-1])
print(env.reset(task=1)[0].splitlines()[0])
call = gem.ToolCall("1", "letters", {"word": "gem"})
print(env.step(gem.Action("", tool_calls=[call])).observation[0].text)
print(env.step(r"\boxed{15}").reward)
"""
    done = fresh("python", "-c", code)

    assert done.stderr == ""
    assert done.stdout.splitlines() == ["what is 3 * 5?", '["g", "e", "m"]', "1.0"]


@pytest.mark.parametrize("subject", ["acme-words", "acme:Backwards-v0", "acme:*"])
def test_it_is_checked(fresh: Tool, subject: str) -> None:
    done = fresh("gem-env", "check", subject)

    assert done.returncode == 0, done.stdout


def test_it_is_evaluated(fresh: Tool, tmp_path: Path) -> None:
    run = tmp_path / "run"
    policies = ["--policy", "solver", "--policy", "random"]
    done = fresh(
        "gem-env", "eval", "acme:Backwards*", *policies, "--episodes", "20", "--out", str(run)
    )

    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    rates = {(row["env_id"], row["policy"]): row["success_rate"] for row in summary["results"]}
    assert rates == {
        (env_id, policy): rate
        for env_id in ("acme:Backwards-v0", "acme:Backwards-v0-long")
        for policy, rate in (("solver", 1.0), ("random", 0.0))
    }
    assert fresh("gem-env", "replay", str(run), "--verify").returncode == 0


def test_its_own_tests_pass(fresh: Tool, pack: Path) -> None:
    done = fresh("pytest", "-q", str(pack))

    assert done.returncode == 0, done.stdout

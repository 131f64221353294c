"""A result of a contract says that all of it passed with this code; any other run leaves it alone.

The contract that runs here is a toy: its framework is pytest, and its episodes are a word. What
runs it is what runs the others, in a small copy of the checkout, with an installation beside it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gem_integrations.frameworks import FRAMEWORKS, signature

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CONTRACTS = "gem-integrations/contracts"
PACKAGES = {"gem": "gem-core", "gem_integrations": "gem-integrations"}
BEFORE = {"result": "of before"}
STUBS = """
from gem_integrations.frameworks import FRAMEWORKS, Framework

FRAMEWORKS["toy"] = Framework("toy", "pytest", "pytest")
"""
TESTS = """
import subprocess
import sys
from pathlib import Path

import pytest


def test_episodes(same_everywhere, shown):
    import gem.returns  # late, as in a framework's rollout

    subprocess.run([sys.executable, "-c", "import gem.rollouts"], check=True)  # in a worker
    subprocess.run(["sh", str(Path(__file__).parents[3] / "examples" / "run.sh")], check=True)
    subprocess.run(["test", "-d", str(Path(gem.__file__).parent / "testing")], check=True)
    same_everywhere.append("episodes")
    shown["episodes"] += 1


def test_rewards(shown):
    shown["rewards"] += 1
"""
SKIPPED = """

def test_gpu():
    pytest.skip("no GPU")
"""


class Toy(NamedTuple):
    """A copy of the checkout, with a contract for pytest, and where its packages are installed."""

    root: Path
    site_packages: Path

    @property
    def folder(self) -> Path:
        return self.root / CONTRACTS / "toy"

    def run(self, *options: str | Path, is_watched: bool = True) -> tuple[int, str]:
        """Run the contract; return the status and what was printed."""
        reads = self.root.parent / "reads"
        reads.mkdir()
        path = os.pathsep.join(map(str, (self.folder.parent / "watch", self.site_packages)))
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # they take longer than all else
        }
        if is_watched:
            environment["GEM_CONTRACT_READS"] = str(reads)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-ppytest_timeout",
            f"-c{self.folder.parent}/pytest.ini",
        ]
        run = subprocess.run(
            [*command, "--framework=toy", *map(str, options or [self.folder])],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return run.returncode, run.stdout + run.stderr

    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return found


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    made = Toy(tmp_path / "checkout", tmp_path / "venv" / "site-packages")
    for package, distribution in PACKAGES.items():
        sources = Path(distribution, "src", package)
        shutil.copytree(ROOT / sources, made.root / sources)
        shutil.copy(ROOT / distribution / "pyproject.toml", made.root / distribution)
    known = {"recorded_from": "", "signatures": {"json:loads": signature("json:loads")}}
    sources = made.root / "gem-integrations" / "src" / "gem_integrations"
    (sources / "recorded" / "toy.json").write_text(json.dumps(known))
    for package, distribution in PACKAGES.items():
        shutil.copytree(made.root / distribution / "src" / package, made.site_packages / package)
    made.folder.mkdir(parents=True)
    shutil.copytree(ROOT / CONTRACTS / "watch", made.folder.parent / "watch")
    for each in (ROOT / CONTRACTS).glob("*.*"):
        shutil.copy(each, made.folder.parent)
    (made.root / "examples").mkdir()
    (made.root / "examples" / "run.sh").write_text("exit 0\n")
    (made.folder / "stubs.py").write_text(STUBS)
    (made.folder / "test_contract.py").write_text(TESTS)
    (made.folder / "requirements.txt").write_text("pytest  # what runs it\n")
    (made.folder / "result.json").write_text(json.dumps(BEFORE))
    return made


def changes(root: Path, name: str) -> list[str]:
    """Ask for what has changed as CI does: by a script that has nothing but Python."""
    script = root / CONTRACTS / "content.py"
    command = [sys.executable, "-S", "-I", str(script), name]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert asked.returncode == bool(asked.stdout), asked.stderr
    return asked.stdout.splitlines()


def test_a_result_lists_what_was_imported_late_and_in_other_processes(toy: Toy) -> None:
    status, printed = toy.run()

    assert status == 0, printed
    found = toy.result()
    assert (found["selection"], [*found["resolved"]]) == ({"test_contract.py": 2}, ["pytest"])
    assert {
        "gem-core/src/gem/registry/_catalogue.py",  # imported by what is imported
        "gem-core/src/gem/returns.py",  # late
        "gem-core/src/gem/rollouts/_mixtures.py",  # in another process
        "gem-core/pyproject.toml",
        "gem-integrations/src/gem_integrations/recorded/toy.json",  # data
        "examples/run.sh",  # by another program
        "gem-core/src/gem/testing/_elsewhere.py",  # in a folder that another program was given
        f"{CONTRACTS}/harness.py",
        f"{CONTRACTS}/toy/requirements.txt",
        f"{CONTRACTS}/toy/stubs.py",
    } <= found["files"].keys()
    assert changes(toy.root, "toy") == []


def only_one_test(toy: Toy) -> Sequence[str | Path]:
    return [toy.folder, "-k", "episodes"]


def only_one_path(toy: Toy) -> Sequence[str | Path]:
    return [f"{toy.folder}/test_contract.py::test_episodes"]


def without_a_file(toy: Toy) -> Sequence[str | Path]:
    (toy.folder / "test_more.py").write_text("def test_more():\n    pass\n")
    return [toy.folder, f"--ignore={toy.folder}/test_more.py"]


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (only_one_test, "tests were deselected (1)"),
        (only_one_path, "was asked for"),
        (without_a_file, "nothing of test_more.py was run"),
    ],
)
def test_a_part_that_was_asked_for_passes_and_writes_nothing(
    toy: Toy, chosen: Callable[[Toy], Sequence[str | Path]], told: str
) -> None:
    status, printed = toy.run(*chosen(toy))

    assert (status, toy.result()) == (0, BEFORE), printed
    assert told in printed


def skipped_test(toy: Toy) -> None:
    (toy.folder / "test_contract.py").write_text(TESTS + SKIPPED)


def skipped_file(toy: Toy) -> None:
    (toy.folder / "test_more.py").write_text("import pytest\npytest.importorskip('no_such')\n")


def other_installation(toy: Toy) -> None:
    with (toy.site_packages / "gem" / "returns.py").open("a") as file:
        file.write("# as it was last week\n")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (skipped_test, "test_contract.py::test_gpu did not pass"),
        (skipped_file, "test_more.py:: did not pass"),
        (other_installation, "gem-core/src/gem/returns.py is not what was read"),
    ],
)
def test_a_run_that_does_not_show_all_of_its_contract_fails_and_writes_nothing(
    toy: Toy, fault: Callable[[Toy], None], told: str
) -> None:
    fault(toy)

    status, printed = toy.run()

    assert (status, toy.result()) == (1, BEFORE), printed
    assert told in printed


def test_a_run_that_nothing_watched_writes_nothing(toy: Toy) -> None:
    status, printed = toy.run(is_watched=False)

    assert (status, toy.result()) == (1, BEFORE), printed
    assert "nox -s contract -- toy" in printed


def test_signatures_that_are_recorded_anew_are_installed_before_they_count(toy: Toy) -> None:
    recorded = "gem-integrations/src/gem_integrations/recorded/toy.json"
    old = json.dumps({"recorded_from": "", "signatures": {"json:loads": ["text"]}})
    (toy.site_packages / "gem_integrations" / "recorded" / "toy.json").write_text(old)
    (toy.root / recorded).write_text(old)

    status, printed = toy.run(toy.folder, "--record")

    assert (status, toy.result()) == (0, BEFORE), printed
    assert "Run `nox -s contract -- toy` now" in printed
    now = json.loads((toy.root / recorded).read_text())
    assert now["signatures"] == {"json:loads": signature("json:loads")}


def test_a_contract_that_there_is_not_is_one_error(toy: Toy) -> None:
    command = [sys.executable, "-S", "-I", str(toy.folder.parent / "content.py"), "toys"]

    asked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (asked.returncode, asked.stderr) == (2, "'toys' is no contract. They are toy.\n")


# the checkouts of frameworks that are no packages


def git(folder: Path, *asked: str) -> str:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", "-C", str(folder)]
    run = subprocess.run([*command, *asked], check=True, capture_output=True, text=True)
    return run.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    made = tmp_path / "framework"
    made.mkdir()
    (made / "framework.py").write_text("VERSION = 1\n")
    git(made, "init", "-q")
    git(made, "add", ".")
    git(made, "commit", "-qm", "First")
    return made


@pytest.fixture
def faults(checkout: Path) -> Callable[[], list[str]]:
    """Return what says why the checkout is not its first commit."""
    known = git(checkout, "rev-parse", "--short=12", "HEAD")
    script = "import sys\nfrom recording import checkout_faults\nfrom pathlib import Path\n"
    script += "print(*checkout_faults(Path(sys.argv[1]), 'framework', sys.argv[2]), sep='\\n')"
    command = [sys.executable, "-c", script, str(checkout), known]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / CONTRACTS)}

    def ask() -> list[str]:
        run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return run.stdout.split("\n")[:-1]

    return ask


def test_a_checkout_that_was_imported_from_is_as_committed(
    checkout: Path, faults: Callable[[], list[str]]
) -> None:
    (checkout / "__pycache__").mkdir()
    (checkout / "__pycache__" / "framework.pyc").touch()

    assert faults() == [""]


def test_a_run_with_a_checkout_that_is_another_writes_nothing(toy: Toy, checkout: Path) -> None:
    (checkout / "framework.py").write_text("VERSION = 2\n")

    status, printed = toy.run(toy.folder, f"--checkout={checkout}")

    assert (status, toy.result()) == (1, BEFORE), printed
    assert "the signatures are of" in printed  # another commit
    assert "files of the checkout are not as committed (1, of them framework.py)" in printed
    assert "pytest was imported from" in printed  # by what installed it


@pytest.mark.parametrize("file", ["framework.py", "json.py"])
def test_a_checkout_with_a_file_that_is_not_committed_is_not_its_commit(
    checkout: Path, faults: Callable[[], list[str]], file: str
) -> None:
    (checkout / file).write_text("VERSION = 2\n")

    [fault] = faults()
    assert f"not as committed (1, of them {file})" in fault


def test_a_checkout_of_another_commit_is_not_the_recorded_one(
    checkout: Path, faults: Callable[[], list[str]]
) -> None:
    git(checkout, "commit", "-q", "--allow-empty", "-m", "Second")

    [fault] = faults()
    assert "the signatures are of" in fault


# the results that are committed


def files_of(name: str) -> dict[str, str]:
    result = json.loads((ROOT / CONTRACTS / name / "result.json").read_text())
    found: dict[str, str] = result["files"]
    return found


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


@pytest.fixture(params=sorted(FRAMEWORKS))
def committed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """Return a contract's name, and a copy of the files of its result, which is of that copy.

    The result in the checkout may be old: what it lists is what counts here.
    """
    name = str(request.param)
    for each in files_of(name):
        if (ROOT / each).is_file():
            (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / each, tmp_path / each)
    files = {each: digest(tmp_path / each) for each in files_of(name) if (tmp_path / each).exists()}
    result = tmp_path / CONTRACTS / name / "result.json"
    result.write_text(json.dumps({"files": files}))
    return name, tmp_path


@pytest.mark.parametrize(
    "module",
    ["gem-core/src/gem/_python/seeding.py", "gem-envs-games/src/gem_envs_games/rewards.py"],
)
def test_a_module_far_below_an_adapter_makes_its_result_old(
    committed: tuple[str, Path], module: str
) -> None:
    name, root = committed
    assert changes(root, name) == []

    (root / module).write_text("raise ImportError\n")

    assert changes(root, name) == [f"{name}: {module} has changed"]


def test_every_file_of_a_result_counts(committed: tuple[str, Path]) -> None:
    name, root = committed
    files = [each for each in root.rglob("*") if each.is_file() and each.name != "result.json"]

    for each in files:
        with each.open("a") as file:
            file.write("\n# changed\n")

    *_, more = changes(root, name)
    assert more == f"{name}: and {len(files) - 3} more"  # after the first three


def test_a_file_that_is_new_to_a_contract_makes_its_result_old(
    committed: tuple[str, Path],
) -> None:
    name, root = committed
    new = f"{CONTRACTS}/{name}/test_new.py"

    (root / new).touch()

    assert changes(root, name) == [f"{name}: {new} is new"]


def modules_of(name: str) -> dict[str, str]:
    """Return the modules of ours in a result that are as they were, by name: the files."""
    current = (each for each, known in files_of(name).items() if is_current(each, known))
    parts = (each.partition("/src/") for each in current)
    return {
        inside.removesuffix(".py").removesuffix("/__init__").replace("/", "."): before
        + src
        + inside
        for before, src, inside in parts
        if inside.endswith(".py")
    }


def is_current(path: str, known: str) -> bool:
    return (ROOT / path).is_file() and digest(ROOT / path) == known


@functools.cache  # the results of all frameworks have most modules in common
def imported_at_once(path: Path) -> list[str]:
    """List the modules that a file imports as it is imported itself, by its own statements."""
    found: list[str] = []
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Import):
            found += (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            assert statement.module is not None
            found.append(statement.module)
            found += (f"{statement.module}.{alias.name}" for alias in statement.names)
    return found


@pytest.mark.parametrize("name", sorted(FRAMEWORKS))
def test_what_the_modules_of_a_result_import_is_in_it_as_well(name: str) -> None:
    """Read in their sources: what was watched left nothing out."""
    known = files_of(name)
    modules = modules_of(name)

    missing = {
        f"{module} imports {each}"
        for module, path in modules.items()
        for each in imported_at_once(ROOT / path)
        for file in source_of(each)
        if file not in known
    }

    assert missing == set()


@functools.cache
def source_of(module: str) -> list[str]:
    """List where in the checkout a module of ours lies, if it is one."""
    inside = module.replace(".", "/")
    found = [
        path
        for suffix in (".py", "/__init__.py")
        for path in ROOT.glob(f"gem-*/src/{inside}{suffix}")
    ]
    return [path.relative_to(ROOT).as_posix() for path in found]

"""The tasks of this repository: `nox -l` lists them, `nox -s tests` runs one.

Nothing of ours is published, so pip always gets our distributions as paths, all of them in
one command, and never looks their names up in an index, where a stranger could own them.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["lint", "types", "isolation", "tests"]
nox.options.error_on_external_run = True
nox.options.default_venv_backend = "virtualenv"  # brings the pip that builds the wheels

CONSTRAINTS = "--constraint=constraints.txt"
IMPORT_NAMES = {
    "gem-core": "gem",
    "gem-envs-code": "gem_envs_code",
    "gem-envs-games": "gem_envs_games",
    "gem-envs-math": "gem_envs_math",
    "gem-envs-qa": "gem_envs_qa",
    "gem-envs-reasoning": "gem_envs_reasoning",
    "gem-eval": "gem_eval",
    "gem-integrations": "gem_integrations",
    "gem-tools": "gem_tools",
}
SOURCES = [f"{name}/src" for name in IMPORT_NAMES]
TESTS = [*(f"{name}/tests" for name in IMPORT_NAMES), "tests"]
EXTRAS = {
    "gem-core": "[data,progress]",
    "gem-envs-code": "[data,sandbox]",
    "gem-envs-games": "[textarena,wiki]",
    "gem-envs-math": "[data,verify,visual]",
    "gem-envs-qa": "[data]",
    "gem-envs-reasoning": "[tasks]",
    "gem-eval": "[pandas]",
    "gem-integrations": "[ray]",
    "gem-tools": "[bm25s,data,http,mcp,search,serve]",
}
NEIGHBOURS = {"gem-envs-code": {"gem-tools"}}
"""The distributions of ours that a distribution's extras name."""
CONTRACTS = ["oat", "openrlhf", "tinker", "trl", "verl", "rl2", "roll"]
CHECKOUTS = {"rl2", "roll"}
"""The frameworks that come as a checkout: their contract runs where it is told a folder."""
ADAPTERS = [f"--ignore=gem-integrations/src/gem_integrations/{name}.py" for name in CONTRACTS]
"""What pytest leaves out where it imports sources: these need the frameworks that they are for."""
CARRIERS = [
    "trl",  # it needs torch, and is not imported
    "mistral-common; python_version >= '3.11'",  # it needs an older numpy, and not for this
    "pycountry",
    "pydantic-extra-types",
    "tiktoken",
]
"""Packages that carry chat templates, or that these import."""
QUICKSTART = """
    gem-env eval game:GuessTheNumber-v0-hard game:Mastermind-v0-hard math:Arithmetic-v0
    --policy solver --policy random --episodes 200 --seed 0
"""


@nox.session
def quickstart(session: nox.Session) -> None:
    """Install all that works offline and evaluate two policies; from then on without a network."""
    session.install(CONSTRAINTS, ".")
    session.run(*QUICKSTART.split(), "--out", str(unused(Path("runs/quickstart"))))
    session.log("The command `gem-env` above is %s/gem-env", session.bin)


@nox.session
def tests(session: nox.Session) -> None:
    """Hold gem-core's own tests to full coverage, then run all others and docstring examples."""
    install_checkout(session, "build", "test", "templates", "servers")
    session.install(CONSTRAINTS, "--no-deps", *CARRIERS)
    core, *others = TESTS
    session.run("coverage", "run", "-m", "pytest", "--quiet", core)
    session.run("coverage", "report")
    session.run("pytest", *(session.posargs or ["--doctest-modules", *ADAPTERS, *others, *SOURCES]))
    end_on_the_count()


@nox.session
def lint(session: nox.Session) -> None:
    """Check rules and format with ruff; `nox -s lint -- --fix` repairs what can be repaired."""
    session.install(CONSTRAINTS, *group("lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", *([] if "--fix" in session.posargs else ["--check"]))


@nox.session
def types(session: nox.Session) -> None:
    """Check source and tests of every distribution, and the rest of the tree, with mypy."""
    install_checkout(session, "types")
    for name in IMPORT_NAMES:  # one run each: tests of two distributions may share a name
        session.run("mypy", f"{name}/src", f"{name}/tests")
    session.run("mypy", "gem-envs-games/tools")
    session.run("mypy", "tests", "benchmarks", "docs", "examples", "tools", "noxfile.py")


@nox.session
@nox.parametrize("name", list(IMPORT_NAMES), ids=list(IMPORT_NAMES))
def isolation(session: nox.Session, name: str) -> None:
    """Run each distribution's quick tests with nothing but core, those skipped with its extras."""
    neighbours = NEIGHBOURS.get(name, set())
    wheels = build_wheels(session, {"gem-core", name, *neighbours})
    report = Path(session.create_tmp(), "tests.xml")
    paths = [f"{name}/tests"]
    for extra in ["", EXTRAS[name]] if name in EXTRAS else [""]:
        built = (
            f"{wheel}{extra if each == name else ''}"
            for each, wheel in wheels.items()
            if extra or each not in neighbours
        )
        session.install(CONSTRAINTS, *group("test"), *built)
        session.run("python", "-c", f"import {IMPORT_NAMES[name]}")
        if paths:
            xml = (f"--junit-xml={report}", "-ojunit_family=xunit1")
            session.run("pytest", "-rs", "-m", "not slow", *xml, *paths)
        paths = with_skips(report)


@nox.session
@nox.parametrize("name", CONTRACTS, ids=CONTRACTS)
def contract(session: nox.Session, name: str) -> None:
    """Drive an adapter by its framework's own code: `-- trl [--record]`, `-- rl2 CHECKOUT`.

    What else follows goes to pytest; a run of a part (`-- trl -k seed`) leaves the result as it is.
    Without a name, those of the registry whose content is not that of their committed result.
    """
    asked, *rest = session.posargs or [""]
    folder = Path("gem-integrations/contracts", name)
    if asked and asked not in CONTRACTS:
        session.error(f"{asked!r} is no adapter. They are {', '.join(CONTRACTS)}")
    if asked not in ("", name):
        session.skip(f"{asked} was asked for")
    if not asked and is_current(name):
        session.skip("its result is of this code")
    if not asked and name in CHECKOUTS:
        session.skip(f"its result is old. {how_to_check_out(name)}")
    python_path = [folder.parent / "watch"]  # its sitecustomize.py sees what is read
    options = [f"--framework={name}"]
    if name in CHECKOUTS:
        if not rest or rest[0].startswith("-"):
            session.error(how_to_check_out(name))
        checkout = Path(rest.pop(0))
        if not checkout.is_dir():
            session.error(f"{checkout} is no folder. {how_to_check_out(name)}")
        options.append(f"--checkout={checkout.resolve()}")
        python_path.append(checkout)
    install_frameworks(session, folder)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as reads:  # Ray lingers
        environment = {
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": os.pathsep.join(str(each.resolve()) for each in python_path),
            "GEM_CONTRACT_READS": reads,
        }
        ini = f"{folder.parent}/pytest.ini"
        session.run("pytest", "-c", ini, *options, *rest, folder, env=environment)


@nox.session
def docs(session: nox.Session) -> None:
    """Check the documentation: Python blocks, commands, help pages, docstring examples."""
    install_checkout(session, "test")
    session.run("pytest", "--doctest-modules", *ADAPTERS, "tests/test_docs.py", *SOURCES)


@nox.session
def bench(session: nox.Session) -> None:
    """Run every benchmark; `nox -s bench -- games --quick` runs one, with its options."""
    install_checkout(session, "test", "templates")
    every = sorted(path.stem for path in Path("benchmarks").glob("*.py"))
    for name in session.posargs[:1] or every:
        session.run("python", f"benchmarks/{name}.py", *session.posargs[1:])


def group(name: str) -> tuple[str, ...]:
    """List the requirements of a dependency group of the root pyproject.toml."""
    return nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), name)


def install_checkout(session: nox.Session, *groups: str) -> None:
    """Install groups of tools and every distribution of the checkout, extras included."""
    tools = itertools.chain.from_iterable(map(group, groups))
    paths = (f"--editable=./{name}{EXTRAS.get(name, '')}" for name in IMPORT_NAMES)
    session.install(CONSTRAINTS, *tools, *paths)


def install_frameworks(session: nox.Session, folder: Path) -> None:
    """Install what a contract pins; `unresolved.txt` lists what pip would refuse to resolve."""
    wheels = shared_wheels(session)
    session.install(f"--requirement={folder}/requirements.txt", "pytest", "pytest-timeout", *wheels)
    # In an environment that is kept, pip takes a wheel of the same version for the same wheel.
    session.install("--force-reinstall", "--no-deps", *wheels)
    if (unresolved := folder / "unresolved.txt").exists():
        session.install(
            "--no-deps", "--ignore-requires-python", f"--requirement={unresolved}", silent=False
        )


def shared_wheels(session: nox.Session) -> list[str]:
    """Return the wheels that contracts play with, built by the first session that asks."""
    folder = wheel_folder()
    if not any(folder.iterdir()):
        parts = ("core", "envs-games", "envs-math", "integrations", "tools")
        sources = (f"./gem-{part}" for part in parts)
        session.run("python", "-m", "pip", "wheel", "--quiet", "--no-deps", f"-w{folder}", *sources)
    return sorted(map(str, folder.iterdir()))


@functools.cache
def wheel_folder() -> Path:
    """Make a folder for this run of nox.

    It is not a session's `create_tmp`: that sets TMPDIR, and Ray hangs where its paths are long.
    """
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def is_current(name: str) -> bool:
    """Whether an adapter's contract was last passed by the code that is here."""
    script = "gem-integrations/contracts/content.py"
    return subprocess.run([sys.executable, script, name], check=False).returncode == 0


def how_to_check_out(name: str) -> str:
    """Say how to run the contract of a framework that comes as a checkout."""
    recorded = Path(f"gem-integrations/src/gem_integrations/recorded/{name}.json")
    commit = json.loads(recorded.read_text(encoding="utf-8"))["recorded_from"]
    return (
        f"{name} comes as a checkout: clone it as docs/trainers/{name}.md says, check out {commit} "
        f"there, and run `nox -s contract -- {name} FOLDER`"
    )


def build_wheels(session: nox.Session, names: set[str]) -> dict[str, Path]:
    """Build a wheel of each named distribution in this session's own folder."""
    folder = Path(session.create_tmp(), "wheels")
    sources = (f"./{name}" for name in sorted(names))
    session.run("python", "-m", "pip", "wheel", "--quiet", "--no-deps", f"-w{folder}", *sources)
    return {name: next(folder.glob(f"{name.replace('-', '_')}-*.whl")) for name in sorted(names)}


def with_skips(report: Path) -> list[str]:
    """Return the files in which a test was skipped."""
    cases = ET.parse(report).iter("testcase")
    skipped = (case for case in cases if case.find("skipped") is not None)
    return sorted({str(test_file(case.attrib)) for case in skipped})


def test_file(case: Mapping[str, str]) -> Path:
    """Return a test's file, of `folder.module.Class`; what a class inherits is run where it is."""
    place = case["classname"] or case["name"]  # a whole module that was skipped has a name alone
    names = place.split(".")
    paths = (Path(*names[:end]).with_suffix(".py") for end in range(len(names), 0, -1))
    return next(path for path in paths if path.is_file())


def unused(folder: Path) -> Path:
    """Return the folder, or the first of folder-2, folder-3, ... where nothing is yet."""
    numbered = (folder.with_name(f"{folder.name}-{n}") for n in itertools.count(2))
    return next(path for path in itertools.chain([folder], numbered) if not path.exists())


def end_on_the_count() -> None:
    """Leave pytest's count as the last line: from here on nox reports failures only."""
    logging.getLogger("nox").setLevel(logging.WARNING)

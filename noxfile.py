"""The tasks of this repository: `nox -l` lists them, `nox -s tests` runs one.

Nothing of ours is published, so pip always gets our distributions as paths, all of them in
one command, and never looks their names up in an index, where a stranger could own them.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import inspect
import itertools
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nox

# Hundreds of processes import the same modules. Where bytecode is not written, as in many images of
# containers, each of them compiles all of it again, and takes half as long again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

sys.path.insert(0, str(Path(__file__).parent))
from tools.distributions import (
    EXTRAS,
    IMPORT_NAMES,
    NEEDS,
    NEIGHBOURS,
    SOURCES,
    TORCH,
    installed_with,
)
from tools.isolation import content, record, recorded

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["lint", "types", "isolation", "tests"]
nox.options.error_on_external_run = True
nox.options.default_venv_backend = "virtualenv"  # brings the pip that builds the wheels

CONSTRAINTS = "--constraint=constraints.txt"
COVERED_TESTS = ["gem-core/tests", "gem-data/tests", "gem-train/tests"]
"""The tests that are held to full coverage of what they test."""
# Folders with long files come first, what starts many processes or waits for much before all:
# files are taken in this order by whoever is free, and one long file at the end would leave all
# others idle.
OTHER_TESTS = [
    "tests",
    "gem-integrations/tests",
    "gem-tools/tests",
    "gem-baselines/tests",
    "gem-envs-games/tests",
    "gem-envs-agents/tests",
    "gem-envs-code/tests",
    "gem-eval/tests",
    "gem-envs-math/tests",
    "gem-envs-reasoning/tests",
    "gem-envs-qa/tests",
]
"""All other tests."""
CONTRACTS = ["oat", "openrlhf", "tinker", "trl", "verl", "rl2", "roll"]
CHECKOUTS = {"rl2", "roll"}
"""The frameworks that come as a checkout: their contract runs where it is told a folder."""
UNIMPORTED = [
    *(f"--ignore=gem-integrations/src/gem_integrations/{name}.py" for name in CONTRACTS),
    "--ignore=gem-eval/src/gem_eval/policies/sampling.py",
    *(
        f"--ignore=gem-baselines/src/gem_baselines/{name}.py"
        for name in (
            "hf/_model",
            "hf/_sampler",
            "learning/_figures",
            "learning/_keeping",
            "learning/_learner",
            "learning/_loss",
            "learning/_objective",
            "learning/_passes",
            "transformer/_cache",
            "transformer/_model",
            "transformer/_sampler",
        )
    ),
]
"""What pytest leaves out where it imports sources: these need the frameworks that they are for,
torch or transformers.
"""
CARRIERS = [
    "trl",  # it needs torch, and is not imported
    "mistral-common; python_version >= '3.11'",  # it needs an older numpy, and not for this
    "pycountry",
    "pydantic-extra-types",
    "tiktoken",
]
"""Packages that carry chat templates, or that these import."""
SIDE_BY_SIDE = [
    # One more than cores, for tests often wait; but each imports all that is tested: 1 GB.
    f"--numprocesses={min((os.cpu_count() or 1) + 1, 4)}",
    "--dist=loadfile",  # what a module makes once is made once
    "--no-loadscope-reorder",
]
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
    """Hold core, data and train to full coverage by their tests, then run all others, and examples.

    `-- PATH` runs the tests that are named, one after another and without coverage.
    """
    install_checkout(session)
    if session.posargs:
        session.run("pytest", *session.posargs)
    else:
        coverage = ["--cov", "--cov-report=term-missing:skip-covered"]
        session.run("pytest", "--quiet", *SIDE_BY_SIDE, *coverage, *COVERED_TESTS)
        session.run(
            "pytest", *SIDE_BY_SIDE, "--doctest-modules", *UNIMPORTED, *OTHER_TESTS, *SOURCES
        )
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
    python = python_of_tests(session)
    if python is None:
        install_checkout(session)
        python = "python"
    # Tests of two distributions may share a name: links tell them apart, and one run reads all.
    links = Path(session.create_tmp(), "tests")
    shutil.rmtree(links, ignore_errors=True)
    links.mkdir()
    for name, import_name in IMPORT_NAMES.items():
        Path(links, f"tests_of_{import_name}").symlink_to(Path(name, "tests").resolve())
    rest = ["gem-envs-games/tools", "tests", "benchmarks", "docs", "examples", "tools"]
    paths = [*SOURCES, *map(str, sorted(links.iterdir())), *rest, "conftest.py", "noxfile.py"]
    session.run(python, "-m", "mypy", *paths, external=True, env={"MYPYPATH": str(links)})


@nox.session
@nox.parametrize("name", list(IMPORT_NAMES), ids=list(IMPORT_NAMES))
def isolation(session: nox.Session, name: str) -> None:
    """Run each distribution's quick tests with what it needs, those skipped with its extras.

    One case of each: conftest.py says which. A distribution that last passed as it is here is
    skipped, as tools/isolated says: `-- --again` runs it all the same.
    """
    passing = contents()[name]  # of before the first wheel was built
    if "--again" not in session.posargs and recorded(name) == passing:
        session.skip("it passed alone as it is here")
    run_alone(session, name)
    record(name, passing)


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
def others(session: nox.Session) -> None:
    """Meet what others made: readers of what `gem-env export` writes, trackers, a server of models.

    They want an environment of their own: inspect_ai an older fsspec than all else here, TRL's
    trainers, `transformers serve` and the gradient that credit is compared with torch.
    """
    tests = Path("gem-eval/tests")
    core = wheel_of(session, "gem-core")
    own = wheel_of(session, "gem-eval")
    requirements = f"--requirement={tests}/others.txt"
    train = wheel_of(session, "gem-train")
    extras = "[atif,hf,mlflow,pandas,parquet,tokens,trackio,view,wandb]"
    install_unpinned = ("--no-compile", requirements, *group("test"), core, train)
    session.install(*install_unpinned, f"{own}{extras}")
    # In an environment that is kept, pip takes a wheel of the same version for the same wheel.
    session.install("--force-reinstall", "--no-deps", core, train, own)
    folders = [tests / name for name in ("credit", "exporting", "servers", "trackers")]
    session.run("pytest", "-rs", *session.posargs, *folders)


@nox.session(name="open-spiel")
def open_spiel(session: nox.Session) -> None:
    """Compare the exploitability of policies with what OpenSpiel makes of it, for five minutes."""
    wheels = wheels_of(session, "core", "envs-games")
    install(session, "open_spiel==2.0.2", *group("test"), *wheels)
    session.run("pytest", "-rs", *session.posargs, "gem-envs-games/tests/trees/test_open_spiel.py")


@nox.session
def textarena(session: nox.Session) -> None:
    """Play and replay every game of TextArena, for a quarter of an hour, against the table."""
    wheels = wheels_of(session, "core", "envs-games")
    install(session, *wheels[:1], f"{wheels[1]}[textarena]")
    options = session.posargs or ["--compare"]
    session.run("python", "gem-envs-games/tests/textarena_sweep.py", *options)


@nox.session(name="baselines-smoke")
def baselines_smoke(session: nox.Session) -> None:
    """Train small policies for a minute and a half, and hold them to what learning has to reach."""
    wheels = wheels_of(session, "core", "envs-games", "eval", "train")
    install(session, *wheels, f"{wheel_of(session, 'gem-baselines')}[torch]")
    session.run("python", "benchmarks/learning.py", *session.posargs)


@nox.session
def torch(session: nox.Session) -> None:
    """Run the tests across distributions that need torch, which is not where `tests` runs."""
    wheels = wheels_of(session, "core", "envs-games", "eval", "train")
    own = f"{wheel_of(session, 'gem-baselines')}[torch]"
    questions = f"{wheel_of(session, 'gem-envs-reasoning')}[tasks]"
    install(session, *group("test"), *wheels, own, questions)
    # The other examples run in `tests`.
    example = "tests/test_examples.py::test_an_example_runs_and_prints_the_same_again"
    needing_torch = [
        f"{example}[{path.stem}]"
        for path in sorted(Path("examples").glob("*.py"))
        if "TransformerPolicy" in path.read_text(encoding="utf-8")
    ]
    files = ("tests/test_training.py", "tests/test_baselines_again.py")
    session.run("pytest", *session.posargs, *files, *needing_torch)


@nox.session
def docs(session: nox.Session) -> None:
    """Check the documentation: Python blocks, commands, help pages, docstring examples."""
    install_checkout(session)
    session.run("pytest", "--doctest-modules", *UNIMPORTED, "tests/test_docs.py", *SOURCES)


@nox.session
def statistics(session: nox.Session) -> None:
    """Compare the statistics of gem-baselines with those of rliable, which nothing else needs."""
    # What rliable is built on fails with a newer pandas.
    session.install("rliable==1.2.0", "pandas<3", *group("test"))
    install(session, *wheels_of(session, "core", "train", "baselines"))
    session.run("pytest", "gem-baselines/tests/statistics_of_runs", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Run every benchmark; `nox -s bench -- games --quick` runs one, with its options."""
    install_checkout(session)
    every = sorted(path.stem for path in Path("benchmarks").glob("*.py"))
    for name in session.posargs[:1] or every:
        session.run("python", f"benchmarks/{name}.py", *session.posargs[1:])


def group(name: str) -> tuple[str, ...]:
    """List the requirements of a dependency group of the root pyproject.toml."""
    return nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), name)


def install(session: nox.Session, *requirements: str) -> None:
    """Install at the pinned versions.

    What is imported is compiled then. To compile all of it here takes as long as to install it.
    """
    session.install("--no-compile", CONSTRAINTS, *requirements)


def install_checkout(session: nox.Session) -> None:
    """Install every distribution of the checkout, extras included, and what checks them."""
    groups = (
        "build",
        "test",
        "side-by-side",
        "templates",
        "oracles",
        "servers",
        "browser",
        "types",
    )
    tools = itertools.chain.from_iterable(map(group, groups))
    extras = {name: extra for name, extra in EXTRAS.items() if name not in TORCH}
    paths = (f"--editable=./{name}{extras.get(name, '')}" for name in IMPORT_NAMES)
    install(session, *tools, *paths)
    install(session, "--no-deps", *CARRIERS)
    installed_mark(Path(session.virtualenv.location)).write_text(what_to_install())


def python_of_tests(session: nox.Session) -> str | None:
    """Return the Python of the session `tests` if that has installed this very checkout."""
    environment = Path(session.virtualenv.location).with_name("tests")
    mark = installed_mark(environment)
    if not mark.exists() or mark.read_text() != what_to_install():
        return None
    return str(environment / "bin" / "python")


def installed_mark(environment: Path) -> Path:
    """Return the file that `install_checkout` writes last into an environment."""
    return environment / "installed-checkout"


def what_to_install() -> str:
    """Return a digest of all that decides what `install_checkout` installs."""
    files = ["noxfile.py", "tools/distributions.py", "constraints.txt", "pyproject.toml"]
    files += [f"{name}/pyproject.toml" for name in IMPORT_NAMES]
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


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
    """Return the wheels that contracts play with."""
    packs = ("envs-games", "envs-math", "integrations", "tools")
    return wheels_of(session, "core", "data", "train", *packs)


def wheels_of(session: nox.Session, *parts: str) -> list[str]:
    """Return the wheels of distributions of ours, which are named without `gem-`."""
    return [wheel_of(session, f"gem-{part}") for part in parts]


def wheel_of(session: nox.Session, name: str) -> str:
    """Return the wheel of one of our distributions, built by the first session that asks."""
    pattern = f"{name.replace('-', '_')}-*.whl"
    if not any(wheel_folder().glob(pattern)):
        folder = f"--wheel-dir={wheel_folder()}"
        session.run("python", "-m", "pip", "wheel", "--quiet", "--no-deps", folder, f"./{name}")
    return str(next(wheel_folder().glob(pattern)))


def run_alone(session: nox.Session, name: str) -> None:
    """Do what `isolation` is for, of one distribution."""
    neighbours = NEIGHBOURS.get(name, set())
    core = wheel_of(session, "gem-core")
    own = wheel_of(session, name)
    needed = {core, *(wheel_of(session, each) for each in NEEDS.get(name, ()))}
    outcomes = Path(session.create_tmp(), "outcomes.json")

    install(session, *group("test"), *sorted({*needed, own}))
    session.run("python", "-c", f"import {IMPORT_NAMES[name]}")
    # What failed is named last, where a reader looks.
    quick = ["-rsfE", "-m", "not slow", "--one-case"]
    session.run("pytest", *quick, f"--write-outcomes={outcomes}", f"{name}/tests")

    skipped_files = json.loads(outcomes.read_text(encoding="utf-8"))["skipped_files"]
    if name in EXTRAS and skipped_files:
        others = {*needed, *(wheel_of(session, each) for each in neighbours)} - {own}
        install(session, *group("test"), *sorted(others), f"{own}{EXTRAS[name]}")
        session.run("python", "-c", f"import {IMPORT_NAMES[name]}")
        session.run("pytest", *quick, f"--leave-out-passed={outcomes}", *skipped_files)


@functools.cache
def contents() -> dict[str, str]:
    """Return what each distribution was when this run of nox first asked.

    Of this file only what runs it alone belongs to it.
    """
    how = "".join(inspect.getsource(each) for each in (run_alone, wheel_of, install))
    return {
        name: content(name, installed_with(name), f"{how}{EXTRAS.get(name)}")
        for name in IMPORT_NAMES
    }


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


def unused(folder: Path) -> Path:
    """Return the folder, or the first of folder-2, folder-3, ... where nothing is yet."""
    numbered = (folder.with_name(f"{folder.name}-{n}") for n in itertools.count(2))
    return next(path for path in itertools.chain([folder], numbered) if not path.exists())


def end_on_the_count() -> None:
    """Leave pytest's count as the last line: from here on nox reports failures only."""
    logging.getLogger("nox").setLevel(logging.WARNING)

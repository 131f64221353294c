"""Every environment of ROLL's shipped configurations that has one of our ids: made as ROLL does.

The table beside this file holds their names, ids and arguments. With `--roll-checkout=FOLDER`
they are read from a checkout of ROLL instead. The others of its entries are classes of its own.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import gem

TABLE = Path(__file__).with_name("roll_entries.jsonl")
MOST_ROWS = 20
Row = Mapping[str, Any]


class Entry(NamedTuple):
    """One environment of a configuration: where it is, its id, and its arguments."""

    name: str
    id: str
    config: Mapping[str, Any]


def entries_in(table: Path) -> Iterator[Entry]:
    """Read the table."""
    for line in table.read_text(encoding="utf-8").splitlines():
        yield Entry(**json.loads(line))


def entries_of(checkout: Path) -> Iterator[Entry]:
    """Read every entry with an id of a namespace out of the configurations of a checkout."""
    for path in sorted([*checkout.glob("examples/*/*.yaml"), *checkout.glob("tests/**/*.yaml")]):
        tree = importlib.import_module("yaml").safe_load(path.read_text(encoding="utf-8"))
        if isinstance(tree, dict):
            yield from _entries(tree, tree, path.stem)


def _entries(tree: Any, top: Mapping[str, Any], name: str) -> Iterator[Entry]:
    if not isinstance(tree, dict):
        return
    if ":" in str(tree.get("env_type")):
        config = {key: _resolved(value, top) for key, value in tree["env_config"].items()}
        yield Entry(name, tree["env_type"], config)
    for key, value in tree.items():
        yield from _entries(value, top, f"{name}/{key}")


def _resolved(value: Any, top: Mapping[str, Any]) -> Any:
    """Return what `${name}` stands for; of a folder of somebody's machine the last name."""
    reference = re.fullmatch(r"\$\{(\w+)\}", str(value))
    if reference is not None:
        return top[reference[1]]
    is_path = isinstance(value, str) and value.startswith("/")
    return value.rpartition("/")[2] if is_path else value


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "entry" in metafunc.fixturenames:
        checkout = metafunc.config.getoption("--roll-checkout")
        entries = entries_in(TABLE) if checkout is None else entries_of(checkout)
        metafunc.parametrize("entry", list(entries), ids=lambda entry: entry.name)


@pytest.fixture(scope="module")
def data_sets(local_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a data set of every name that an entry has, rows of local data in it.

    `datasets` takes a folder of that name, seen from the working folder, for the data set.
    """
    folder = tmp_path_factory.mktemp("roll")
    for name, file, row in DATA_SETS:
        lines = (local_data / file).read_text(encoding="utf-8").splitlines()[:MOST_ROWS]
        (folder / name).mkdir(parents=True)
        text = "".join(f"{json.dumps(row(json.loads(line)))}\n" for line in lines)
        (folder / name / "train.jsonl").write_text(text, encoding="utf-8")
    return folder


def _problem(row: Row) -> Row:
    return {"problem": row["problem"], "answer": row["answer"]}


def _program(row: Row) -> Row:
    return {"problem": row["text"], "tests": row["test_list"], "solution": row["code"]}


def _question(row: Row) -> Row:
    return {"problem": row["question"], "answer": row["answer"]}


def _rule(row: Row) -> Row:
    question = f"{row['context']} {row['question']}"
    return {"question": question, "answer": str(row["answer"] == "A")}


DATA_SETS: tuple[tuple[str, str, Callable[[Row], Row]], ...] = (
    ("axon-rl/ASDIV-2k", "svamp/test.jsonl", _problem),
    *(
        (f"axon-rl/{name}", "math_train4500/train.jsonl", _problem)
        for name in ("MATH-12k", "MATH-lvl3to5-8k", "DeepScaleR-40K")
    ),
    *(
        (name, "mbpp/all.jsonl", _program)
        for name in (
            "axon-rl/CodeContest",
            "axon-rl/TACO-8k",
            "axon-rl/PrimeIntellect-15k",
            "CodeContest",
        )
    ),
    *(
        (f"axon-rl/RuleTaker-d{depth}-70k", "logic_proofwriter/test.jsonl", _rule)
        for depth in (0, 1, 2, 3, 5)
    ),
    ("axon-rl/NaturalQuestions", "nq_open/dev.jsonl", _question),
    ("NaturalQuestions", "nq_open/dev.jsonl", _question),
)

NEEDS = {"code": "gem_tools", "logic": "datasets", "math": "math_verify", "rg": "reasoning_gym"}


@pytest.fixture
def offline(data_sets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where the data sets are, with no hub and with a cache of our own."""
    library = pytest.importorskip("datasets", reason="the extra `data` is not installed")
    from huggingface_hub import constants

    monkeypatch.chdir(data_sets)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(library.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(library.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("offline")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_entry_makes_resets_and_steps(entry: Entry, request: pytest.FixtureRequest) -> None:
    namespace = entry.id.partition(":")[0]
    pytest.importorskip(NEEDS.get(namespace, "gem"), reason=f"what {namespace}: needs is absent")
    if namespace == "code":
        request.getfixturevalue("sandbox")

    env = gem.make(env_id=entry.id, **entry.config)  # the call of ROLL's managers
    with env:
        observation, info = env.reset(seed=7)
        assert observation
        assert isinstance(info, dict)
        step = env.step(action=str(env.solve()))
        assert step.reward == 1.0 if env.single_turn else "action_error" not in step.info
        env.reset(seed=8)
        assert env.step(action="no answer at all").reward <= 0.0

"""A data set in the library's cache is told by its folders, and by nothing that costs time."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import pytest

from gem.data import DataSource, RowKind, load_table
from gem.registry._dataset_cache import _snake_case, is_cached

ROWS = b'{"problem": "1 + 1?", "answer": "2"}\n'


class Hub(Protocol):
    def publish(self, commit: str, files: Mapping[str, bytes]) -> None: ...


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home, in a process that has not imported `datasets`."""
    for name in ("HF_HOME", "HF_DATASETS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delitem(sys.modules, "datasets", raising=False)
    return tmp_path


def prepare(cache: Path, folder: str, config: str = "default") -> None:
    """Leave what the library leaves when it has prepared a data set."""
    prepared = cache / folder / config / "0.0.0" / ("a" * 40)
    prepared.mkdir(parents=True)
    (prepared / "rows-train.arrow").touch()


def test_what_the_library_has_loaded_is_cached(hub: Hub) -> None:
    source = DataSource(hub="acme/sums", fields={"question": "problem"})
    hub.publish("a" * 40, {"train.jsonl": ROWS})
    assert not is_cached(source)

    load_table(RowKind("sum", read=dict, needs=("question", "answer")), source=source)

    assert is_cached(source)
    assert not is_cached(DataSource(hub="acme/other"))


def test_names_are_spelled_as_the_library_does(datasets: ModuleType) -> None:
    from datasets.naming import camelcase_to_snakecase

    for name in ("GSM-8k", "MATH-lvl3to5-8k", "RuleTaker-d0-70k", "NaturalQuestions", "SVAMP"):
        assert _snake_case(name) == camelcase_to_snakecase(name)


@pytest.mark.parametrize(
    ("variables", "cache"),
    [
        ({}, ".cache/huggingface/datasets"),
        ({"XDG_CACHE_HOME": "{home}/xdg"}, "xdg/huggingface/datasets"),
        ({"HF_HOME": "{home}/hf"}, "hf/datasets"),
        ({"HF_HOME": "{home}/hf", "HF_DATASETS_CACHE": "~/there"}, "there"),
    ],
)
def test_the_cache_is_where_the_library_would_look(
    home: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], cache: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(home=home))
    prepare(home / cache, "acme___sums")

    assert is_cached(DataSource(hub="acme/sums"))


def test_a_config_of_another_name_is_not_it(home: Path) -> None:
    cache = home / ".cache" / "huggingface" / "datasets"
    prepare(cache, "sums", config="full")

    assert is_cached(DataSource(hub="sums", config="full"))
    assert not is_cached(DataSource(hub="sums", config="small"))
    assert not is_cached(DataSource(hub="sums", config="*"))


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("source", [{}, {"hub": "a/b/c"}, {"hub": "acme/sums"}])
def test_what_is_not_there_is_not_cached(source: dict[str, Any]) -> None:
    assert not is_cached(DataSource(**source))

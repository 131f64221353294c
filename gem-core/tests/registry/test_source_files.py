"""Files as modules: imported once, beside their neighbours, and known by what they held."""

from __future__ import annotations

import os
import py_compile
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gem.registry import _source_files as source_files
from gem.registry._source_files import absolute, digest, import_file, path_of, shortest


@pytest.fixture(autouse=True)
def _nothing_stays_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_file_is_imported_once(tmp_path: Path) -> None:
    path = written(tmp_path / "gem_once.py", "things = []")

    module = import_file(path)

    assert import_file(path) is module
    assert sys.modules["gem_once"] is module
    assert path_of("gem_once") == path


def test_a_module_that_was_imported_by_its_name_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "gem_known.py", "things = []")
    monkeypatch.syspath_prepend(str(tmp_path))
    import gem_known  # type: ignore[import-not-found]

    assert import_file(path) is gem_known


def test_a_file_finds_the_modules_beside_it(tmp_path: Path) -> None:
    written(tmp_path / "gem_beside.py", "WORD = 'kettle'")
    path = written(tmp_path / "gem_begins.py", "from gem_beside import WORD")

    assert import_file(path).WORD == "kettle"


@pytest.mark.parametrize("name", ["random", "wave"])
def test_a_file_takes_no_other_module_s_place(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / f"{name}.py", "class Own: pass")
    before = sys.modules.get(name)

    module = import_file(path)

    assert sys.modules.get(name) is before
    assert sys.modules[module.__name__] is module
    assert path_of(module.__name__) == path


def test_a_name_with_a_dot_is_none_of_a_package(tmp_path: Path) -> None:
    module = import_file(written(tmp_path / "gem_absent.part.py", "THERE = 1"))

    assert (module.__name__, module.THERE) == ("gem_absent_part", 1)


def test_a_dataclass_of_a_file_knows_its_module(tmp_path: Path) -> None:
    text = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "@dataclass\nclass Point:\n    x: int\n    kind: ClassVar[str] = 'p'\n"
    )

    assert import_file(written(tmp_path / "gem_point.py", text)).Point(3).x == 3


def test_a_file_that_raises_leaves_nothing_and_is_tried_again(tmp_path: Path) -> None:
    path = written(tmp_path / "gem_raises.py", "raise SystemExit(3)")
    with pytest.raises(SystemExit):
        import_file(path)
    assert "gem_raises" not in sys.modules
    assert path_of("gem_raises") is None
    written(tmp_path / "gem_raises.py", "MENDED = True  # now")

    assert import_file(path).MENDED


def test_a_digest_is_of_what_was_imported_and_else_of_what_is_there(tmp_path: Path) -> None:
    path = written(tmp_path / "gem_edited.py", "A = 1")
    first = digest(path)
    written(tmp_path / "gem_edited.py", "A = 1 + 1")
    second = digest(path)
    import_file(path)
    written(tmp_path / "gem_edited.py", "A = 1 + 1 + 1")

    assert first is not None
    assert first.startswith("sha256:")
    assert first != second == digest(path)


def test_what_was_imported_keeps_its_digest_when_the_file_is_gone(tmp_path: Path) -> None:
    path = written(tmp_path / "gem_gone.py", "A = 1")
    import_file(path)
    before = digest(path)
    Path(path).unlink()

    assert before is not None
    assert digest(path) == before


def test_a_digest_is_of_the_file_that_a_link_leads_to_now(tmp_path: Path) -> None:
    link = tmp_path / "gem_linked.py"
    digests = []
    for name in ("gem_one.py", "gem_two.py"):
        written(tmp_path / name, f"NAME = {name!r}")
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / name)
        digests.append((digest(str(link)), digest(str(tmp_path / name))))

    assert digests[0][0] == digests[0][1] != digests[1][0] == digests[1][1]


def test_a_file_runs_as_it_is_and_not_as_it_was_compiled(tmp_path: Path) -> None:
    file = tmp_path / "gem_same_second.py"
    written(file, "A = 1")
    py_compile.compile(str(file))
    before = file.stat().st_mtime_ns
    written(file, "A = 2")
    os.utime(file, ns=(before, before))  # what Python compiled looks current

    assert import_file(str(file)).A == 2


@pytest.mark.parametrize("path", ["gem_no_such_file.py", "gem\0.py"])
def test_there_is_no_digest_of_what_cannot_be_read(path: str) -> None:
    assert digest(path) is None


def test_a_path_below_the_current_folder_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/elsewhere/ada")

    assert shortest(str(tmp_path / "a" / "try.py")) == "./a/try.py"
    assert shortest("try.py") == "./try.py"
    assert shortest("/elsewhere/try.py") == "/elsewhere/try.py"
    assert absolute("~/try.py") == "/elsewhere/ada/try.py"
    assert absolute("a/../try.py") == os.fspath(tmp_path / "try.py")


def test_only_a_file_of_python_is_one() -> None:
    assert source_files.is_file("./try.py")
    assert not source_files.is_file("acme.words")

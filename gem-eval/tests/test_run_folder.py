from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gem_eval import RunFolderError
from gem_eval.run_folder import RunFolder
from gem_eval.settings import Settings, settings_from


@pytest.fixture
def settings() -> Settings:
    return settings_from({"envs": "tiny:Guess", "policies": "noop"})


def test_what_was_created_is_what_is_opened(tmp_path: Path, settings: Settings) -> None:
    made = RunFolder.create(tmp_path / "a" / "run", settings, ["gem-env", "eval"])

    assert RunFolder.open(tmp_path / "a" / "run") == made


def test_a_folder_whose_name_is_no_text_is_a_run_folder(tmp_path: Path, settings: Settings) -> None:
    name = os.fsdecode(b"l\xe9 x")

    made = RunFolder.create(tmp_path / name, settings, ["gem-env", "eval", "--out", name])

    assert made.record.command[-1] == r"l\xe9 x"
    assert RunFolder.open(tmp_path / name) == made


def test_what_to_type_next_is_quoted_for_the_shell(tmp_path: Path, settings: Settings) -> None:
    RunFolder.create(tmp_path / "my run", settings, [])

    with pytest.raises(RunFolderError) as caught:
        RunFolder.create(tmp_path / "my run", settings, [])

    assert f"--resume '{tmp_path}/my run'," in str(caught.value)


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_links_will_do(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*paths: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", refuse)
    made = RunFolder.create(tmp_path, settings, [])

    assert RunFolder.open(tmp_path) == made
    with pytest.raises(RunFolderError, match="--resume"):
        RunFolder.create(tmp_path, settings, [])


def test_an_empty_folder_may_be_used(tmp_path: Path, settings: Settings) -> None:
    assert RunFolder.create(tmp_path, settings, []).path == tmp_path


def test_what_a_run_left_that_was_killed_before_it_began_is_no_obstacle(
    tmp_path: Path, settings: Settings
) -> None:
    (tmp_path / ".draft-1-run.json").write_text("{")

    assert RunFolder.create(tmp_path, settings, []).path == tmp_path


@pytest.mark.parametrize("name", ["run.json", "notes.txt"])
def test_a_folder_in_use_is_left_as_it_is(tmp_path: Path, settings: Settings, name: str) -> None:
    (tmp_path / name).write_text("mine")

    with pytest.raises(RunFolderError, match="--resume"):
        RunFolder.create(tmp_path, settings, [])

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "mine"}


@pytest.mark.parametrize("path", ["file", "file/run", "file/a/run"])
def test_a_folder_that_cannot_be_is_told(tmp_path: Path, settings: Settings, path: str) -> None:
    (tmp_path / "file").write_text("mine")

    with pytest.raises(RunFolderError, match="--out"):
        RunFolder.create(tmp_path / path, settings, [])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into a read-only folder")
def test_a_read_only_folder_is_told(tmp_path: Path, settings: Settings) -> None:
    tmp_path.chmod(0o500)

    with pytest.raises(RunFolderError, match="Permission denied"):
        RunFolder.create(tmp_path / "run", settings, [])


def test_runs_may_not_be_a_file(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").write_text("mine")

    with pytest.raises(RunFolderError, match="--out"):
        RunFolder.create(None, settings, [])


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", "{}", '{"format": 2}', '{"format": 1, "command": 3}']
)
def test_a_folder_that_is_no_run_is_told(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "run.json").write_text(text)

    with pytest.raises(RunFolderError) as caught:
        RunFolder.open(tmp_path)

    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="No such file"):
        RunFolder.open(tmp_path / "nowhere")


def test_a_summary_replaces_the_one_before(tmp_path: Path, settings: Settings) -> None:
    folder = RunFolder.create(tmp_path, settings, [])

    for number in (1, 2):
        folder.write_summary({"number": number})

    assert folder.summary_path.read_text() == '{\n  "number": 2\n}\n'
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "summary.json"}

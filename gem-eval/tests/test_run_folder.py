from __future__ import annotations

import errno
import json
import os
import sys
from datetime import datetime, timedelta, timezone
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import gem
import gem_eval
from gem_eval import RunFolderError
from gem_eval.branching.record import Branch
from gem_eval.budgets import Amount
from gem_eval.run_folder import RunFolder, claim
from gem_eval.settings import FREE, Settings, settings_from
from gem_eval.variance.record import NoiseRecord

BRANCH = Branch(run="runs/a", line=2, fingerprint="f" * 32, policy="noop", turn=1)
NOISE = NoiseRecord(agents=2, users=3, judges=1)


@pytest.fixture
def settings() -> Settings:
    return settings_from({"envs": "tiny:Guess", "policies": "noop"})


def test_what_was_created_is_what_is_opened(tmp_path: Path, settings: Settings) -> None:
    made = RunFolder.create(tmp_path / "a" / "run", settings, ["gem-env", "eval"])

    assert RunFolder.open(tmp_path / "a" / "run") == made


def written(folder: RunFolder) -> Any:
    return json.loads((folder.path / "run.json").read_text("utf-8"))


def test_what_is_written_says_what_was_run_by_what_and_when(
    tmp_path: Path, settings: Settings
) -> None:
    before = datetime.now(timezone.utc).replace(microsecond=0)

    folder = RunFolder.create(tmp_path, settings, ["gem-env", "eval"], total=7)

    plain = written(folder)
    assert list(plain) == [
        *("format", "command", "created", "versions", "packs", "settings", "total", "digest"),
        "branch",
    ]
    assert (plain["format"], plain["command"], plain["total"]) == (1, ["gem-env", "eval"], 7)
    assert plain["packs"].keys() == {"tiny:Guess"}
    assert plain["settings"] == settings.model_dump(mode="json")
    assert len(plain["created"]) == len("2026-01-31T00:00:00+00:00")
    assert before <= datetime.fromisoformat(plain["created"]) <= datetime.now(timezone.utc)
    assert plain["versions"]["python"] == "{}.{}.{}".format(*sys.version_info)
    assert plain["versions"]["gem-eval"] == gem_eval.__version__
    assert (tmp_path / "run.json").read_text().startswith('{\n  "format": 1,\n')
    assert (folder.episodes_path.name, folder.summary_path.name) == (
        *("episodes.jsonl", "summary.json"),
    )


def test_a_record_of_a_version_that_kept_no_digest_is_not_edited(
    tmp_path: Path, settings: Settings
) -> None:
    plain = written(RunFolder.create(tmp_path, settings, []))
    del plain["digest"], plain["total"], plain["format"]
    (tmp_path / "run.json").write_text(json.dumps(plain))

    folder = RunFolder.open(tmp_path)

    assert (folder.record.digest, folder.record.total, folder.record.format) == (None, None, 1)
    assert folder.is_edited is False


@pytest.mark.parametrize(("name", "is_edited"), [("seed", True), ("concurrency", False)])
def test_only_an_edit_of_what_decides_the_episodes_counts(
    tmp_path: Path, settings: Settings, name: str, is_edited: bool
) -> None:
    made = RunFolder.create(tmp_path, settings, [])
    assert made.is_edited is False
    plain = written(made)
    plain["settings"][name] = 99
    (tmp_path / "run.json").write_text(json.dumps(plain))

    assert RunFolder.open(tmp_path).is_edited is is_edited


def test_the_digest_is_of_the_sorted_settings_that_decide(
    tmp_path: Path, settings: Settings
) -> None:
    plain = written(RunFolder.create(tmp_path, settings, []))
    deciding = {name: it for name, it in plain["settings"].items() if name not in FREE}
    text = json.dumps(deciding, sort_keys=True)

    assert plain["digest"] == blake2b(text.encode(), digest_size=16).hexdigest()


def test_a_run_is_extended_as_if_it_had_been_so_from_the_start(
    tmp_path: Path, settings: Settings
) -> None:
    more = settings_from({"envs": "tiny:Guess", "policies": "noop", "episodes": 9})
    made = RunFolder.create(tmp_path / "a", settings, [], total=1)
    other = RunFolder.create(tmp_path / "b", more, [], total=9)

    extended = made.extended(more, total=9)

    assert extended == RunFolder.open(tmp_path / "a")
    assert (extended.record.digest, extended.record.total) == (other.record.digest, 9)
    assert extended.record.settings == more
    assert (tmp_path / "a" / "run.json").read_text().startswith('{\n  "format": 1,\n')
    with pytest.raises(ValidationError, match="frozen"):
        extended.record.total = 3


def test_a_new_run_has_a_folder_of_its_own_by_the_time(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    now = datetime.now(timezone.utc)
    stamps = [f"{now + timedelta(seconds=ahead):%Y%m%d-%H%M%S}" for ahead in range(60)]
    for stamp in stamps:
        Path("runs", stamp).mkdir(parents=True)

    made = [RunFolder.create(None, settings, []).path.name for _ in range(2)]

    assert [name.rpartition("-")[0] in stamps for name in made] == [True, True]
    assert made[0].endswith("-2")
    assert made[1].endswith(("-2", "-3"))  # the second may be of the next second
    assert len(set(made)) == 2


def test_the_first_run_of_a_second_has_the_time_alone(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where there is no folder `runs` yet

    path = RunFolder.create(None, settings, []).path

    assert path.parent == Path("runs")
    datetime.strptime(path.name, "%Y%m%d-%H%M%S").replace(tzinfo=timezone.utc)


def test_a_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_size))

    RunFolder.create(tmp_path, settings, [])

    assert synced == [(tmp_path / "run.json").stat().st_size]


def failing(code: int) -> Any:
    def fail(*arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("call", ["fsync", "link"])
def test_a_run_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr(os, call, failing(errno.ENOSPC))

    with pytest.raises(RunFolderError, match="No space left"):
        RunFolder.create(tmp_path / "run", settings, [])

    assert list(tmp_path.iterdir()) == []


def test_a_summary_that_cannot_take_its_place_leaves_no_draft(
    tmp_path: Path, settings: Settings
) -> None:
    folder = RunFolder.create(tmp_path, settings, [])
    (folder.summary_path / "in the way").mkdir(parents=True)

    with pytest.raises(OSError, match=r"summary\.json"):
        folder.write_summary({})

    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "summary.json"}


def test_a_summary_holds_no_number_that_json_does_not_know(
    tmp_path: Path, settings: Settings
) -> None:
    with pytest.raises(ValueError, match="JSON"):
        RunFolder.create(tmp_path, settings, []).write_summary({"mean": float("nan")})


def test_of_two_that_claim_a_file_one_has_it(tmp_path: Path) -> None:
    claim(tmp_path / "run.json", "first")

    with pytest.raises(FileExistsError):
        claim(tmp_path / "run.json", "second")

    assert (tmp_path / "run.json").read_text() == "first\n"
    assert len(list(tmp_path.iterdir())) == 1


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
    monkeypatch.setattr(os, "link", failing(code))
    made = RunFolder.create(tmp_path, settings, [])

    assert RunFolder.open(tmp_path) == made
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    assert (tmp_path / "run.json").read_text("utf-8").endswith("}\n")
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


@pytest.mark.parametrize(
    ("text", "where"),
    [("{", "its text: "), ('{"format": 1, "command": ["a", 3]}', r"command\.1: ")],
)
def test_what_cannot_be_read_in_a_run_is_named(tmp_path: Path, text: str, where: str) -> None:
    (tmp_path / "run.json").write_text(text)

    with pytest.raises(RunFolderError, match=f"cannot be read: {where}"):
        RunFolder.open(tmp_path)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="No such file"):
        RunFolder.open(tmp_path / "nowhere")


def test_a_summary_replaces_the_one_before(tmp_path: Path, settings: Settings) -> None:
    folder = RunFolder.create(tmp_path, settings, [])

    for number in (1, 2):
        folder.write_summary({"number": number})

    assert folder.summary_path.read_text() == '{\n  "number": 2\n}\n'
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "summary.json"}


def test_each_kind_of_file_has_a_name_of_its_own(tmp_path: Path, settings: Settings) -> None:
    folder = RunFolder.create(tmp_path, settings, [])

    paths = [
        *(folder.standings_path, folder.parent_path, folder.references_path),
        *(folder.gradings_path, folder.unlogged_path, folder.tracker_path("mlflow")),
    ]

    assert paths == [
        *(tmp_path / "standings.json", tmp_path / "parent.jsonl", tmp_path / "references.jsonl"),
        *(tmp_path / "gradings.jsonl", tmp_path / "unlogged.json"),
        tmp_path / "tracker-mlflow.jsonl",
    ]
    assert folder.has_name is True


def an_episode() -> gem.Episode:
    [episode] = gem.run(lambda request: "1", "tiny:Guess", episodes=1)
    return episode


def test_a_branch_has_its_parent_beside_its_record(tmp_path: Path, settings: Settings) -> None:
    parent = an_episode()

    folder = RunFolder.create(tmp_path, settings, [], branch=BRANCH, parent=parent)

    assert folder.parent_path.read_text("utf-8") == f"{parent.to_json()}\n"
    assert RunFolder.open(tmp_path).record.branch == BRANCH


def test_a_parent_that_cannot_be_written_takes_the_folder_back(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "replace", failing(errno.ENOSPC))

    with pytest.raises(RunFolderError, match=r"cannot be made \(No space left"):
        RunFolder.create(tmp_path / "run", settings, [], branch=BRANCH, parent=an_episode())

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [("branch", "turn", 2), ("noise", "users", 4)],
)
def test_an_edit_of_where_a_run_branches_or_whose_noise_it_splits_counts(
    tmp_path: Path, settings: Settings, kind: str, field: str, value: int
) -> None:
    kinds: dict[str, Any] = {kind: {"branch": BRANCH, "noise": NOISE}[kind]}
    plain = written(RunFolder.create(tmp_path, settings, [], **kinds))
    assert RunFolder.open(tmp_path).is_edited is False
    assert plain["digest"] != written(RunFolder.create(tmp_path / "plain", settings, []))["digest"]

    plain[kind][field] = value
    (tmp_path / "run.json").write_text(json.dumps(plain))

    assert RunFolder.open(tmp_path).is_edited is True


@pytest.mark.parametrize(
    ("noise", "is_crossed"),
    [(None, False), (NOISE, False), (NOISE.model_copy(update={"seats": ("a", "b")}), True)],
)
def test_repeats_cross_seeds_only_where_two_seats_split_noise(
    tmp_path: Path, settings: Settings, noise: NoiseRecord | None, is_crossed: bool
) -> None:
    folder = RunFolder.create(tmp_path, settings, [], noise=noise)

    assert folder.record.is_crossed is is_crossed


def test_what_is_in_no_log_is_written_whole_and_read_again(
    tmp_path: Path, settings: Settings
) -> None:
    folder = RunFolder.create(tmp_path, settings, [])
    assert folder.unlogged() == {}

    folder.write_unlogged({"noop": Amount(2, 30, 4)})

    assert folder.unlogged() == {"noop": Amount(2, 30, 4)}
    assert folder.unlogged_path.read_text("utf-8").startswith('{\n  "noop": [\n')


def test_standings_are_written_as_a_summary_is(tmp_path: Path, settings: Settings) -> None:
    folder = RunFolder.create(tmp_path, settings, [])

    folder.write_standings({"a": 1.5})

    assert folder.standings_path.read_text("utf-8") == '{\n  "a": 1.5\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        folder.write_standings({"a": float("nan")})

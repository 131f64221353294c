"""What holds for every format: what is chosen, what is refused, and that nothing is left behind."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem_eval
from gem.errors import LogError, MissingRequirement
from gem_eval import ExportError, RunFolderError
from gem_eval.exporting.drafts import draft_of
from gem_eval.exporting.formats import FORMATS, Format
from gem_eval.exporting.stored_log import StoredLog

from . import runs

MakeRun = Callable[..., Path]
IGNORE = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_is_left_out_is_counted_by_its_reason(make_run: MakeRun) -> None:
    run = make_run(runs.episode(), runs.failed(), runs.broken(seed=2, episode_index=1))

    exported = gem_eval.export(run, to="sft", out=run / "all.jsonl")
    of_good = gem_eval.export(run, to="sft", out=run / "good.jsonl", policies=["good"])

    assert (exported.episodes, exported.rows) == (1, 1)
    assert exported.left_out == {"not solved": 1, "ended by an error": 1}
    assert of_good.left_out == {"of another policy": 1, "ended by an error": 1}


def test_solved_alone_leaves_an_error_out_as_an_error(make_run: MakeRun) -> None:
    run = make_run(runs.episode(), runs.failed(), runs.broken(seed=2, episode_index=1))

    exported = gem_eval.export(run, to="inspect", out=run / "logs", solved=True)

    assert exported.episodes == 1
    assert exported.left_out == {"not solved": 1, "ended by an error": 1}


def test_an_episode_that_was_tried_again_counts_once(make_run: MakeRun) -> None:
    run = make_run(runs.broken(), runs.broken(policy="bad"), runs.episode())

    with StoredLog(run / "episodes.jsonl") as log:
        found = [(entry.line, entry.episode.policy) for entry in log.last_tries()]

    assert found == [(3, "good"), (2, "bad")]


def test_environments_are_chosen_by_id_and_by_pattern(make_run: MakeRun) -> None:
    other = runs.episode(env_id="tiny:Echo", env_index=1)
    run = make_run(runs.episode(), other, envs=["tiny:Guess", "tiny:Echo"])

    by_id = gem_eval.export(run, to="sft", out=run / "id.jsonl", envs=["tiny:Echo"])
    by_pattern = gem_eval.export(run, to="sft", out=run / "pattern.jsonl", envs=["tiny:G*"])

    assert [row["env_id"] for row in lines(Path(by_id.path))] == ["tiny:Echo"]
    assert [row["env_id"] for row in lines(Path(by_pattern.path))] == ["tiny:Guess"]
    assert by_id.left_out == {"of another environment": 1}


def test_a_model_goes_by_its_short_name(make_run: MakeRun) -> None:
    name = "openai:acme/small@http://127.0.0.1:1/v1"
    run = make_run(runs.episode(policy=name), runs.episode(), policies=[name, "good"])

    exported = gem_eval.export(run, to="sft", out=run / "small.jsonl", policies=["small"])

    assert [row["policy"] for row in lines(Path(exported.path))] == [name]


@pytest.mark.parametrize("chosen", [{"policies": ["nobody"]}, {"envs": ["math:*"]}])
def test_a_name_that_the_run_does_not_have_is_refused(make_run: MakeRun, chosen: Any) -> None:
    run = make_run(runs.episode())

    with pytest.raises(ExportError, match=r"is not in .*\. It has (good, bad|tiny:Guess): name"):
        gem_eval.export(run, to="sft", out=run / "x.jsonl", **chosen)


def test_a_seat_of_an_environment_of_one_seat_is_told_to_be_none(make_run: MakeRun) -> None:
    run = make_run(runs.episode())

    with pytest.raises(ExportError, match="1 of an environment of one seat"):
        gem_eval.export(run, to="sft", out=run / "x.jsonl", seats=["first"])


def test_half_a_line_at_the_end_is_not_read(make_run: MakeRun) -> None:
    run = make_run(runs.episode())
    with (run / "episodes.jsonl").open("a", encoding="utf-8") as log:
        log.write(runs.episode(seed=2).to_json()[:200])

    assert gem_eval.export(run, to="sft", out=run / "x.jsonl").rows == 1


def test_a_whole_line_that_is_no_episode_is_named(make_run: MakeRun) -> None:
    run = make_run(runs.episode())
    with (run / "episodes.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"env_id":1}\n')

    with pytest.raises(LogError, match=r"Line 2 of .* is no episode"):
        gem_eval.export(run, to="sft", out=run / "x.jsonl")

    assert {path.name for path in run.iterdir()} == {"run.json", "episodes.jsonl"}


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", f"{'9' * 400}.0"])
@pytest.mark.parametrize("to", ["sft", "inspect"])
def test_a_number_that_json_does_not_have_is_named_by_its_line(
    make_run: MakeRun, number: str, to: str
) -> None:
    run = make_run(runs.episode(), runs.episode(episode_index=1))
    log = run / "episodes.jsonl"
    first, second = log.read_text(encoding="ascii").splitlines()
    edited = re.sub(r'"duration_s":[^,]+', f'"duration_s":{number}', second)
    log.write_text(f"{first}\n{edited}\n", encoding="ascii")

    with pytest.raises(LogError, match=r"Line 2 of .*episodes\.jsonl is no episode .*JSON"):
        gem_eval.export(run, to=to, out=run / "exported")

    assert {path.name for path in run.iterdir()} == {"run.json", "episodes.jsonl"}


def test_text_that_looks_like_such_a_number_is_exported(make_run: MakeRun) -> None:
    run = make_run(runs.episode(runs.turn("NaN and 1e999")))

    assert gem_eval.export(run, to="sft", out=run / "x.jsonl").rows == 1


def test_a_run_without_a_log_is_told_in_one_line(make_run: MakeRun) -> None:
    run = make_run()
    (run / "episodes.jsonl").unlink()

    with pytest.raises(LogError, match="cannot be read"):
        gem_eval.export(run, to="sft", out=run / "x.jsonl")


def test_a_log_that_breaks_off_in_reading_is_told() -> None:
    unreadable = Path("/proc/self/mem")  # which opens, and has nothing at its beginning

    with StoredLog(unreadable) as log:
        with pytest.raises(LogError, match=r"mem cannot be read \(Input/output error\)"):
            log.at(0, line=1)
        with pytest.raises(LogError, match="cannot be read"):
            list(log.last_tries())


def test_a_run_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="is no run folder"):
        gem_eval.export(tmp_path / "nowhere", to="sft", out=tmp_path / "x.jsonl")


@pytest.mark.parametrize("to", ["sft", "dpo", "inspect"])
def test_a_run_that_gives_nothing_leaves_nothing(make_run: MakeRun, to: str) -> None:
    run = make_run(runs.broken()) if to != "inspect" else make_run()

    with pytest.raises(ExportError, match=r"gives no (rows|pairs|samples) of the format"):
        gem_eval.export(run, to=to, out=run / "x")

    assert {path.name for path in run.iterdir()} == {"run.json", "episodes.jsonl"}


def test_a_format_that_is_none_is_refused(make_run: MakeRun) -> None:
    run = make_run(runs.episode())

    with pytest.raises(ExportError, match=r"'csv' is no format to export to\. They are parquet"):
        gem_eval.export(run, to="csv", out=run / "x")


def test_an_option_of_another_format_is_refused(make_run: MakeRun) -> None:
    run = make_run(runs.episode())

    with pytest.raises(ExportError, match="margin says what the format dpo takes, and not sft"):
        gem_eval.export(run, to="sft", out=run / "x", margin=0.5)


def test_a_format_on_an_older_python_is_refused() -> None:
    with pytest.raises(ExportError, match=r"atif needs Python 3\.11 or newer, and this is 3\.10"):
        FORMATS["atif"].writer((3, 10))


def test_a_missing_package_is_told_with_the_extra_that_brings_it() -> None:
    lacking = Format("x", "", "rows", "none", is_folder=False, requires=("pyarrow>=1000",))

    with pytest.raises(MissingRequirement, match=r"export --to x needs pyarrow>=1000.*pip install"):
        lacking.writer()


@pytest.mark.parametrize("what", ["a file", "a folder", "a broken link"])
def test_what_is_there_is_never_overwritten(make_run: MakeRun, tmp_path: Path, what: str) -> None:
    run = make_run(runs.episode())
    out = tmp_path / "out"
    if what == "a file":
        out.write_text("mine")
    elif what == "a folder":
        out.mkdir()
    else:
        out.symlink_to("nowhere")

    with pytest.raises(ExportError, match=r"There is something at .* already"):
        gem_eval.export(run, to="sft", out=out)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_draft(out: Path, *, is_folder: bool, overtaken: bool = False, text: str = "x") -> None:
    """Write a draft, as a writer does; with `overtaken` another makes something there first."""
    with draft_of(out, is_folder=is_folder) as draft:
        (draft / "x" if is_folder else draft).write_text(text)
        if overtaken:
            out.write_text("mine")
        if not text:
            raise KeyboardInterrupt


@pytest.mark.parametrize("is_folder", [True, False])
def test_what_comes_to_be_there_meanwhile_is_not_overwritten(
    tmp_path: Path, is_folder: bool
) -> None:
    out = tmp_path / "out"

    with pytest.raises(ExportError, match="There is something at"):
        write_draft(out, is_folder=is_folder, overtaken=True)

    assert out.read_text() == "mine"
    assert names_in(tmp_path) == ["out"]


def test_a_file_system_without_links_is_written_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write_draft(tmp_path / "out", is_folder=False)

    assert (tmp_path / "out").read_text() == "x"
    with pytest.raises(ExportError, match="There is something at"):
        write_draft(tmp_path / "new", is_folder=False, overtaken=True)


def test_a_link_that_fails_for_another_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "link", refuse)

    with pytest.raises(ExportError, match="Input/output error"):
        write_draft(tmp_path / "out", is_folder=False)


@pytest.mark.parametrize("is_folder", [True, False])
def test_an_interrupt_leaves_no_draft(tmp_path: Path, is_folder: bool) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_draft(tmp_path / "out", is_folder=is_folder, text="")

    assert names_in(tmp_path) == []


def test_a_draft_of_a_process_that_was_killed_is_no_hindrance(tmp_path: Path) -> None:
    left = tmp_path / f".draft-{os.getpid()}-out"
    left.mkdir()
    (left / "y").write_text("")

    write_draft(tmp_path / "out", is_folder=True)

    assert names_in(tmp_path) == ["out"]
    assert names_in(tmp_path / "out") == ["x"]


def test_a_place_that_cannot_be_written_is_told_in_one_line(
    make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run(runs.episode())
    (tmp_path / "file").write_text("")

    with pytest.raises(ExportError, match=r"cannot be written to .*file is no folder"):
        gem_eval.export(run, to="sft", out=tmp_path / "file" / "x.jsonl")


@pytest.mark.slow
def test_a_disk_that_takes_no_more_leaves_nothing(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(*(runs.episode(seed=seed, episode_index=seed) for seed in range(50)))
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); {IGNORE}"
    arguments = ["export", str(run), "--to", "sft", "--out", str(tmp_path / "x.jsonl")]
    code = f"{limit}; from gem.cli._main import main; raise SystemExit(main({arguments!r}))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cannot be written to" in done.stderr
    assert "File too large" in done.stderr
    assert names_in(tmp_path) == ["run"]


@pytest.mark.parametrize(("to", "steps"), [("sft", 2), ("dpo", 3), ("inspect", 4)])
def test_progress_is_told_up_to_the_whole(make_run: MakeRun, to: str, steps: int) -> None:
    run = make_run(runs.episode(), runs.failed(runs.turn("9")))
    shares: list[float] = []

    gem_eval.export(run, to=to, out=run / "x", on_progress=shares.append)

    assert len(shares) == steps
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] == 1.0


def test_an_entry_can_be_read_again_while_others_are_read(make_run: MakeRun) -> None:
    run = make_run(*(runs.episode(seed=seed, episode_index=seed) for seed in range(9)))

    with StoredLog(run / "episodes.jsonl") as log:
        again = [log.at(entry.start, line=entry.line) == entry for entry in log.last_tries()]

    assert again == [True] * 9


def test_folders_that_were_made_for_nothing_are_removed(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(runs.failed())
    (tmp_path / "mine").mkdir()

    with pytest.raises(ExportError):
        gem_eval.export(run, to="sft", out=tmp_path / "mine" / "new" / "deep" / "x.jsonl")

    assert list((tmp_path / "mine").iterdir()) == []

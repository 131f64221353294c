"""One file has a run, needs nothing else, and says what it leaves out."""

from __future__ import annotations

import base64
import re
import resource
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from gem import ImagePart
from gem_eval.errors import ViewError
from gem_eval.viewing.runs import Run

from .conftest import episode, failed, turn, write

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")

from gem_eval.viewing.export import export

MakeRun = Callable[..., Run]
PNG = b"\x89PNG\r\n\x1a\n..."
LIMIT = 20_000_000


def exported(run: Run, folder: Path, most_bytes: int = LIMIT) -> str:
    path = folder / "run.html"
    export(run, path, most_bytes=most_bytes)
    return path.read_text(encoding="utf-8")


def test_it_has_every_episode_and_nothing_from_elsewhere(make_run: MakeRun, tmp_path: Path) -> None:
    pictured = turn(observation=(ImagePart(PNG),), action="<script>alert(1)</script>")
    run = make_run(episode(turns=(pictured,)), failed(episode_index=1), total=2)

    text = exported(run, tmp_path)

    assert "All 2 episodes are in this file." in text
    assert re.findall(r'<section class="exported-episode" id="(e\d)"', text) == ["e1", "e2"]
    table = text.partition('<table class="list"')[2]
    assert re.findall(r'<td><a href="(#e\d)">', table) == ["#e1", "#e2"]
    assert f"data:image/png;base64,{base64.b64encode(PNG).decode()}" in text
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', text.partition("<main")[2]) == []
    assert "<script>alert" not in text


def test_its_content_policy_allows_its_own_style_and_script_alone(
    make_run: MakeRun, tmp_path: Path
) -> None:
    text = exported(make_run(episode()), tmp_path)

    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    for kind in ("style", "script"):
        [inline] = re.findall(f"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        digest = base64.b64encode(sha256(inline.encode()).digest()).decode()
        assert f"{kind}-src &#39;sha256-{digest}&#39;" in policy
    assert policy.startswith("default-src &#39;none&#39;")


def test_it_says_what_did_not_fit(make_run: MakeRun, tmp_path: Path) -> None:
    long = turn(action="x" * 30_000)
    run = make_run(*(episode(episode_index=n, turns=(long,)) for n in range(20)), total=20)

    found = export(run, tmp_path / "run.html", most_bytes=500_000)
    text = (tmp_path / "run.html").read_text(encoding="utf-8")

    assert 0 < found.episodes < found.of == 20
    assert found.size == len(text.encode()) <= 500_000
    assert f"The first {found.episodes} of 20 episodes are in this file" in text
    assert text.count('class="exported-episode"') == found.episodes


def test_an_error_leads_to_no_episode_that_is_left_out(make_run: MakeRun, tmp_path: Path) -> None:
    long = turn(action="x" * 30_000)
    played = [episode(episode_index=number, turns=(long,)) for number in range(1, 20)]
    run = make_run(failed(), *played, failed(episode_index=20), total=21)

    text = exported(run, tmp_path, most_bytes=500_000)

    assert '<a href="#e1">Guess · solver · no. 0</a><br>Guess · solver · no. 20</td>' in text
    assert 'id="e21"' not in text


def test_of_a_long_episode_it_has_the_first_turns(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(episode(turns=(turn(),) * 70))

    text = exported(run, tmp_path)

    assert "Of 1 long episode it has the first 50 turns." in text
    assert "20 more turns are left out of this file." in text


def test_it_reads_the_log_to_its_end_first(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    write(run.folder.episodes_path, *(episode(episode_index=number) for number in range(501)))

    assert "All 501 episodes are in this file." in exported(run, tmp_path)


def test_a_large_run_has_its_figures_too(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(*(episode(episode_index=number) for number in range(2001)))

    text = exported(run, tmp_path, most_bytes=300_000)

    assert "The figures come when" not in text
    assert "<b>1.000</b>" in text


def test_a_run_without_an_episode_can_be_exported(make_run: MakeRun, tmp_path: Path) -> None:
    assert "All 0 episodes are in this file." in exported(make_run(), tmp_path)


def test_what_was_read_in_part_says_so(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(episode())
    with run.folder.episodes_path.open("a") as log:
        log.write("nonsense\n")

    assert "1 line of its log cannot be read as an episode, the first is line 2." in exported(
        run, tmp_path
    )


def test_a_file_that_is_there_is_never_replaced(make_run: MakeRun, tmp_path: Path) -> None:
    path = tmp_path / "kept.html"
    path.write_text("mine")

    with pytest.raises(ViewError, match="is there already"):
        export(make_run(episode()), path, most_bytes=LIMIT)

    assert path.read_text() == "mine"


def test_a_full_disk_leaves_no_file_that_refuses_the_next_try(
    make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run(episode())
    path = tmp_path / "run.html"
    whole = export(run, tmp_path / "first.html", most_bytes=LIMIT)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (whole.size // 2, limits[1]))
    try:
        with pytest.raises(ViewError, match="cannot be written"):
            export(run, path, most_bytes=LIMIT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert export(run, path, most_bytes=LIMIT) == whole


def test_a_path_that_cannot_be_written_is_told(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(ViewError, match="cannot be written"):
        export(make_run(episode()), tmp_path / "no" / "run.html", most_bytes=LIMIT)


def test_an_episode_that_went_away_meanwhile_is_left_out(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(episode(), episode(episode_index=1))
    with run.index.reading() as db, db:
        db.execute("UPDATE tries SET start = 0, length = 1 WHERE line = 1")

    text = exported(run, tmp_path)

    assert re.findall(r'<section class="exported-episode" id="(e\d)"', text) == ["e2"]
    assert "cannot be read any more" in text


def test_a_log_that_cannot_be_read_is_not_exported_as_empty(
    make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run()
    run.folder.episodes_path.unlink(missing_ok=True)
    run.folder.episodes_path.mkdir()

    with pytest.raises(ViewError, match="log cannot be read"):
        export(run, tmp_path / "run.html", most_bytes=LIMIT)

    assert not (tmp_path / "run.html").exists()

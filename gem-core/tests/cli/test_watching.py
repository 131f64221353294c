"""Watching episodes of a run."""

from __future__ import annotations

import asyncio
import io
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import gem
from gem.cli._main import main

Output = pytest.CaptureFixture[str]
Play = Callable[..., str]


@pytest.fixture
def run_folder(site: Path, tmp_path: Path) -> Path:
    """Return a run folder with three episodes: won, failed in its second step, replaced prompts."""

    folder = tmp_path / "games" / "run"
    folder.mkdir(parents=True)

    async def record() -> None:
        sure = {"env": "play:Strict", "max_turns": 2}
        with gem.EpisodeLog(folder / "episodes.jsonl") as log:
            for name, options in (
                ("plain", sure),
                ("raised", {"env": "play:Raises"}),
                ("rewritten", {**sure, "wrappers": ["concat"]}),
            ):
                async for episode in gem.rollout(lambda request: "1", **options):
                    log.append(replace(episode, policy=name))

    asyncio.run(record())
    return folder


def test_the_episodes_of_a_run_are_listed(typed: Play, run_folder: Path) -> None:
    shown = typed(str(run_folder))

    assert "    1  play:Strict seed" in shown
    assert re.search(r"play:Raises seed \d+: 1 turn, ", shown)
    assert f"Watch one: gem-env play {run_folder} NUMBER" in shown


def test_what_to_type_next_is_quoted_for_the_shell(typed: Play, run_folder: Path) -> None:
    odd = run_folder.rename(run_folder.with_name("Läufe von heute"))

    assert f"Watch one: gem-env play '{odd}' NUMBER" in typed(str(odd))
    assert f"`gem-env play '{odd}'` lists them" in typed(str(odd), "9", status=2)


@pytest.mark.parametrize("number", [(), ("1",)])
def test_a_run_that_has_just_begun_has_nothing_to_watch(
    typed: Play, run_folder: Path, number: tuple[str, ...]
) -> None:
    (run_folder / "episodes.jsonl").write_bytes(b"")

    [line] = typed(str(run_folder), *number, status=2).splitlines()

    assert "has no episode to watch: none has finished yet." in line


def test_a_run_that_is_not_there_is_told_with_those_that_are(
    typed: Play, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run_folder.parent)
    run_folder.rename("older games")
    shutil.copytree("older games", "new")
    Path("begun").mkdir()

    for name in ("./odler games", "begun"):
        [line] = typed(name, status=2).splitlines()
        assert "There are: " in line
        assert "'older games'" in line
        assert "new" in line
    assert "begun holds no episodes.jsonl." in typed("begun", status=2)
    assert "There is no run ./odler games. There are: 'older games'," in typed(
        "./odler games", status=2
    )
    assert typed(".", status=2).startswith("gem-env: . holds no episodes.jsonl. There are: ")


def test_a_run_where_there_are_none_is_told_so(typed: Play, tmp_path: Path) -> None:
    for name in ("nowhere/at/all", str(tmp_path / "typo")):
        [line] = typed(name, status=2).splitlines()
        assert f"There is no run {name}. There are no runs in {Path(name).parent} either." in line


def test_many_runs_are_counted(typed: Play, tmp_path: Path, run_folder: Path) -> None:
    for number in range(7):
        (tmp_path / "runs" / f"{number}").mkdir(parents=True)
        (tmp_path / "runs" / f"{number}" / "episodes.jsonl").touch()

    assert " and 2 more." in typed(str(tmp_path / "runs" / "typo"), status=2)


def test_a_recorded_episode_is_watched_turn_by_turn(typed: Play, run_folder: Path) -> None:
    shown = typed(str(run_folder), "1", lines="\n:b\n\n\n")

    assert "Four lamps" in shown
    assert shown.count("Lit: [1]") == 3  # the first turn twice
    assert "No success after 2 turns (max_turns), total reward" in shown


def test_how_it_ended_is_told_at_the_end(typed: Play, run_folder: Path) -> None:
    before, _, after = typed(str(run_folder), "1", lines="\n\n").partition("Four lamps")

    assert "policy plain" in before
    assert not re.search("return|success|turns", before)
    assert after.endswith("No success after 2 turns (max_turns), total reward 0.\n")


@pytest.mark.parametrize(
    ("option", "value", "read"),
    [
        ("--policy", "solver", "solver"),
        ("--seed", "0", "0"),
        ("--wrappers", "concat", "['concat']"),
        ("--env-kwargs", '{"size": 3}', "{'size': 3}"),
    ],
)
def test_an_option_of_playing_is_refused_for_a_run(
    typed: Play, run_folder: Path, option: str, value: str, read: str
) -> None:
    [line] = typed(str(run_folder), "1", option, value, status=2).splitlines()

    assert f"{option} {read} was given with {run_folder}, a run whose episodes" in line


def test_watching_can_be_left(typed: Play, run_folder: Path) -> None:
    assert "Lit" not in typed(str(run_folder), "1", lines=":q\n")
    assert "Lit" not in typed(str(run_folder), "1", lines="")


def test_an_episode_that_an_error_ended_is_shown_up_to_there(
    play: Play, run_folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["play", str(run_folder / "episodes.jsonl"), "3"]) == 0
    assert "Ended by env_error: RuntimeError: out of" in capsys.readouterr().out
    assert main(["play", str(run_folder), "2"]) == 0
    assert "Lit: [1]" in capsys.readouterr().out


@pytest.mark.parametrize("number", ["0", "4"])
def test_an_episode_that_a_run_does_not_have_is_refused(
    typed: Play, run_folder: Path, number: str
) -> None:
    assert "and it has 3, counted from 1" in typed(str(run_folder), number, status=2)


def test_an_episode_of_an_environment_is_refused(typed: Play) -> None:
    assert "and that is no run folder" in typed("play:Lamps", "3", status=2)


def test_an_episode_whose_environment_is_gone_is_watched_all_the_same(
    typed: Play, run_folder: Path
) -> None:
    path = run_folder / "episodes.jsonl"
    path.write_text(path.read_text().replace("play:Strict", "gone:Strict"))

    assert "Lit: [1]" in typed(str(run_folder), "1", lines="\n\n")


def test_a_run_of_a_stranger_moves_no_cursor_and_runs_no_code(
    typed: Play, run_folder: Path, own_folder: Path
) -> None:
    (own_folder / "gem_marks.py").write_text("open('was_run', 'w').close()\nclass G: pass\n")
    log = run_folder / "episodes.jsonl"
    [episode, *_] = gem.read_episodes(log)
    log.unlink()
    with gem.EpisodeLog(log) as written:
        written.append(replace(episode, env_id="./gem_marks.py:G"))
        written.append(replace(episode, env_id="\x1b]0;title\x07", policy="other"))
        written.append(replace(episode, env_id="play:Gone", policy="third"))

    gem.register("play:Gone", "gem_gone.module:Env")  # it was renamed since

    listed = typed(str(run_folder))
    typed(str(run_folder), "1")
    typed(str(run_folder), "3")

    assert "\x1b" not in listed
    assert not (own_folder / "was_run").exists()

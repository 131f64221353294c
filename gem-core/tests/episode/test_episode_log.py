"""A log of episodes: they are read in order, and a crash costs one line at most."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from gem.episode._log import EpisodeLog, read_episodes, read_last_tries
from gem.errors import LogError

from .records import EPISODE, changed


def test_what_is_appended_is_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    with EpisodeLog(path) as log:
        log.append(EPISODE)
        log.append(changed(seed=1))
    with EpisodeLog(path) as log:
        log.append(changed(seed=2))
        log.close()
    assert [episode.seed for episode in read_episodes(path)] == [11, 1, 2]


def test_threads_that_share_a_log_write_each_line_whole(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    with EpisodeLog(path) as log, ThreadPoolExecutor(8) as threads:
        list(threads.map(log.append, [changed(seed=seed) for seed in range(80)]))

    assert sorted(episode.seed for episode in read_episodes(path)) == list(range(80))


def test_an_episode_that_was_tried_again_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    failed = replace(EPISODE, stop_reason="policy_error", success=None, error="down")
    lost = replace(failed, episode_index=5)
    won_by_another = replace(EPISODE, policy="another")
    with EpisodeLog(path) as log:
        for each in (failed, lost, won_by_another, EPISODE, replace(lost, error="down again")):
            log.append(each)

    found = [(each.policy, each.episode_index, each.error) for each in read_last_tries(path)]

    assert found == [("another", 4, None), ("random", 4, None), ("random", 5, "down again")]


def test_a_half_written_line_is_removed_however_long(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    line = EPISODE.to_json().encode() + b"\n"
    path.write_bytes(line + line[:40] + b"x" * 200_000)
    with EpisodeLog(path):
        assert path.read_bytes() == line


def test_what_a_power_cut_leaves_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    line = EPISODE.to_json().encode() + b"\n"
    path.write_bytes(line + line[:5] + bytes(4096))
    with EpisodeLog(path):
        assert path.read_bytes() == line


@pytest.mark.parametrize("held", [b"notes, with no newline", b'first\n{"other": 1}', b"\xff\x00"])
def test_a_file_that_is_no_log_is_refused_and_unharmed(tmp_path: Path, held: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(held)
    with pytest.raises(LogError, match="ends in what is no episode"):
        EpisodeLog(path)
    assert path.read_bytes() == held


@pytest.mark.parametrize("kept", [1, 40, -2])
def test_a_half_written_last_line_is_ignored_and_then_removed(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "episodes.jsonl"
    line = EPISODE.to_json().encode() + b"\n"
    path.write_bytes(line + line[:kept])
    assert len(list(read_episodes(path))) == 1
    with EpisodeLog(path) as log:
        log.append(changed(seed=5))
    assert [episode.seed for episode in read_episodes(path)] == [11, 5]


def test_a_whole_last_line_without_its_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_text(EPISODE.to_json())
    assert len(list(read_episodes(path))) == 1
    with EpisodeLog(path) as log:
        log.append(changed(seed=5))
    assert [episode.seed for episode in read_episodes(path)] == [11, 5]


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    path.write_text(f"{EPISODE.to_json()}\nbroken\n{EPISODE.to_json()}\n")
    with pytest.raises(LogError, match="Line 2 of"):
        list(read_episodes(path))


def test_a_run_is_read_by_its_folder_too(tmp_path: Path) -> None:
    (tmp_path / "episodes.jsonl").write_text(f"{EPISODE.to_json()}\n")
    assert [*read_episodes(tmp_path)] == [*read_episodes(str(tmp_path))] == [EPISODE]
    assert [*read_last_tries(tmp_path)] == [EPISODE]


@pytest.mark.parametrize("name", ["absent.jsonl", "."])
def test_a_log_that_is_not_there_is_one_clear_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(LogError, match=r"cannot be read.*that of a run folder, or of the"):
        list(read_episodes(tmp_path / name))


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be opened for writing"):
        EpisodeLog(tmp_path / "absent" / "episodes.jsonl")


def test_two_logs_never_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    with EpisodeLog(path), pytest.raises(LogError, match="being written by another run") as caught:
        EpisodeLog(path)

    assert str(path) in str(caught.value)
    assert "Wait until that has ended, or stop it" in str(caught.value)
    assert "Errno" not in str(caught.value)


def test_a_device_without_space_is_one_clear_error() -> None:
    with EpisodeLog("/dev/full") as log, pytest.raises(LogError, match="No space left"):
        log.append(EPISODE)


UNTIL_FULL = """
import resource, signal, sys
from gem.episode._log import EpisodeLog
from gem.errors import LogError
from records import EPISODE, changed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = len(EPISODE.to_json()) + 1
resource.setrlimit(resource.RLIMIT_FSIZE, (2 * size + size // 2, 3 * size))
with EpisodeLog(sys.argv[1]) as log:
    log.append(EPISODE)
    log.append(changed(seed=12))
    try:
        log.append(changed(seed=13))
    except LogError as error:
        print(error)
"""


def test_a_full_disk_is_one_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", UNTIL_FULL, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=Path(__file__).parent,  # `-c` looks for modules where it runs
    )
    assert "cannot be written (File too large)" in done.stdout
    assert [episode.seed for episode in read_episodes(path)] == [11, 12]
    assert path.read_bytes().endswith(b"\n")


def test_a_log_holds_one_json_object_a_line(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    with EpisodeLog(path) as log:
        log.append(EPISODE)
    assert json.loads(path.read_text())["format"] == 1

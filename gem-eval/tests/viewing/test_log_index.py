"""The index of a log grows with it, is read anew where it was replaced, and is never the log."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gem import Episode
from gem_eval.viewing import rows
from gem_eval.viewing.log_index import LogIndex, cache_folder
from gem_eval.viewing.query import Query
from gem_eval.viewing.runs import Run
from gem_eval.viewing.selection import Selection

from .conftest import append_line, episode, failed, turn, write

MakeRun = Callable[..., Run]


def lines(index: LogIndex) -> list[int]:
    with index.reading() as db:
        return [row.line for row in Selection(db, Query(), ["tiny:Guess"]).rows(1000)]


def numbers(*found: int) -> list[Episode]:
    return [episode(episode_index=number) for number in found]


def test_it_grows_as_the_log_grows(make_run: MakeRun) -> None:
    run = make_run(*numbers(0, 1))
    write(run.folder.episodes_path, episode(episode_index=2))

    run.refresh()

    assert lines(run.index) == [1, 2, 3]


def test_half_a_line_is_left_alone_until_it_is_whole(make_run: MakeRun) -> None:
    run = make_run(*numbers(0))
    whole = episode(episode_index=1).to_json()
    append_line(run, whole[:100])
    run.refresh()
    before = lines(run.index)
    append_line(run, whole[100:] + "\n")

    run.refresh()

    assert (before, lines(run.index)) == ([1], [1, 2])


def test_what_was_read_is_not_read_again(make_run: MakeRun, tmp_path: Path) -> None:
    long = turn(action="x" * 10_000)
    run = make_run(*(episode(episode_index=number, turns=(long,)) for number in range(3)))
    path = run.folder.episodes_path
    with path.open("r+b") as log:
        log.seek(path.stat().st_size // 2)
        log.write(b'"""')  # whoever reads it again finds no episode there
    again = LogIndex(path, tmp_path / "cache")

    again.grow()

    assert lines(again) == [1, 2, 3]
    assert again.state.bad_lines == 0
    again.close()


def test_a_log_that_was_replaced_is_read_anew(make_run: MakeRun) -> None:
    run = make_run(*numbers(0, 1, 2))
    run.folder.episodes_path.unlink()
    write(run.folder.episodes_path, episode(episode_index=7, policy="random"))

    run.refresh()

    with run.index.reading() as db:
        [row] = Selection(db, Query(), []).rows(10)
    assert (row.number, row.policy) == (7, "random")


def test_a_log_that_was_rewritten_in_place_is_read_anew(make_run: MakeRun) -> None:
    run = make_run(*numbers(0, 1))
    path = run.folder.episodes_path
    path.write_bytes(path.read_bytes().replace(b"solver", b"random"))

    run.refresh()

    with run.index.reading() as db:
        assert {row.policy for row in Selection(db, Query(), []).rows(10)} == {"random"}


def test_a_log_that_was_moved_away_and_back_is_read_again(make_run: MakeRun) -> None:
    run = make_run(*numbers(0, 1))
    path = run.folder.episodes_path
    path.rename(path.with_name("aside"))
    run.refresh()
    away = lines(run.index)

    path.with_name("aside").rename(path)
    run.refresh()

    assert (away, lines(run.index)) == ([], [1, 2])


def test_the_last_try_counts_unless_one_before_had_no_error(make_run: MakeRun) -> None:
    run = make_run(failed(), episode(), failed(), episode(episode_index=1), failed(episode_index=2))

    assert lines(run.index) == [2, 4, 5]
    assert run.progress().retried == 2


def test_two_viewers_of_one_run_count_no_try_twice(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(failed())
    other = LogIndex(run.folder.episodes_path, tmp_path / "cache")
    write(run.folder.episodes_path, episode(), episode(episode_index=1))

    other.grow()
    run.refresh()

    assert lines(run.index) == lines(other) == [2, 3]
    other.close()


def test_a_viewer_whose_batch_came_late_drops_it(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    other = LogIndex(run.folder.episodes_path, tmp_path / "cache")
    write(run.folder.episodes_path, failed(), episode())
    with run.folder.episodes_path.open("rb") as log_file:
        found = os.fstat(log_file.fileno())
        late = run.index._read(log_file)  # what it would add
        other.grow()

        run.index._keep(late, log_file, found)

    assert lines(run.index) == [2]
    assert run.state.lines == 2
    other.close()


def test_lines_that_are_no_episodes_are_counted_and_the_others_kept(make_run: MakeRun) -> None:
    run = make_run(episode())
    append_line(run, "nonsense\n")
    append_line(run, {"format": 9})
    append_line(run, episode(episode_index=1).to_json() + "\n")

    run.refresh()

    assert lines(run.index) == [1, 4]
    assert (run.state.bad_lines, run.state.bad_line) == (2, 2)


def test_a_run_without_a_log_is_empty(make_run: MakeRun) -> None:
    run = make_run()
    run.folder.episodes_path.unlink()

    assert run.refresh() is False
    assert lines(run.index) == []


def test_it_stops_when_its_time_is_over_and_says_that_there_is_more(make_run: MakeRun) -> None:
    run = make_run()
    write(run.folder.episodes_path, *(episode(episode_index=number) for number in range(501)))

    first = run.refresh(budget_s=0.0)
    read = len(lines(run.index))
    second = run.refresh(budget_s=60)

    assert (first, read, second, len(lines(run.index))) == (True, 500, False, 501)


def test_without_a_folder_it_is_in_memory(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(episode())
    blocked = tmp_path / "file"
    blocked.write_text("in the way")

    for folder in (None, blocked):
        index = LogIndex(run.folder.episodes_path, folder)
        index.grow()
        assert lines(index) == [1]
        index.close()


def test_a_damaged_index_is_made_again(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(episode())
    run.close()
    [path] = (tmp_path / "cache").glob("*.sqlite")
    path.write_bytes(b"no database at all" * 1000)

    index = LogIndex(run.folder.episodes_path, tmp_path / "cache")
    index.grow()

    assert lines(index) == [1]
    assert path.read_bytes().startswith(b"SQLite format 3")
    index.close()


def test_an_index_that_cannot_be_opened_is_in_memory(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(episode())
    run.close()
    [path] = (tmp_path / "cache").glob("*.sqlite")
    path.unlink()
    path.mkdir()  # nothing can open it as a file

    index = LogIndex(run.folder.episodes_path, tmp_path / "cache")
    index.grow()

    assert lines(index) == [1]
    index.close()


def test_indexes_that_nobody_opens_are_removed(make_run: MakeRun, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    old = cache / "old.sqlite"
    old.write_bytes(b"")
    os.utime(old, (0, 0))

    make_run(episode())

    assert not old.exists()


def test_the_run_folder_is_not_written(make_run: MakeRun) -> None:
    run = make_run(episode())

    assert sorted(path.name for path in run.folder.path.iterdir()) == ["episodes.jsonl", "run.json"]


def test_the_cache_is_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "elsewhere")
    chosen = cache_folder()
    monkeypatch.delenv("XDG_CACHE_HOME")

    assert chosen == Path("elsewhere", "gem-eval", "viewer")
    assert cache_folder() == Path("~/.cache").expanduser() / "gem-eval" / "viewer"


def test_trouble_with_the_index_is_told_and_ends_nothing(make_run: MakeRun) -> None:
    run = make_run(episode())
    append_line(run, episode(episode_index=1).to_json() + "\n")
    with run.index.reading() as db:
        db.execute("DROP TABLE tries")

    assert run.refresh() is False
    assert "no such table" in run.problem


def test_a_long_episode_is_known_by_its_turns(make_run: MakeRun) -> None:
    run = make_run(episode(turns=(turn(),) * 60))

    with run.index.reading() as db:
        found = rows.long_turns_of(db, 1)

    assert found is not None
    assert len(found.blocks) == 2

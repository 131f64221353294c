"""How far a run is, how fast it goes on, and whose figures its page has meanwhile."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gem_eval.run_folder import RunFolder
from gem_eval.viewing.runs import Follower, Progress, Run, rate_of

from .conftest import Client, episode, failed, write, write_run
from .reading import page

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")

from gem_eval.viewing import runs
from gem_eval.viewing.pages import progress_line

MakeRun = Callable[..., Run]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock by which runs are looked at, which goes on when it is told to."""
    found = Clock()
    monkeypatch.setattr(runs, "time", found)
    return found


class Clock:
    """Stands for the module `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """Return the time in seconds."""
        return self.now

    def time(self) -> float:
        """Return the same: nothing here needs the date."""
        return self.now


def replace_run(run: Run, other: RunFolder) -> None:
    """Put another run in the place of one that is shown."""
    shutil.rmtree(run.folder.path)
    other.path.rename(run.folder.path)


def refuse(path: Path) -> bytes:
    """Answer as a disk that fails, whatever is to be read."""
    raise OSError(errno.EIO, os.strerror(errno.EIO), path)


def live(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = Client(run).get(f"/runs/{run.name}/live").json()
    del found["finders"]
    del found["figures"]
    del found["edition"]
    return found


def test_a_run_is_running_stopped_or_finished(make_run: MakeRun) -> None:
    running = make_run(episode(), name="a", total=3)
    stopped = make_run(failed(), name="b", total=3)
    finished = make_run(episode(), name="c", total=1)
    older = make_run(episode(), name="d")
    os.utime(stopped.folder.episodes_path, (0, 0))

    assert live(running) == {"line": 1, "state": "running", "text": "1 of 3 episodes"}
    assert live(stopped)["state"] == "stopped"
    assert re.search(r"the last ended \d+ h \d+ min ago · 1 error$", live(stopped)["text"])
    assert live(finished)["state"] == "finished"
    assert live(older) == {"line": 1, "state": "finished", "text": "1 episode"}


def test_the_line_of_progress_has_what_is_known() -> None:
    running = Progress("running", 400, 1000, 2, 0, 20.0, 0.1, 400, 1.0)
    reading = Progress("reading", 400, None, 0, 0, None, 0.1, 400, 0.256)

    assert progress_line(running) == "400 of 1,000 episodes · 20 a second · 30.0 s left · 2 errors"
    assert progress_line(reading) == "400 episodes · 26% of the log read"


def test_a_rate_needs_a_second() -> None:
    assert rate_of([(0.0, 5), (0.5, 100)]) is None
    assert rate_of([(10.0, 5), (12.0, 25)]) == 10.0


def test_a_log_that_became_shorter_has_no_rate() -> None:
    assert rate_of([(10.0, 25), (12.0, 5)]) is None
    assert rate_of([(10.0, 25), (11.0, 5), (12.0, 40)]) is None


def test_figures_that_are_known_are_not_made_again(make_run: MakeRun) -> None:
    run = make_run(episode())

    assert run.overview() is run.overview()


def test_a_run_without_files_left_is_stopped(make_run: MakeRun) -> None:
    run = make_run(total=3)
    for path in run.folder.path.iterdir():
        path.unlink()

    assert live(run)["state"] == "stopped"


def test_a_log_that_is_being_read_is_shown_as_far(make_run: MakeRun) -> None:
    run = make_run(total=501)
    write(run.folder.episodes_path, *(episode(episode_index=number) for number in range(501)))
    run.refresh(budget_s=0.0)

    text = page(run)

    assert live(run)["state"] == "reading"
    assert "The figures come when the whole log was read" in text
    assert len(re.findall(r'<tr class="row">', text)) == 50


def test_a_follower_keeps_a_run_up_to_date(make_run: MakeRun) -> None:
    run = make_run(episode(), total=2)
    run.overview()
    follower = Follower([run])
    write(run.folder.episodes_path, failed(episode_index=1))

    follower.start()
    while (known := run.known_overview) is None or known.tries < 2:
        pass
    follower.stop()

    assert live(run)["state"] == "finished"
    assert known.summary.errors == 1


def test_a_page_learns_of_how_many_tries_the_figures_are(make_run: MakeRun) -> None:
    run = make_run(episode(), total=2)
    client = Client(run)
    before = client.get("/runs/run/live").json()["figures"]
    run.overview()
    write(run.folder.episodes_path, episode(episode_index=1))
    run.refresh()

    text = client.get("/runs/run").text

    assert before == 0
    assert client.get("/runs/run/live").json()["figures"] == 1
    assert 'data-line="2" data-figures="1"' in text


def test_figures_that_take_long_are_made_seldom(make_run: MakeRun) -> None:
    run = make_run(episode(), total=3)
    before = run.overview()
    run._overview_took_s = 1e6
    write(run.folder.episodes_path, episode(episode_index=1))
    run.refresh()

    run.refresh_overview()

    assert run.known_overview is before


def test_figures_are_of_a_log_that_was_replaced_by_one_of_as_many_episodes(
    make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run(episode(), total=1)
    client = Client(run)
    before = client.get("/runs/run/live").json()
    run.overview()

    replace_run(run, write_run(tmp_path / "again", episode(success=False), total=1))
    run.refresh()
    run.refresh_overview()

    [result, _] = run.overview().summary.results
    assert result.success_rate == 0.0
    assert client.get("/runs/run/live").json()["edition"] != before["edition"]


def test_a_run_in_the_place_of_another_is_shown_by_its_own_record(
    make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run(episode(), total=1)
    run.overview()
    other = {"envs": "tiny:Echo", "policies": ["noop"]}
    played = episode(env_id="tiny:Echo", policy="noop")

    replace_run(run, write_run(tmp_path / "again", played, total=3, **other))
    run.refresh()
    text = page(run)

    assert live(run)["text"] == "1 of 3 episodes"
    assert "tiny:Echo" in text
    assert "solver" not in text
    assert run.overview().summary.results[0].policy == "noop"


def test_a_run_that_was_begun_anew_has_none_of_the_episodes_before(
    make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run(episode(), total=1)
    begun = write_run(tmp_path / "again", total=5)
    begun.episodes_path.unlink()

    replace_run(run, begun)
    run.refresh()

    assert live(run) == {"line": 0, "state": "running", "text": "0 of 5 episodes"}


def test_a_run_that_was_removed_is_still_shown(make_run: MakeRun) -> None:
    run = make_run(episode(), total=1)
    shutil.rmtree(run.folder.path)

    run.refresh()

    assert live(run)["text"] == "1 of 1 episode"


def test_a_run_that_is_made_longer_while_it_is_shown_goes_on(make_run: MakeRun) -> None:
    run = make_run(episode(), total=1)
    before = live(run)

    run.folder.extended(run.folder.record.settings, total=4)
    run.refresh()

    assert before == {"line": 1, "state": "finished", "text": "1 of 1 episode"}
    assert live(run) == {"line": 1, "state": "running", "text": "1 of 4 episodes"}
    assert "4 episodes planned" in page(run)


def test_a_record_that_cannot_be_read_is_said_and_read_again(make_run: MakeRun) -> None:
    run = make_run(episode(), total=1)
    record = run.folder.path / "run.json"
    text = record.read_text(encoding="utf-8")
    record.write_text("{", encoding="utf-8")

    run.refresh()
    problem = run.problem
    record.write_text(text, encoding="utf-8")
    run.refresh()

    assert "run.json" in problem
    assert run.problem == ""


def test_a_log_goes_on_beside_a_damaged_record(make_run: MakeRun) -> None:
    run = make_run(episode(), total=3)
    (run.folder.path / "run.json").write_text("{", encoding="utf-8")
    write(run.folder.episodes_path, episode(episode_index=1))

    run.refresh()
    run.refresh()

    assert live(run)["text"] == "2 of 3 episodes"
    assert "run.json" in run.problem
    assert "Not all of this run can be read just now." in page(run)


def test_a_damaged_record_is_read_once(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(episode(), total=1)
    (run.folder.path / "run.json").write_text("{", encoding="utf-8")
    run.refresh()
    monkeypatch.delattr(RunFolder, "open")  # whoever reads it again fails

    run.refresh()

    assert "run.json" in run.problem


def test_a_record_that_the_disk_did_not_give_is_asked_for_again(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(episode(), total=1)
    run.folder.extended(run.folder.record.settings, total=4)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        run.refresh()
    problem = run.problem

    run.refresh()

    assert "Input/output error" in problem
    assert run.problem == ""
    assert live(run)["text"] == "1 of 4 episodes"


def test_what_a_log_had_before_it_was_looked_at_is_no_rate(make_run: MakeRun, clock: Clock) -> None:
    run = make_run(total=2000)
    write(run.folder.episodes_path, *(episode(episode_index=number) for number in range(1001)))
    while run.refresh(budget_s=0.0):
        clock.now += 1
    clock.now += 1
    write(run.folder.episodes_path, *(episode(episode_index=1001 + number) for number in range(2)))
    run.refresh()

    rate = run.progress().rate

    assert run.state.lines == 1003
    assert rate == 2.0


def test_a_slow_run_has_the_rate_of_its_last_episodes(make_run: MakeRun, clock: Clock) -> None:
    run = make_run(episode(), total=100)
    for number in range(1, 4):
        for _ in range(40):
            clock.now += 1
            run.refresh()
        write(run.folder.episodes_path, episode(episode_index=number))
        run.refresh()

    rate = run.progress().rate

    assert rate == pytest.approx(1 / 40)


def test_the_rate_is_of_fifteen_looks_that_found_something(make_run: MakeRun, clock: Clock) -> None:
    run = make_run(episode(), total=100)
    for number in range(1, 31):
        clock.now += 5 if number > 23 else 50
        run.refresh()
        clock.now += 5 if number > 23 else 50
        write(run.folder.episodes_path, episode(episode_index=number))
        run.refresh()

    # Of the 14 times between them 7 are of 100 s, and 7 of 10 s.
    assert run.progress().rate == pytest.approx(14 / 770)


def test_a_run_that_is_quiet_slows_down(make_run: MakeRun, clock: Clock) -> None:
    run = make_run(episode(), total=100)
    clock.now += 10
    write(run.folder.episodes_path, episode(episode_index=1))
    run.refresh()
    for _ in range(90):
        clock.now += 1
        run.refresh()

    assert run.progress().rate == pytest.approx(1 / 100)

"""The line that says how far a run is, at a real pseudo-terminal and in a log."""

# ruff: noqa: T201 - what is printed while a line is shown is part of what is tested

from __future__ import annotations

import asyncio
import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import MissingRequirement
from gem.registry._importing import forget_installed
from gem.rollouts import Rollout
from gem.rollouts._progress import Progress
from gem.rollouts._stats import RolloutStats

pytest.importorskip("rich", reason="rich is optional")

GONE = "\x1b[?25h\r\x1b[1A\x1b[2K"  # the cursor is back; up to the line, and nothing left of it


@pytest.fixture(autouse=True)
def _a_common_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


class Screen:
    """What a terminal was told to show."""

    def __init__(self) -> None:
        self._ours, theirs = pty.openpty()
        self.file = open(theirs, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - a descriptor
        self.told = ""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):  # Linux answers so once the other side is closed
            while chunk := os.read(self._ours, 4096):
                self.told += chunk.decode().replace("\r\n", "\n")

    @property
    def lines(self) -> list[str]:
        """Every state of the line, in order."""
        return re.findall(r"\d+/\d+ episodes[^\n\r\x1b]*", self.told)

    def __enter__(self) -> Screen:
        self._before, sys.stderr = sys.stderr, self.file
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the terminal, and read what it was told to the end."""
        sys.stderr = self._before
        self.file.close()
        self._reader.join()
        os.close(self._ours)


@contextmanager
def stderr_in(path: Path) -> Iterator[Path]:
    """Let stderr go into a file."""
    with path.open("w", encoding="utf-8") as file, redirect_stderr(file):
        yield path


@pytest.fixture(autouse=True)
def _guess_is_installed() -> None:
    spec = gem.EnvSpec(id="demo:Guess", target="gem.testing.envs:Guess", blocking=False)
    gem.register(spec, spec.target)


def guess(request: gem.Request) -> str:
    return r"\boxed{8}"


def start(policy: Any = guess, **options: Any) -> Rollout:
    return gem.rollout(policy, "demo:Guess", **{"episodes": 3, "progress": True, **options})


def run(policy: Any = guess, **options: Any) -> None:
    async def play() -> None:
        async for _ in start(policy, **options):
            pass

    asyncio.run(play())


Count = Callable[[RolloutStats], object]


def show(count: Count, *, until: Callable[[], bool]) -> None:
    """Show what is counted once, until a condition is met."""

    async def meet() -> None:
        stats = RolloutStats()
        with Progress(stats, total=2000, finished=1000, log_every_s=0.01) as progress:
            progress.note = "the note"
            count(stats)
            while not until():
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(meet(), 60))


def busy(stats: RolloutStats) -> None:
    """Count something of everything."""
    for number in range(7):
        stats.count_step(0.05)
        stats.count_episode(is_error=number == 0, is_success=number > 3)
        stats.begin_call(number)
        if number > 2:
            stats.end_call(number)
    stats.deadline_hits, stats.restarts, stats.retries = 2, 1, 3


def test_a_terminal_shows_one_line_that_is_gone_at_the_end() -> None:
    with Screen() as screen:
        run()
    assert screen.lines[0] == "0/3 episodes  errors 0"
    assert screen.lines[-1].startswith("3/3 episodes  ")
    assert screen.told.endswith(GONE)
    assert screen.told.count("\n") == 1


def test_the_line_is_redrawn_while_no_episode_ends() -> None:
    def redrawn() -> list[str]:
        return [line for line in screen.lines if "in flight 3" in line]

    async def wait(request: gem.Request) -> str:
        while len(redrawn()) < 2:
            await asyncio.sleep(0.01)
        return r"\boxed{8}"

    with Screen() as screen:
        run(wait, policy_timeout_s=60)
    lines = redrawn()
    assert len(lines) >= 2
    for line in lines:
        assert re.fullmatch(r"0/3 episodes  errors 0  in flight 3  oldest [\d.]+ (us|ms|s)", line)


def test_the_line_needs_no_thread() -> None:
    def look(request: gem.Request) -> str:
        seen.update(threading.enumerate())
        return r"\boxed{8}"

    seen = set[threading.Thread]()
    with Screen():
        before = set(threading.enumerate())
        run(look)
    assert threading.current_thread() in seen
    assert seen <= before  # idle ones of other tests may end meanwhile


def test_figures_that_are_not_0_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    with Screen() as screen:
        show(busy, until=lambda: "1007/2000" in screen.told)
    assert re.fullmatch(
        r"1007/2000 episodes  [\d.,]+/s  \d\d:\d\d left  errors 1  success 0.500  deadline hits 2  "
        r"restarts 1  retries 3  in flight 3  oldest [\d.]+ m?s  answers p50 [\d.]+ us  "
        r"p99 [\d.]+ us  [\d.,]+ steps/s  p50 \d\d ms  p99 \d\d ms  the note",
        screen.lines[-1],
    )


def held_up(stats: RolloutStats) -> None:
    """Count a loop that stood still twice."""
    stats.count_lag(1.25)
    stats.count_lag(1.5)


def test_a_loop_that_stood_still_is_told_once_above_the_line() -> None:
    with Screen() as screen:
        show(held_up, until=lambda: len(screen.lines) > 3)
    assert screen.told.count("The event loop stood still for 1.5 s: no episode") == 1
    assert screen.told.endswith(GONE)


def test_a_loop_that_stood_still_is_told_in_a_log_too(tmp_path: Path) -> None:
    with stderr_in(tmp_path / "log") as log:
        show(held_up, until=lambda: log.read_text().count("1000/2000") > 1)
    assert log.read_text().count("The event loop stood still") == 1


def test_what_stood_still_before_is_not_told_again(tmp_path: Path) -> None:
    stats = RolloutStats()
    stats.count_lag(2.0)

    async def shown() -> None:
        with Progress(stats, total=1):
            await asyncio.sleep(0)

    with stderr_in(tmp_path / "log") as log:
        asyncio.run(shown())
    assert not log.read_text()


def test_a_longer_stop_than_before_is_told(tmp_path: Path) -> None:
    stats = RolloutStats()
    stats.count_lag(1.1)

    async def shown() -> None:
        with Progress(stats, total=1):
            stats.count_lag(1.5)

    with stderr_in(tmp_path / "log") as log:
        asyncio.run(shown())
    assert log.read_text().startswith("The event loop stood still for 1.5 s")


def test_a_policy_that_blocks_the_loop_is_told_when_a_short_run_ends(tmp_path: Path) -> None:
    def compute(request: gem.Request) -> str:
        time.sleep(1.1)
        return r"\boxed{8}"

    with stderr_in(tmp_path / "log") as log:
        run(compute, episodes=1)
    assert re.match(r"The event loop stood still for [1-9]", log.read_text())


def test_an_alert_comes_before_other_figures() -> None:
    def alert() -> str:
        return "" if "is away" in screen.told else "the server is away"

    async def meet() -> None:
        with Progress(RolloutStats(), total=9, alert=alert):
            while "0/9 episodes  errors 0" not in screen.told:
                await asyncio.sleep(0.01)

    with Screen() as screen:
        asyncio.run(asyncio.wait_for(meet(), 60))

    assert screen.lines[0] == "0/9 episodes  the server is away  errors 0"


def test_the_success_of_another_policy_begins_anew() -> None:
    async def meet() -> None:
        stats = RolloutStats()
        with Progress(stats, total=9) as progress:
            stats.count_episode(is_error=False, is_success=True)
            progress.begin_policy()
            stats.count_episode(is_error=False)
            while "success" not in screen.told:
                await asyncio.sleep(0.01)

    with Screen() as screen:
        asyncio.run(asyncio.wait_for(meet(), 60))

    assert "success 0.000" in screen.lines[-1]


@pytest.mark.parametrize(("step_s", "unit"), [(2e-5, "us"), (0.005, "ms"), (3.0, "s"), (30.0, "s")])
def test_a_latency_has_its_unit(tmp_path: Path, step_s: float, unit: str) -> None:
    with stderr_in(tmp_path / "log") as log:
        show(lambda stats: stats.count_step(step_s), until=lambda: " steps/s" in log.read_text())
    assert re.search(rf"p50 [\d.]+ {unit}  p99 [\d.]+ {unit}  ", log.read_text())


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ("46", "1000/2000 episodes  errors 0  restarts 1"),
        ("30", "1000/2000 episodes  errors 0"),
        ("27", "1000/2000 episodes"),
        ("7", "1000/20"),
    ],
)
def test_a_narrow_terminal_shows_whole_figures_on_one_line(
    monkeypatch: pytest.MonkeyPatch, columns: str, line: str
) -> None:
    def count(stats: RolloutStats) -> None:
        stats.restarts, stats.retries = 1, 1000

    monkeypatch.setenv("COLUMNS", columns)
    with Screen() as screen:
        show(count, until=lambda: screen.told.count("1000/20") > 2)
    assert screen.told.removesuffix(f"\n{GONE}").rpartition("\r\x1b[2K")[2] == line


def test_what_is_printed_goes_above_the_line() -> None:
    async def play() -> None:
        async for episode in start(concurrency=1):
            print("[b]took", len(episode.turns), "x" * 120)
        print("to the end", end="")

    with Screen() as screen, redirect_stdout(screen.file):
        asyncio.run(play())
    assert len(re.findall(r"\x1b\[2K\[b\]took \d x{120}\n", screen.told)) == 3
    assert screen.told.endswith("to the end")


def test_what_no_newline_has_ended_is_not_lost() -> None:
    async def play() -> None:
        async for _ in start(concurrency=1):
            print(".", end="")

    with Screen() as screen, redirect_stdout(screen.file):
        asyncio.run(play())
    assert "...\n" in screen.told


def test_what_is_printed_into_a_file_stays_there(tmp_path: Path) -> None:
    async def play() -> None:
        async for _ in start():
            print("hello")

    with (tmp_path / "out").open("w") as file, redirect_stdout(file), Screen() as screen:
        asyncio.run(play())
    assert (tmp_path / "out").read_text() == "hello\n" * 3
    assert "hello" not in screen.told


def test_a_log_gets_a_line_now_and_then(tmp_path: Path) -> None:
    with stderr_in(tmp_path / "log") as log:
        show(busy, until=lambda: log.read_text().count("\n") > 2)
    first, *_ = log.read_text().splitlines()
    assert first.startswith("1007/2000 episodes  ")
    assert first.endswith("  the note")


def test_a_short_run_leaves_a_log_empty(tmp_path: Path) -> None:
    with stderr_in(tmp_path / "log") as log:
        run()
    assert log.read_text() == ""


def test_a_terminal_that_cannot_redraw_gets_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with Screen() as screen:
        show(id, until=lambda: screen.told.count("\n") > 2)
    assert set(screen.told.splitlines()) == {"1000/2000 episodes  errors 0  the note"}


def test_a_run_goes_on_when_nobody_reads_its_log() -> None:
    ours, theirs = os.pipe()
    file, loops = os.fdopen(theirs, "w"), iter(range(20))
    os.close(ours)
    with redirect_stderr(file):
        show(id, until=lambda: next(loops) == 19)
    with suppress(BrokenPipeError):
        file.close()


def test_a_run_goes_on_when_its_terminal_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    ours, theirs = pty.openpty()
    file = os.fdopen(theirs, "w")

    async def play() -> int:
        episodes = start(concurrency=1)
        await anext(episodes)
        os.close(ours)
        return len([each async for each in episodes])

    with redirect_stderr(file):
        assert asyncio.run(play()) == 2
    assert caplog.messages == []
    with suppress(OSError):
        file.close()


def test_a_terminal_that_is_gone_from_the_start_stops_no_run() -> None:
    ours, theirs = pty.openpty()
    file = os.fdopen(theirs, "w")
    os.close(ours)
    with redirect_stderr(file):
        run()
    with suppress(OSError):
        file.close()


@pytest.mark.parametrize("error", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_the_line_ends_with_a_run_that_an_error_leaves(
    caplog: pytest.LogCaptureFixture, error: type[BaseException]
) -> None:
    async def play() -> None:
        left = start(episodes=50, concurrency=4)
        async for _ in left:
            raise error("enough")

    with Screen() as screen, pytest.raises(error, match="enough"):
        asyncio.run(play())
    assert screen.told.endswith(GONE)
    assert caplog.messages == []


def test_the_line_ends_with_a_run_that_is_closed_early() -> None:
    async def play() -> None:
        left = start(episodes=50, concurrency=4)
        await anext(left)
        await left.aclose()
        sys.stderr.write("after")

    with Screen() as screen:
        asyncio.run(play())
    assert screen.told.endswith(f"{GONE}after")


def test_groups_are_shown_too() -> None:
    async def play() -> None:
        async for _ in start(repeats=2).groups():
            pass

    with Screen() as screen:
        asyncio.run(play())
    assert screen.lines[-1].startswith("6/6 episodes  ")


def test_stats_that_counted_before_count_from_there() -> None:
    stats = RolloutStats()
    run(stats=stats, progress=False)
    with Screen() as screen:
        run(stats=stats)
    assert screen.lines[0] == "0/3 episodes  errors 0"
    assert screen.lines[-1].startswith("3/3 episodes  ")
    assert stats.episodes == 6


def test_without_rich_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    start()  # loads what it needs from the path that is hidden now
    monkeypatch.setattr(sys, "path", [])
    forget_installed()
    with pytest.raises(MissingRequirement, match="progress=True needs rich") as caught:
        start()
    forget_installed()
    assert caught.value.command == 'pip install "rich>=13.7"'


def test_no_progress_loads_no_rich() -> None:
    code = """
import asyncio, sys, gem
spec = gem.EnvSpec(id="demo:Guess", target="gem.testing.envs:Guess", blocking=False)
gem.register(spec, spec.target)
async def play():
    async for _ in gem.rollout(lambda request: "", "demo:Guess"): pass
asyncio.run(play())
sys.exit("rich" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

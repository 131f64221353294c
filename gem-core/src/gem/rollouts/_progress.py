"""Say on stderr how far a run is: a line redrawn in place, or in a log a line now and then.

Knows nothing about how episodes are run.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from gem.registry._importing import check_requirements
from gem.rollouts._stats import RolloutStats

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["Progress"]

_Figures = Callable[[], Iterable[str]]
_GAP = "  "
_HELD_UP_S = 1.0
_HELD_UP = (
    "The event loop stood still for {duration}: no episode went on meanwhile, and no deadline was "
    "kept. What computes long or sleeps there does that: a policy, or the code that takes the "
    "episodes (`await gem.env.in_thread(...)` does it on a thread), or an environment with "
    "blocking=False (backend='process' runs it elsewhere)."
)
_COUNTS = (
    "steps",
    "episodes",
    "errors",
    "successes",
    "calls",
    "deadline_hits",
    "restarts",
    "retries",
)


class Progress:
    """Shows what `stats` count while this context is entered, on a running event loop.

    `total` are the episodes to be run, and `finished` those of them that were before. Rates and
    counts are of the time since it was entered, latencies of all that the stats have counted. On
    a terminal the loop redraws one line four times a second, with `note` at its end, and removes
    it when left; what is printed meanwhile goes above it, and so does a warning, once, where
    something holds the event loop up for a second. Elsewhere (a file, a pipe, TERM=dumb) a
    plain line is written every `log_every_s` seconds. What `alert` returns, where it is not
    empty, is said before all other figures but the first. Raises MissingRequirement without rich.
    """

    def __init__(
        self,
        stats: RolloutStats,
        *,
        total: int,
        finished: int = 0,
        log_every_s: float = 10.0,
        alert: Callable[[], str] | None = None,
    ) -> None:
        check_requirements(("rich>=13.7",), subject="progress=True", of="gem-core")
        self.note = ""
        self._stats = stats
        self._total = total
        self._finished = finished
        self._log_every_s = log_every_s
        self._alert = alert

    def __enter__(self) -> Progress:
        self._since = time.perf_counter()
        self._lag_before_s = self._stats.longest_lag_s
        self._lag_told = False
        self._before = {name: getattr(self._stats, name) for name in _COUNTS}
        self.begin_policy()
        console = _terminal()
        self._display: _Log | _Line
        if console is None:
            self._display = _Log(self._figures, self._log_every_s)
        else:
            self._display = _Line(self._figures, console)
        self._wait()
        with suppress(OSError):
            self._display.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()  # first: it would draw the line again
        with suppress(OSError):
            self._warn()
            self._display.close()

    def begin_policy(self) -> None:
        """Let the success begin anew: what comes is another policy's."""
        self._scored_before = self._stats.episodes - self._stats.errors
        self._solved_before = self._stats.successes

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._display.every_s, self._show)

    def _show(self) -> None:
        with suppress(OSError):  # the terminal is gone; the run goes on
            self._warn()
            self._display.show()
            self._wait()

    def _warn(self) -> None:
        """Say that something held up the loop, if so, once."""
        lag_s = self._stats.longest_lag_s
        if lag_s >= _HELD_UP_S and lag_s > self._lag_before_s and not self._lag_told:
            self._lag_told = True
            self._display.say(_HELD_UP.format(duration=_duration(lag_s)))

    def _figures(self) -> Iterator[str]:
        """Yield the figures, those first that a narrow terminal should not lose."""
        stats = self._stats
        # The stats may have counted runs before this one.
        done = {name: getattr(stats, name) - before for name, before in self._before.items()}
        elapsed_s = time.perf_counter() - self._since
        ended = self._finished + done["episodes"]
        yield f"{ended}/{self._total} episodes"
        alert = self._alert() if self._alert is not None else ""
        if alert:
            yield alert
        if done["episodes"]:
            rate = done["episodes"] / elapsed_s
            yield f"{_short(rate)}/s"
            left = timedelta(seconds=round(max(self._total - ended, 0) / rate))
            yield f"{left} left".removeprefix("0:")
        yield f"errors {done['errors']}"
        scored = stats.episodes - stats.errors - self._scored_before
        if scored:
            yield f"success {(stats.successes - self._solved_before) / scored:.3f}"
        for name in ("deadline_hits", "restarts", "retries"):
            if done[name]:
                yield f"{name.replace('_', ' ')} {done[name]}"
        if stats.calls_in_flight:
            yield f"in flight {stats.calls_in_flight}"
            yield f"oldest {_duration(stats.oldest_call_s)}"
        if done["calls"]:
            yield f"answers p50 {_duration(stats.call_s(0.5) or 0.0)}"
            yield f"p99 {_duration(stats.call_s(0.99) or 0.0)}"
        if done["steps"]:
            yield f"{_short(done['steps'] / elapsed_s)} steps/s"
            yield f"p50 {_duration(stats.step_s(0.5) or 0.0)}"
            yield f"p99 {_duration(stats.step_s(0.99) or 0.0)}"
        if self.note:
            yield self.note


def _terminal() -> Console | None:
    """Return stderr as a terminal on which a line can be redrawn; None where it is not one."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console  # heavy: 0.1 s

    console = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)
    return console if console.is_interactive else None


class _Line:
    """One line of a terminal, which is never wrapped: figures that do not fit are left out."""

    every_s = 0.25

    def __init__(self, figures: _Figures, console: Console) -> None:
        from rich.live import Live

        self._figures = figures
        self._console = console
        # What is printed to a terminal would tear the line; what goes elsewhere must go there.
        self._live = Live(
            console=console,
            auto_refresh=False,  # else a thread of its own
            get_renderable=self._text,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),
        )

    def _text(self) -> Text:
        from rich.cells import cell_len, set_cell_size
        from rich.text import Text

        width = self._console.width
        line, *others = self._figures()
        for figure in others:
            if cell_len(line) + len(_GAP) + cell_len(figure) > width:
                break
            line = f"{line}{_GAP}{figure}"
        return Text(set_cell_size(line, min(width, cell_len(line))))

    def begin(self) -> None:
        self._live.start(refresh=True)

    def show(self) -> None:
        self._live.refresh()

    def say(self, text: str) -> None:
        self._console.print(text)

    def close(self) -> None:
        sys.stdout.flush()  # rich keeps what no newline has ended, and would forget it
        sys.stderr.flush()
        self._live.stop()


class _Log:
    """Whole lines, for a file or a pipe."""

    def __init__(self, figures: _Figures, every_s: float) -> None:
        self._figures = figures
        self.every_s = every_s

    def begin(self) -> None:
        """Write nothing yet: a run shorter than the interval leaves no line."""

    def show(self) -> None:
        self.say(_GAP.join(self._figures()))

    def say(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Leave the lines where they are."""


def _short(figure: float) -> str:
    return f"{figure:.2g}" if figure < 10 else f"{figure:,.0f}"


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{_short(seconds)} s"
    return f"{_short(seconds * 1e3)} ms" if seconds >= 1e-3 else f"{_short(seconds * 1e6)} us"

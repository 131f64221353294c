"""Show an episode: redrawn in place on a terminal, line after line anywhere else.

Everything that reaches the terminal is made printable here. Knows nothing about environments.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from gem.cli._colours import Highlight, are_wanted, painted
from gem.cli._text import indented, one_line, printable

__all__ = ["Display", "Exchange", "View", "display", "figures", "frame", "total_so_far"]

_HOME_AND_CLEAR = "\x1b[H\x1b[J"  # what is shown; what has scrolled up stays
_LONGEST_WRAPPED = 5_000  # characters of a line; longer ones are left to the terminal


class Exchange(NamedTuple):
    """What was typed, and what the environment said to it."""

    typed: str
    message: str


class View(NamedTuple):
    """All that there is to see. `turns` is never empty; its first holds the instructions.

    `total` is None where the player is not told of rewards. Where several seats are shown, `seats`
    are their names, and `totals` and `rewards` stand in the place of `total` and `reward`.
    """

    heading: str
    turns: tuple[Exchange, ...]
    board: str = ""
    turn: int = 0
    max_turns: int | None = None
    total: float | None = 0.0
    reward: float | None = None
    outcome: str = ""
    highlights: Sequence[Highlight] = ()
    seats: tuple[str, ...] = ()
    totals: tuple[float, ...] = ()
    rewards: tuple[float, ...] = ()

    @property
    def status(self) -> str:
        """Where the episode stands, in one line."""
        if self.outcome:
            return self.outcome
        limit = "" if self.max_turns is None else f" of {self.max_turns}"
        parts = [f"Turn {self.turn}{limit}"]
        if total_so_far(self):
            parts.append(total_so_far(self))
        if self.reward is not None:
            parts.append(f"last reward {self.reward:g}")
        if self.earned:
            parts.append(f"last rewards {self.earned}")
        return f"{', '.join(parts)}."

    @property
    def earned(self) -> str:
        """What each seat earned by the last action; empty where none did."""
        return figures(self.seats, self.rewards) if any(self.rewards) else ""

    def of_seats(self, names: Sequence[str]) -> View:
        """Return the first view of an episode of these seats, each of which is shown."""
        if len(names) < 2:
            return self
        nothing = (0.0,) * len(names)
        return self._replace(seats=tuple(names), total=None, totals=nothing)

    def after(
        self,
        turn: Exchange,
        board: str,
        reward: float,
        *,
        replaces: bool,
        rewards: Sequence[float] = (),
    ) -> View:
        """Return the view that a turn leads to.

        `replaces` says that its message is the whole prompt, which the earlier ones are part of.
        Where several seats are shown, `rewards` has what each of them earned.
        """
        view = self._replace(
            turns=(turn,) if replaces else (*self.turns, turn),
            board=board,
            turn=self.turn + 1,
            total=None if self.total is None else self.total + reward,
            reward=reward,
        )
        if not self.seats:
            return view
        rewards = rewards or (0.0,) * len(self.seats)
        totals = [total + earned for total, earned in zip(self.totals, rewards, strict=True)]
        return view._replace(reward=None, totals=tuple(totals), rewards=tuple(rewards))

    def log(self) -> str:
        """Return every turn so far."""
        return "\n".join(_entry(turn) for turn in self.turns)


def figures(names: Sequence[str], values: Sequence[float]) -> str:
    """Return a number for each seat.

    >>> figures(("X", "O"), (0.5, -0.5))
    'X 0.5, O -0.5'
    """
    return ", ".join(f"{name} {value:g}" for name, value in zip(names, values, strict=True))


def total_so_far(view: View) -> str:
    """Say what was earned up to a view; nothing where the player is not told of rewards."""
    if view.seats:
        return f"total rewards {figures(view.seats, view.totals)}"
    return "" if view.total is None else f"total reward {view.total:g}"


class Display(Protocol):
    """Where views are shown. A note is for the player, beside what the environment says."""

    def begin(self, view: View) -> None:
        """Show the first view of an episode."""

    def show(self, view: View, note: str = "") -> None:
        """Show the view that followed."""

    def end(self, view: View) -> None:
        """Show how it ended, where the last turn of the view was shown before."""

    def note(self, text: str) -> None:
        """Tell the player something; the view stays."""

    def wait(self, what: str, *, is_new: bool) -> None:
        """Say what is waited for, and is still waited for. A file or a pipe need not know."""


def display() -> Display:
    """Return what suits standard output."""
    # Both: an answer that is typed elsewhere would not be on the screen that is redrawn.
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    can_redraw = is_terminal and os.environ.get("TERM", "dumb") != "dumb"
    return Screen() if can_redraw else Scroll()


class Scroll:
    """Line after line, each shown once: for files, pipes and terminals that cannot move back."""

    def begin(self, view: View) -> None:
        print(f"{one_line(view.heading)}\n")
        for turn in view.turns[:-1]:  # of an episode that is played on from a later turn
            print(indented(_entry(turn)))
        self.show(view)

    def show(self, view: View, note: str = "") -> None:
        if note:
            print(printable(note))
        print(indented("\n".join(filter(None, (view.turns[-1].message, view.board)))))
        if view.reward is not None:
            print(f"  reward {view.reward:g}")
        if view.earned:
            print(printable(f"  rewards {view.earned}"))
        if view.outcome:
            self.end(view)
        sys.stdout.flush()  # a pipe would else keep it until the game is over

    def end(self, view: View) -> None:
        print(printable(view.outcome))

    def note(self, text: str) -> None:
        print(printable(text))

    def wait(self, what: str, *, is_new: bool) -> None:
        if is_new and sys.stdout.isatty():  # once: this line stays
            print(f"{one_line(what)} ...", flush=True)


class Screen:
    """A terminal, each view drawn over the one before. What is too high scrolls, unharmed."""

    _view: View

    def begin(self, view: View) -> None:
        print("\n" * _size()[1], end="")  # what was there is kept above
        self.show(view)

    def show(self, view: View, note: str = "") -> None:
        self._view = view
        self.note(note)

    def end(self, view: View) -> None:
        self.show(view)

    def wait(self, what: str, *, is_new: bool) -> None:
        self.note(f"{what} ...")

    def note(self, text: str) -> None:
        highlights = self._view.highlights if are_wanted() else ()
        lines = [painted(line, highlights) for line in frame(self._view, text, *_size())]
        print(_HOME_AND_CLEAR + "\n".join(lines), flush=True)


def _size() -> tuple[int, int]:
    """Return columns and rows; before 3.11 a terminal that does not know them says 0."""
    size = shutil.get_terminal_size()
    return size.columns or 80, size.lines or 24


def frame(view: View, note: str, columns: int, rows: int) -> list[str]:
    r"""Return the lines of a screen. The last message, the board and the note are always whole.

    >>> turns = (Exchange("", "Guess."), Exchange("8", "Higher."))
    >>> view = View("Guess, seed 1", turns, "[ ]", 1, 4)
    >>> print("\n".join(frame(view, "", 80, 24)))
    Guess, seed 1
    <BLANKLINE>
    > 8
    Higher.
    <BLANKLINE>
    [ ]
    <BLANKLINE>
    Turn 1 of 4, total reward 0.
    """
    parts = (view.board, view.status, note)
    below = []
    for part in parts:
        if part:
            below += ["", *_wrapped(part, columns)]
    last = _wrapped(_entry(view.turns[-1]), columns)
    heading = [*_wrapped(one_line(view.heading), columns), ""]
    room = rows - _height([*heading, *last, *below, "the prompt"], columns)
    # The first turn holds the instructions. Where there is a board they may make room for it;
    # a task without one is in its instructions.
    earlier = view.turns[1:-1] if view.board else view.turns[:-1]
    return [*heading, *_earlier(earlier, columns, room), *last, *below]


def _earlier(turns: Sequence[Exchange], columns: int, room: int) -> list[str]:
    """Return the turns that there is room for, the latest last, below how many are left out."""
    lines: list[str] = []
    for left, turn in zip(reversed(range(len(turns))), reversed(turns), strict=True):
        longer = [*_wrapped(_entry(turn), columns), *lines]
        # Where more are left there must be room for the line that says so.
        room_here = room - 1 if left else room
        if _height(longer, columns) > room_here:
            if room <= 0:
                return lines
            return [f"({left + 1} earlier: see :log)"[:columns], *lines]
        lines = longer
    return lines


def _entry(turn: Exchange) -> str:
    return f"> {one_line(turn.typed)}\n{turn.message}" if turn.typed else turn.message


def _wrapped(text: str, columns: int) -> list[str]:
    """Return printable lines; those that are too long are broken between words."""
    lines: list[str] = []
    for line in printable(text).expandtabs().split("\n"):
        lines += _cut(line, columns)
    return lines


def _cut(line: str, columns: int) -> Iterator[str]:
    if columns < len(line) <= _LONGEST_WRAPPED:
        yield from textwrap.wrap(line, columns, break_on_hyphens=False)
    else:
        yield line


def _height(lines: Sequence[str], columns: int) -> int:
    return sum(max(1, math.ceil(len(line) / columns)) for line in lines)

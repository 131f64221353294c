"""Watch an episode view by view, one of a run say. Knows nothing about who plays it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from gem.cli._screen import Display, View, display, figures
from gem.cli._text import counted, one_line
from gem.cli._views import recorded_views
from gem.episode._episode import Episode
from gem.episode._log import read_last_tries
from gem.errors import BadArguments

__all__ = ["watch", "watch_recorded"]

_HOW = "Enter: the next turn, :b the one before, :q leave"


def watch_recorded(run: Path, number: int | None) -> int:
    """Show the episode of a run with this number, counted from 1; without one, list them."""
    episodes = list(read_last_tries(run))
    if not episodes:
        raise BadArguments(
            f"{run} has no episode to watch: none has finished yet. Watch it again once one has.",
            subject="RUN",
        )
    if number is None:
        for place, episode in enumerate(episodes, 1):
            print(f"{place:5}  {one_line(_line(episode))}")
        print(f"Watch one: gem-env play {shlex.quote(str(run))} NUMBER")
        return 0
    if not 1 <= number <= len(episodes):
        raise BadArguments(
            f"Episode {number} of {run} was asked for, and it has {len(episodes)}, counted from "
            f"1. `gem-env play {shlex.quote(str(run))}` lists them.",
            subject="EPISODE",
        )
    watch(iter(recorded_views(episodes[number - 1])), display())
    return 0


def watch(views: Iterator[View], screen: Display) -> None:
    """Show views up to the one with an outcome: on a terminal turn by turn, else as they come."""
    frames = [next(views)]  # all that were shown, to go back to; the next is asked for when wanted
    screen.begin(frames[0])
    place = 0
    while not frames[place].outcome:
        command = _command() if sys.stdin.isatty() else ""
        if command in (":q", ":quit"):
            return
        place = max(place - 1, 0) if command == ":b" else place + 1
        if place == len(frames):
            frames.append(next(views))
        view = frames[place]
        if view.outcome and view.turn == frames[place - 1].turn:
            screen.end(view)  # an error ended it, and the last turn was shown before
        else:
            screen.show(view, view.turns[-1].typed)


def _command() -> str:
    try:
        return input(f"{_HOW}> ").strip()
    except (EOFError, KeyboardInterrupt):
        print()
        return ":q"


def _line(episode: Episode) -> str:
    played = f"{episode.env_id} seed {episode.seed}: {counted(len(episode.turns), 'turn')}"
    if len(episode.seats) > 1:
        sitting = [f"{outcome.name}={outcome.policy}" for outcome in episode.seats]
        returns = figures(sitting, [outcome.total_reward for outcome in episode.seats])
        end = "" if episode.success is not None else ", error"
        return f"{played}, returns {returns}{end}"
    won = {True: "success", False: "no success", None: "error"}[episode.success]
    return f"{played}, return {episode.total_reward:g}, {won}"

"""Watch an episode view by view, one of a run say. Knows nothing about who plays it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gem.cli._screen import Display, Exchange, View, display
from gem.cli._seats import addressed, figures, results
from gem.cli._text import counted, one_line

if TYPE_CHECKING:
    from gem.episode._episode import Episode

__all__ = ["outcome_of", "watch", "watch_recorded"]

_HOW = "Enter: the next turn, :b the one before, :q leave"


def watch_recorded(run: Path, number: int | None) -> int:
    """Show the episode of a run with this number, counted from 1; without one, list them."""
    from gem.episode._log import read_last_tries
    from gem.errors import BadArguments

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
    watch(iter(_views(episodes[number - 1])), display())
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


def _views(episode: Episode) -> list[View]:
    """Return what there was to see: how it began, and after each turn that was answered."""
    from gem.content import observation_text

    if len(episode.seats) > 1:
        return _seated_views(episode)
    turns = episode.played_turns
    messages = [observation_text(turn.observation) for turn in episode.turns]
    boards = [turn.suffix or "" for turn in episode.turns]
    if len(messages) == len(turns):  # else what follows the last answer is a turn that failed
        last = episode.final_observation
        messages.append("" if last is None else observation_text(last))
        boards.append("")
    # The outcome comes with the last view alone: who watches wants to be surprised.
    heading = f"{episode.env_id} seed {episode.seed}, policy {episode.policy}"
    view = View(heading, (Exchange("", messages[0]),), boards[0], highlights=_highlights(episode))
    frames = [view]
    for number, turn in enumerate(turns, 1):
        entry = Exchange(turn.action, messages[number])
        view = view.after(entry, boards[number], turn.reward, replaces=episode.rewrites_history)
        frames.append(view)
    frames[-1] = frames[-1]._replace(outcome=outcome_of(episode))
    return frames


def _seated_views(episode: Episode) -> list[View]:
    """Return what there was to see of all seats: whose each action was, and who was shown what."""
    from gem.content import observation_text

    names = [outcome.name for outcome in episode.seats]
    turns = episode.played_turns
    messages = [
        addressed(names, {turn.seat: observation_text(turn.observation)}) for turn in episode.turns
    ]
    boards = [turn.suffix or "" for turn in episode.turns]
    if len(messages) == len(turns):  # else what follows the last answer is a turn that failed
        last = {
            seat: observation_text(outcome.final_observation)
            for seat, outcome in enumerate(episode.seats)
            if outcome.final_observation
        }
        messages.append(addressed(names, last))
        boards.append("")
    sitting = ", ".join(f"{outcome.name}={outcome.policy}" for outcome in episode.seats)
    heading = f"{episode.env_id} seed {episode.seed}, {sitting}"
    view = View(heading, (Exchange("", messages[0]),), boards[0], highlights=_highlights(episode))
    view = view.of_seats(names)
    frames = [view]
    for number, turn in enumerate(turns, 1):
        entry = Exchange(f"[{names[turn.seat]}] {turn.action}", messages[number])
        earned = turn.rewards or (0.0,) * len(names)
        view = view.after(entry, boards[number], turn.reward, replaces=False, rewards=earned)
        frames.append(view)
    frames[-1] = frames[-1]._replace(outcome=outcome_of(episode))
    return frames


def _highlights(episode: Episode) -> Sequence[tuple[str, str, str]]:
    """Return what its environment marks in colour, where that is installed."""
    from gem.errors import GemError
    from gem.registry._catalogue import is_provided, spec
    from gem.registry._importing import load_target

    # A run may be watched where its pack is not installed: then without colours. So is one whose
    # environment no pack provides: a run may be a stranger's, and to watch it runs nothing.
    if not is_provided(episode.env_id):
        return ()
    try:
        return getattr(load_target(spec(episode.env_id).target), "highlights", ())
    except GemError:
        return ()


def _line(episode: Episode) -> str:
    won = {True: "success", False: "no success", None: "error"}[episode.success]
    if len(episode.seats) > 1:
        sitting = [f"{outcome.name}={outcome.policy}" for outcome in episode.seats]
        returns = figures(sitting, [outcome.total_reward for outcome in episode.seats])
        end = "" if episode.success is not None else ", error"
        return (
            f"{episode.env_id} seed {episode.seed}: {counted(len(episode.turns), 'turn')}, returns "
            f"{returns}{end}"
        )
    return (
        f"{episode.env_id} seed {episode.seed}: {counted(len(episode.turns), 'turn')}, return "
        f"{episode.total_reward:g}, {won}"
    )


def outcome_of(episode: Episode) -> str:
    """Say how an episode ended, in one line."""
    how: str = episode.stop_reason
    if len(episode.seats) > 1 and episode.stopped_by is not None:
        how = f"{how} of {episode.seats[episode.stopped_by].name}"
    if episode.error is not None:
        return f"Ended by {how}: {episode.error}"
    turns = counted(len(episode.turns), "turn")
    if len(episode.seats) > 1:
        by_seat = results(
            [outcome.name for outcome in episode.seats],
            [outcome.total_reward for outcome in episode.seats],
            [outcome.success for outcome in episode.seats],
        )
        return f"Over after {turns} ({how}). {by_seat}."
    won = "Success" if episode.success else "No success"
    return f"{won} after {turns} ({how}), total reward {episode.total_reward:g}."

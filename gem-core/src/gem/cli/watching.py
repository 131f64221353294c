"""Watch an episode that is recorded, or that a policy plays now. Knows nothing about playing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gem.cli.screen import Display, Scene, Turn, display
from gem.cli.text import counted

if TYPE_CHECKING:
    from gem.episode import Episode

__all__ = ["scenes", "watch_policy", "watch_recorded"]

_HOW = "Enter: the next turn, :b the one before, :q leave"


def watch_recorded(run: Path, number: int | None) -> int:
    """Show the episode of a run with this number, counted from 1; without one, list them."""
    from gem.episode import read_last_tries
    from gem.errors import BadArguments

    episodes = list(read_last_tries(run))
    if number is None:
        for place, episode in enumerate(episodes, 1):
            print(f"{place:5}  {_line(episode)}")
        print(f"Watch one of these {len(episodes)}: gem-env play {run} NUMBER")
        return 0
    if not 1 <= number <= len(episodes):
        raise BadArguments(
            f"Episode {number} of {run} was asked for, and it has {len(episodes)}, counted from "
            f"1. `gem-env play {run}` lists them.",
            subject="EPISODE",
        )
    _show(episodes[number - 1])
    return 0


def watch_policy(
    name: str,
    env_id: str,
    *,
    seed: int,
    env_kwargs: Mapping[str, Any],
    wrappers: Sequence[Any],
) -> int:
    """Let a policy play the episode of a seed, and show it turn by turn. Status 1 on an error.

    One that asks a server looks first whether that answers (`probe`), and raises what it finds:
    in the episode itself it would wait for the server to come back, for minutes and unseen.
    """
    episode = asyncio.run(_played(name, env_id, seed, env_kwargs, wrappers))
    _show(episode)
    return int(episode.is_error)


async def _played(
    name: str, env_id: str, seed: int, env_kwargs: Mapping[str, Any], wrappers: Sequence[Any]
) -> Episode:
    from gem.making import make_policy
    from gem.planning import Assignment
    from gem.rollouts import rollout

    policy = make_policy(name)
    probe = getattr(policy, "probe", None)
    run = rollout(
        policy,
        env_id,
        plan=[Assignment(0, 0, 0, seed, None)],
        env_kwargs=env_kwargs,
        wrappers=wrappers,
    )
    try:
        if probe is not None:
            await probe()
        return replace(await anext(run), policy=name)
    finally:
        await run.aclose()
        close = getattr(policy, "aclose", None)
        if close is not None:
            await close()


def _show(episode: Episode) -> None:
    """Show an episode: on a terminal turn by turn, in a file or a pipe as a whole."""
    frames = scenes(episode)
    shown: Display = display()
    shown.begin(frames[0])
    place = 0
    while place + 1 < len(frames):
        command = _command() if sys.stdin.isatty() else ""
        if command in (":q", ":quit"):
            return
        place = max(place - 1, 0) if command == ":b" else place + 1
        shown.show(frames[place], frames[place].turns[-1].typed)


def _command() -> str:
    try:
        return input(f"{_HOW}> ").strip()
    except (EOFError, KeyboardInterrupt):
        print()
        return ":q"


def scenes(episode: Episode) -> list[Scene]:
    """Return what there was to see: how it began, and after each turn that was answered."""
    from gem.content import observation_text

    turns = episode.played_turns
    seen = [observation_text(turn.observation) for turn in episode.turns]
    boards = [turn.suffix or "" for turn in episode.turns]
    if len(seen) == len(turns):  # else what follows the last answer is a turn that failed
        last = episode.final_observation
        seen.append("" if last is None else observation_text(last))
        boards.append("")
    heading = f"{_line(episode)}, policy {episode.policy}"
    scene = Scene(heading, (Turn("", seen[0]),), boards[0], highlights=_highlights(episode))
    frames = [scene]
    for number, turn in enumerate(turns, 1):
        entry = Turn(turn.action, seen[number])
        scene = scene._replace(
            turns=(entry,) if episode.rewrites_history else (*scene.turns, entry),
            board=boards[number],
            turn=number,
            total=scene.total + turn.reward,
            reward=turn.reward,
        )
        frames.append(scene)
    frames[-1] = frames[-1]._replace(outcome=_outcome(episode))
    return frames


def _highlights(episode: Episode) -> Sequence[tuple[str, str, str]]:
    """Return what its environment marks in colour, where that is installed."""
    from gem.errors import GemError
    from gem.registry import spec
    from gem.targets import load_target

    try:
        return getattr(load_target(spec(episode.env_id).target), "highlights", ())
    except GemError:
        return ()


def _line(episode: Episode) -> str:
    won = {True: "success", False: "no success", None: "error"}[episode.success]
    return (
        f"{episode.env_id} seed {episode.seed}: {counted(len(episode.turns), 'turn')}, return "
        f"{episode.total_reward:g}, {won}"
    )


def _outcome(episode: Episode) -> str:
    if episode.error is not None:
        return f"Ended by {episode.stop_reason}: {episode.error}"
    won = "Success" if episode.success else "No success"
    return (
        f"{won} after {counted(len(episode.turns), 'turn')} ({episode.stop_reason}), total reward "
        f"{episode.total_reward:g}."
    )

"""Grade the recorded episodes of a run again: their actions are taken again, and scored anew.

What changes then is the environment's own doing, which a judge's verdict is. The scores lie beside
the log, a line an episode. Knows nothing about statistics.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from gem import Env, make
from gem.content import Action
from gem.episode import Episode
from gem.errors import in_one_line
from gem.rollouts import read_last_tries
from gem_eval.live import Live
from gem_eval.run_folder import RunFolder
from gem_eval.settings import Settings

__all__ = ["Graded", "grade_again", "read_gradings", "score_of"]

_AT_ONCE = 16  # threads at most, each with an environment of its own, where a judge may wait
_LONGEST_ERROR = 300

Place = tuple[int, int]
"""Which episode: its number and its repeat."""


class Graded(NamedTuple):
    """The further scores of an episode, or why there are none."""

    scores: tuple[float, ...] = ()
    error: str | None = None


def read_gradings(path: Path) -> dict[Place, Graded]:
    """Read what was graded again; the last line of an episode counts, and a torn one is none."""
    found: dict[Place, Graded] = {}
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                known = _read(line)
                if known is not None:
                    place, graded = known
                    found[place] = graded
    return found


async def grade_again(
    folder: RunFolder,
    settings: Settings,
    live: Live,
    on_graded: Callable[[int, int], None],
) -> None:
    """Grade each episode that no error ended as often as the run asks for, where it was not yet.

    `on_graded` is called with how many are graded, and of how many. What a judge failed at is
    graded again by the next run that goes on. Raises OSError where that cannot be written.
    """
    design = folder.record.noise
    if design is None or design.judges == 1 or not folder.episodes_path.exists():
        return
    known = read_gradings(folder.gradings_path)
    missing = sum(1 for _ in _ungraded(folder, known))
    waiting = _ungraded(folder, known)  # read once more, so that none but a few are in memory
    seat = design.seats[0] if design.seats else None
    done = 0

    async def work(file: IO[bytes]) -> None:
        nonlocal done
        # A thread of its own for each, for a judge may wait as long as it likes.
        with make(settings.envs[0], wrappers=live.wrappers, **live.env_kwargs) as env:
            for episode in waiting:
                graded = await asyncio.to_thread(_graded, env, episode, seat, design.judges - 1)
                _write(file, episode, graded)
                done += 1
                on_graded(done, missing)

    at_once = min(_AT_ONCE, settings.concurrency) if settings.envs[0].blocking else 1
    if missing:
        with _opened(folder.gradings_path) as file:
            await asyncio.gather(*(work(file) for _ in range(min(at_once, missing))))


def _ungraded(folder: RunFolder, known: Mapping[Place, Graded]) -> Iterator[Episode]:
    for episode in read_last_tries(folder.episodes_path):
        if not episode.is_error and not known.get(_place(episode), Graded()).scores:
            yield episode


def score_of(episode: Episode, seat: str | None) -> float:
    """Return what a seat earned; without a name what the only one did."""
    return (
        episode.total_reward if seat is None else episode.seats[_index(episode, seat)].total_reward
    )


def _graded(env: Env, episode: Episode, seat: str | None, times: int) -> Graded:
    place = 0 if seat is None else _index(episode, seat)
    try:
        return Graded(tuple(_score(env, episode, place) for _ in range(times)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a judge may raise anything, and gave no score
        return Graded(error=in_one_line(error, at_most=_LONGEST_ERROR))


def _score(env: Env, episode: Episode, place: int) -> float:
    options = {} if episode.task is None else {"task": episode.task}
    env.reset(seed=episode.seed, **options)
    rewards = []
    for turn in episode.turns:
        step = env.step(Action(turn.action, tool_calls=turn.tool_calls))
        rewards.append(step.rewards[place])
        if step.terminated or step.truncated:
            break
    score = math.fsum(rewards)
    if not math.isfinite(score):
        raise ValueError(f"the score is {score}")
    return score


def _index(episode: Episode, seat: str) -> int:
    return next(number for number, each in enumerate(episode.seats) if each.name == seat)


def _place(episode: Episode) -> Place:
    return (episode.episode_index, episode.repeat)


def _opened(path: Path) -> IO[bytes]:
    """Open the file to append whole lines: what a kill tore before is ended by a line's end."""
    is_torn = path.exists() and path.stat().st_size > 0 and path.read_bytes()[-1:] != b"\n"
    file = path.open("ab")
    if is_torn:
        file.write(b"\n")
    return file


def _write(file: IO[bytes], episode: Episode, graded: Graded) -> None:
    plain = {
        "episode_index": episode.episode_index,
        "repeat": episode.repeat,
        "scores": graded.scores,
        "error": graded.error,
    }
    file.write(json.dumps(plain).encode("ascii") + b"\n")
    file.flush()


def _read(line: bytes) -> tuple[Place, Graded] | None:
    try:
        plain = json.loads(line)
        place = (int(plain["episode_index"]), int(plain["repeat"]))
        scores = tuple(float(score) for score in plain["scores"])
        error = None if plain["error"] is None else str(plain["error"])[:_LONGEST_ERROR]
        return (place, Graded(scores, error)) if all(map(math.isfinite, scores)) else None
    except (KeyError, TypeError, ValueError, RecursionError):
        return None

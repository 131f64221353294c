"""Tell a fault that all episodes share from one that costs an episode.

An adapter tries its environment before anything is trained, and counts afterwards how its episodes
end. Knows nothing about any framework.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import gem
from gem.content import ImagePart, Message, Observation
from gem.env import in_thread, key_seed, wait_for
from gem.errors import BadArguments, GemError, in_one_line

__all__ = [
    "Beginning",
    "Faults",
    "UnplayableError",
    "holds_images",
    "refused_images",
    "try_to_begin",
    "try_to_reset",
]

TRIES = 3
"""Resets of other seeds that have to fail before a fault counts as one of all episodes."""

EPISODES = 16
"""Episodes in a row that have to end by errors of one type before that counts as such a fault."""

STARTS = 2
"""Different starts that these episodes have: a group of one broken task is no fault of all."""


class UnplayableError(GemError):
    """An episode could not go on for a reason that every other episode has too."""


class Beginning(NamedTuple):
    """What an environment shows first, and the names of its seats."""

    observation: Observation
    seats: tuple[str, ...]


def try_to_begin(
    env_id: str,
    *,
    env_kwargs: Mapping[str, Any],
    wrappers: Sequence[Any],
    timeout_s: float | None = None,
) -> Beginning:
    """Make and reset one environment as episodes do, close it, and return how it begins.

    What raises is tried again with other seeds, `TRIES` in all: one bad task, or a server that is
    slow once, ends no training. `timeout_s` is for each try. Raises the errors of `gem.make` as
    they are, and at once; UnplayableError for any other.
    """

    def begin(seed: int) -> Beginning:
        try:
            env = gem.make(env_id, wrappers=wrappers, **env_kwargs)
        except GemError:
            raise
        except (Exception, SystemExit) as error:
            raise _FailedError from error
        try:
            return _first_prompt(env, seed)
        finally:
            with suppress(Exception):  # whether it can be closed says nothing about episodes
                env.close()

    return _first_that_begins(env_id, begin, timeout_s)


def try_to_reset(env_id: str, env: gem.Env) -> Beginning:
    """Do as `try_to_begin` with an environment that is there, for a framework that makes them."""
    return _first_that_begins(env_id, partial(_first_prompt, env), None)


def _first_prompt(env: gem.Env, seed: int) -> Beginning:
    try:
        observation: Observation = env.reset(seed=seed)[0]
    except (Exception, SystemExit) as error:
        raise _FailedError from error
    return Beginning(observation, env.seats)


def _first_that_begins(
    env_id: str, begin: Callable[[int], Beginning], timeout_s: float | None
) -> Beginning:
    async def begin_in_time(seed: int) -> Beginning:
        return await asyncio.wait_for(in_thread(begin, seed), timeout_s)

    error: BaseException | None = None
    for tried in range(TRIES):
        try:
            return wait_for(begin_in_time(key_seed("startup", tried)))
        except _FailedError as failed:
            error = failed.__cause__
        except asyncio.TimeoutError:
            error = TimeoutError(f"there was no first prompt after {timeout_s} s")
    assert error is not None
    raise UnplayableError(
        f"Episodes of {env_id!r} were to be played, and none can begin: {TRIES} were tried, and "
        f"the last ended by {in_one_line(error)}. Repair that first; `gem-env check {env_id}` "
        "tries the environment alone."
    ) from error


class _FailedError(Exception):
    """Carries what an environment raised, its cause, apart from the errors of `gem.make`."""


def holds_images(observation: Observation) -> bool:
    """Say whether an observation shows an image, alone, among parts or in a message.

    >>> holds_images("text"), holds_images([ImagePart(b"")])
    (False, True)
    """
    if isinstance(observation, str):
        return False
    pieces: Sequence[Any] = [observation] if isinstance(observation, Message) else observation
    return any(map(_is_shown, pieces))


def _is_shown(piece: Any) -> bool:
    """Say whether a part of an observation, or a message, is or has an image."""
    if not isinstance(piece, Message):
        return isinstance(piece, ImagePart)
    return not isinstance(piece.content, str) and any(map(_is_shown, piece.content))


def refused_images(env_id: str, framework: str) -> BadArguments:
    """Return the error for an environment that shows images to an adapter or a model of text."""
    return BadArguments(
        f"{env_id!r} was to be played through {framework}, and its observations hold images: text "
        "alone is handed on here. Choose an environment of text, or an adapter that takes images "
        "and a model that has a processor of them; docs/trainers.md says which.",
        subject="env_id",
    )


class Faults:
    """How the episodes of one environment end in this process; a copy elsewhere counts anew.

    Episodes are a fault of all once `EPISODES` in a row, of `STARTS` starts or more, have ended by
    errors of one type, and so has everything that had begun by then. Any other end begins the
    count anew. So a whole batch is one from `EPISODES` episodes on, and of smaller batches as many
    in a row as have so many; and those that fail fastest never speak for the others of their batch.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # some frameworks play in threads
        self._begun = 0
        self._playing: set[int] = set()
        self._forget()

    def __reduce__(self) -> tuple[type[Faults], tuple[()]]:
        return Faults, ()

    def _forget(self) -> None:
        """Begin the count anew."""
        self._kind: str | None = None
        self._failed = 0
        self._starts: set[Hashable] = set()
        self._judged_at: int | None = None  # episodes begun when there were enough in a row

    def begin(self) -> int:
        """Return the number of an episode that begins; `end` or `leave` takes it."""
        with self._lock:
            self._begun += 1
            self._playing.add(self._begun)
            return self._begun

    def leave(self, number: int) -> None:
        """Forget an episode that was given up, or that ended by something of the framework's."""
        with self._lock:
            self._playing.discard(number)

    def end(
        self, number: int, *, env_id: str, start: Hashable, error: str | None
    ) -> UnplayableError | None:
        """Count an episode that ended: by what its environment did wrong, or well (None).

        `start` is what fixed it, such as its seed and task. Return what is to be raised, None as
        long as episodes fail for themselves.
        """
        with self._lock:
            self._playing.discard(number)
            kind = None if error is None else error.partition(":")[0]
            if kind is None or kind != self._kind:
                self._forget()
            if kind is None:
                return None
            self._kind = kind
            self._failed += 1
            if len(self._starts) < STARTS:
                self._starts.add(start)
            if self._judged_at is None and self._is_enough():
                self._judged_at = self._begun
            last = self._judged_at
            if last is None or any(playing <= last for playing in self._playing):
                return None
            return UnplayableError(
                f"Episodes of {env_id!r} were to be trained on, and the last {self._failed} in "
                "this process all ended by the same kind of error: "
                f"{' '.join((error or '').split())}. Repair that, and start the training again; "
                "what was trained before is unharmed."
            )

    def _is_enough(self) -> bool:
        return self._failed >= EPISODES and len(self._starts) >= STARTS

"""The phases of an environment, and which call is refused in which.

Knows nothing about what a call does, or about the class that the call is of.
"""

from __future__ import annotations

from typing import Any

from gem.errors import EnvBusy, EnvClosed, EnvUsageError, ResetNeeded

__all__ = [
    "BUSY",
    "CLOSED",
    "ENDED",
    "NEW",
    "RUNNING",
    "AnyEnv",
    "end_episode",
    "enter_layer",
    "leave",
    "misuse",
    "refuse_unless_idle",
]

AnyEnv = Any  # an Env; naming the class here would close a circle of imports

# A snapshot holds the phase as its number: these never change.
NEW = 0
RUNNING = 1
BUSY = 2
ENDED = 3
CLOSED = 4


def leave(env: AnyEnv, phase: int) -> None:
    """Let a call of a base environment end in a phase."""
    # Another thread may have closed it during the call. It stays closed.
    if env._phase == BUSY:
        env._phase = phase


def enter_layer(env: AnyEnv, cls: type, method: str) -> bool:
    """Mark a wrapper's call as running; False for a super() call, which is already marked.

    `cls` is the class whose guard asks. Raises EnvUsageError on a call out of turn.
    """
    if env._calling:
        # A super() call comes from the guard of a class that the instance's own class inherits
        # from. A second call from outside meets the guard of the instance's own class again.
        if type(env) is cls:
            raise misuse(BUSY, method)
        return False
    env._calling = True
    phase = env.unwrapped._phase
    if phase in (BUSY, CLOSED) or (method == "step" and phase != RUNNING):
        env._calling = False
        raise misuse(phase, method)
    return True


def end_episode(env: AnyEnv) -> None:
    """End the episode of the base environment under a wrapper, if one is running."""
    base = env.unwrapped
    if base._phase == RUNNING:
        base._phase = ENDED


def refuse_unless_idle(env: AnyEnv, method: str) -> None:
    """Raise EnvBusy while a call of `env` is running, EnvClosed after its close."""
    phase = BUSY if env._is_layer and env._calling else env.unwrapped._phase
    if phase in (BUSY, CLOSED):
        raise misuse(phase, method)


def misuse(phase: int, method: str) -> EnvUsageError:
    """Return the error for a method that was called in a phase which does not allow it."""
    if phase == BUSY:
        return EnvBusy(
            f"{method} was called while another call of this environment is running. An "
            "instance takes one call at a time: make one for each task, or await the first."
        )
    if phase == CLOSED:
        return EnvClosed(f"{method} was called after close. Make another environment.")
    when = "before the first reset" if phase == NEW else "after the episode ended"
    return ResetNeeded(f"{method} was called {when}. Call reset() to start an episode.")

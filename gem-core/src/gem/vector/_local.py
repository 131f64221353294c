"""Vectors of what functions of this process make, for who has no id or spec."""

from __future__ import annotations

from collections.abc import Sequence

from gem.hosting._in_thread import InThreadHost
from gem.hosting._port import MakesEnv
from gem.hosting._threads import thread_host
from gem.vector._base import AutoReset
from gem.vector._hosted import HostedVectorEnv

__all__ = ["SyncVectorEnv", "ThreadVectorEnv"]


class SyncVectorEnv(HostedVectorEnv):
    """Step environments one after the other, in the caller's thread.

    What was sent is carried out in `recv`, in the order it was sent: `min_ready` steps, or fewer
    where `timeout_s` passes between two; one at least.
    """

    def __init__(
        self,
        makers: Sequence[MakesEnv],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
    ) -> None:
        super().__init__(InThreadHost(), makers, autoreset=autoreset, seed=seed)


class ThreadVectorEnv(HostedVectorEnv):
    """Step environments on threads, as `gem.make_vec(backend="thread")` does."""

    def __init__(
        self,
        makers: Sequence[MakesEnv],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
        num_workers: int | None = None,
        step_timeout_s: float | None = None,
    ) -> None:
        host = thread_host(
            num_envs=len(makers), num_workers=num_workers, step_timeout_s=step_timeout_s
        )
        super().__init__(host, makers, autoreset=autoreset, seed=seed)

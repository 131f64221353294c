"""The classes of `gem.vector.*_vector_env`: vectors of ours, made as gem-llm's were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from gem.env._env import Env
from gem.errors import BadArguments
from gem.vector._base import AutoReset, VectorEnv
from gem.vector._making import SyncVectorEnv as _Sync
from gem.vector._making import ThreadVectorEnv

__all__ = ["AsyncVectorEnv", "AutoresetMode", "SyncVectorEnv", "VectorEnv"]


class AutoresetMode(Enum):
    """When an environment whose episode ended begins the next."""

    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"


_MODES: dict[AutoresetMode, AutoReset] = {
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.SAME_STEP: "same_step",
}


class _FromFunctions:
    """What gem-llm's vectors were made from. A vector of ours comes after it among the bases."""

    def __init__(
        self,
        env_ids: Sequence[str],
        env_fns: Sequence[Callable[[], Env]],
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
    ) -> None:
        if len(env_ids) != len(env_fns):
            raise BadArguments(
                f"A vector was given {len(env_ids)} ids and {len(env_fns)} functions that make "
                "environments. Give one function for each id.",
                subject="env_fns",
            )
        # The next base's: a vector of ours, which takes functions and knows no ids.
        autoreset = _autoreset(autoreset_mode)
        super().__init__(env_fns, autoreset=autoreset)  # type: ignore[call-arg]  # our vector's
        self.env_ids = list(env_ids)


class SyncVectorEnv(_FromFunctions, _Sync):
    """`gem.make_vec(..., backend="sync")`, from functions that make its environments."""


class AsyncVectorEnv(_FromFunctions, ThreadVectorEnv):
    """`gem.make_vec(..., backend="thread")`, from functions that make its environments."""


def _autoreset(mode: str | AutoresetMode) -> AutoReset:
    try:
        return _MODES[AutoresetMode(mode)]
    except ValueError:
        known = ", ".join(repr(member.value) for member in AutoresetMode)
        raise BadArguments(
            f"autoreset_mode={mode!r} was asked for. There are {known}, and AutoresetMode's.",
            subject="autoreset_mode",
        ) from None

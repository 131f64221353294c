"""What every vector of environments does, on whatever backend. Knows nothing about backends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gem.content import Observation
from gem.specs import EnvSpec

__all__ = ["AutoReset", "IndexedStep", "VectorEnv", "VectorStep"]

V = TypeVar("V", bound="VectorEnv")

AutoReset = Literal["same_step", "next_step", "off"]
"""When an environment whose episode ended starts the next: at once, at its next step, never."""


class VectorStep(NamedTuple):
    """What the actions led to, one entry for each action, in the order of the actions."""

    observations: list[Observation]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    infos: list[dict[str, Any]]


class IndexedStep(NamedTuple):
    """A VectorStep, and the environment that each of its entries belongs to."""

    observations: list[Observation]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    infos: list[dict[str, Any]]
    indices: list[int]


class VectorEnv(ABC):
    """Environments stepped together. Make one with `gem.make_vec`.

    Episode `e` of environment `i` is seeded by `gem.env.episode_seed(run_seed, i, e)`, so
    what happens in it depends on neither the backend nor the other environments.

    An environment that raises costs its own episode: that one ends truncated, with reward 0, the
    observation "" and an info of `stop_reason="env_error"` and the `error`'s text; the
    environment is made anew for its next episode. Where even that fails the same info stands for
    the reset, and the environment's next step tries again.
    """

    num_envs: int
    autoreset: AutoReset

    @property
    @abstractmethod
    def specs(self) -> tuple[EnvSpec | None, ...]:
        """Each environment's spec, its wrappers included."""

    @abstractmethod
    def reset(
        self, seed: int | None = None, *, indices: Iterable[int] | None = None
    ) -> tuple[list[Observation], list[dict[str, Any]]]:
        """Start the next episode of every environment, or of those named by `indices`.

        A seed (any int) is the run seed from here on, and the episodes count from 0 again. The
        first `reset()` after `make_vec(seed=s)` equals `reset(s)`.
        """

    @abstractmethod
    def step(self, actions: Sequence[str] | Mapping[int, str]) -> VectorStep:
        """Take one action in every environment, or in those that `{index: action}` names.

        When an episode ends, by `autoreset`: "same_step" starts the next one at once, and puts
        the ended one's last observation and info into `info["final_observation"]` and
        `info["final_info"]`; "next_step" starts it in the environment's next step, whose action
        is ignored and whose reward is 0; with "off" a further step raises ResetNeeded before any
        environment is stepped.
        """

    @abstractmethod
    def send(self, actions: Sequence[str] | Mapping[int, str]) -> None:
        """Hand over actions as `step` takes them, and wait for none: `recv` gives the results.

        Several batches may be in flight, an environment in one of them: EnvBusy for one that is
        sent to again before its result was received. While anything is in flight, `step` and
        `reset` raise EnvBusy as well.
        """

    @abstractmethod
    def recv(self, min_ready: int = 1, timeout_s: float | None = None) -> IndexedStep:
        """Return what is ready, once that is `min_ready` results or all that are in flight.

        At the timeout it returns what there is then: fewer, or none. The results are those of
        `step`, in the order in which they became ready; no environment waits for a slower one,
        and what happens in an episode depends on no order. Raises EnvUsageError where nothing is
        in flight.

            vector.send(dict(enumerate(policy(vector.reset()[0]))))
            while is_wanted(results := vector.recv(min_ready=8)):
                vector.send(dict(zip(results.indices, policy(results.observations))))
        """

    @abstractmethod
    def close(self) -> None:
        """Close every environment, also where closing one raises. A second call does nothing."""

    def __len__(self) -> int:
        return self.num_envs

    def __enter__(self: V) -> V:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

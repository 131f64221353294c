"""The backend "ray" of `gem.make_vec` and `gem.rollout`. Imports Ray only when it is used."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gem.errors import BadArguments
from gem.hosting import RecoveringHost
from gem.hosting.pooled import PooledStage
from gem.hosting.processes import MOST_ANSWER_BYTES, check_pool
from gem.rollouts import EnvLike, WrapperLike, check_count
from gem.vector import AutoReset, EnvMaker
from gem.vector.pooled import PooledVectorEnv
from gem_integrations.ray.cluster import connect

__all__ = ["RayStage", "RayVectorEnv"]


class RayVectorEnv(PooledVectorEnv):
    """Step environments in `num_workers` Ray actors, one for each processor unless given.

    Ray is the one that this process is connected to, else the one at `address` ("auto", or
    "host:port" of a running cluster), else one that is started on this machine, for as long as
    this process lives. Each actor holds its environments in `processes_per_worker` processes of
    its node. Ray sets `cpus_per_worker` processors aside for each actor; without it, an actor
    needs a free one to start, and keeps none.
    """

    def __init__(
        self,
        makers: Sequence[EnvMaker],
        *,
        autoreset: AutoReset = "same_step",
        seed: int | None = None,
        num_workers: int | None = None,
        step_timeout_s: float | None = None,
        address: str | None = None,
        cpus_per_worker: float | None = None,
        processes_per_worker: int = 1,
        most_memory_bytes: int | None = None,
        most_answer_bytes: int = MOST_ANSWER_BYTES,
    ) -> None:
        hire = _hiring(
            num_workers,
            max(1, len(makers)),
            address,
            cpus_per_worker,
            processes=processes_per_worker,
            timeout_s=step_timeout_s,
            most_memory_bytes=most_memory_bytes,
            most_answer_bytes=most_answer_bytes,
        )
        super().__init__(makers, hire, autoreset=autoreset, seed=seed)


class RayStage(PooledStage):
    """Keep the environments of a rollout in Ray actors. The options are a `RayVectorEnv`'s."""

    def __init__(
        self,
        envs: Sequence[EnvLike],
        *,
        wrappers: Sequence[WrapperLike] = (),
        kwargs: Mapping[str, Any] | None = None,
        num_workers: int | None = None,
        step_timeout_s: float | None = None,
        address: str | None = None,
        cpus_per_worker: float | None = None,
        processes_per_worker: int = 1,
        most_memory_bytes: int | None = None,
        most_answer_bytes: int = MOST_ANSWER_BYTES,
    ) -> None:
        hire = _hiring(
            num_workers,
            None,
            address,
            cpus_per_worker,
            processes=processes_per_worker,
            timeout_s=step_timeout_s,
            most_memory_bytes=most_memory_bytes,
            most_answer_bytes=most_answer_bytes,
        )
        super().__init__(envs, hire, wrappers=wrappers, kwargs=kwargs)


def _hiring(
    num_workers: int | None,
    most_workers: int | None,
    address: str | None,
    cpus_per_worker: float | None,
    **options: Any,
) -> Callable[[], RecoveringHost]:
    """Connect to Ray, and return what makes a pool."""
    check_pool(1 if num_workers is None else num_workers, "forkserver", options["timeout_s"])
    _check(address, cpus_per_worker, options["processes"])
    connect(address)
    from gem_integrations.ray.pool import RayHost

    cpus = _cpus()
    number = max(1, int(cpus / (cpus_per_worker or 1))) if num_workers is None else num_workers
    number = min(number, most_workers or number)
    if number * (cpus_per_worker or 0) > cpus:
        warnings.warn(
            f"The backend 'ray' was asked for {number} workers of {cpus_per_worker:g} processors, "
            f"and the cluster has {cpus:g} processors in all. The others wait until it grows.",
            RuntimeWarning,
            stacklevel=5,
        )
    return partial(RayHost, number, cpus_per_worker=cpus_per_worker, **options)


def _cpus() -> float:
    import ray

    cpus: float = ray.cluster_resources().get("CPU", 1.0)
    return cpus


def _check(address: object, cpus_per_worker: object, processes: object) -> None:
    if not (address is None or (isinstance(address, str) and address)):
        raise BadArguments(
            f"The backend 'ray' was asked for with address={address!r}. It is 'auto' or the "
            "'host:port' of a running cluster, or None.",
            subject="address",
        )
    if not (cpus_per_worker is None or _is_amount(cpus_per_worker)):
        raise BadArguments(
            f"The backend 'ray' was asked for with cpus_per_worker={cpus_per_worker!r}. It is a "
            "number of processors, 0 or more, or None.",
            subject="cpus_per_worker",
        )
    check_count("processes_per_worker", processes)


def _is_amount(value: object) -> bool:
    return isinstance(value, (int, float)) and value >= 0 and math.isfinite(value)

"""The backend "ray" of `gem.make_vec` and `gem.rollout`. Imports Ray only when it is used."""

from __future__ import annotations

import math
import warnings

from gem.errors import BadArguments
from gem.hosting import Host, check_workers
from gem.rollouts import check_count
from gem_integrations.ray.cluster import connect

__all__ = ["ray_host"]


def ray_host(
    *,
    num_envs: int | None,
    num_workers: int | None,
    step_timeout_s: float | None,
    address: str | None = None,
    cpus_per_worker: float | None = None,
    processes_per_worker: int = 1,
    most_memory_bytes: int | None = None,
    most_answer_bytes: int | None = None,
) -> Host:
    """Connect to Ray, and return a host of `num_workers` actors: one a processor unless given.

    Ray is the one that this process is connected to, else the one at `address` ("auto", or
    "host:port" of a running cluster), else one that is started on this machine, for as long as
    this process lives. Each actor holds its environments in `processes_per_worker` processes of
    its node. Ray sets `cpus_per_worker` processors aside for each actor; without it, an actor
    needs none to start, and keeps none.
    """
    check_workers(1 if num_workers is None else num_workers, step_timeout_s)
    _check(address, cpus_per_worker, processes_per_worker)
    connect(address)
    from gem_integrations.ray.host import RayHost

    cpus = _cpus()
    number = max(1, int(cpus / (cpus_per_worker or 1))) if num_workers is None else num_workers
    number = min(number, num_envs or number)
    if number * (cpus_per_worker or 0) > cpus:
        warnings.warn(
            f"The backend 'ray' was asked for {number} workers of {cpus_per_worker:g} processors, "
            f"and the cluster has {cpus:g} processors in all. The others wait until it grows.",
            RuntimeWarning,
            stacklevel=4,
        )
    limits = {"most_memory_bytes": most_memory_bytes, "most_answer_bytes": most_answer_bytes}
    return RayHost(
        number,
        cpus_per_worker=cpus_per_worker,
        processes=processes_per_worker,
        timeout_s=step_timeout_s,
        **{name: limit for name, limit in limits.items() if limit is not None},
    )


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

"""What every policy that computes with torch has around it. Imports torch as it is called."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gem.errors import BadArguments, MissingRequirement, in_one_line
from gem.registry import pip_command

__all__ = ["check_above_zero", "device_named", "own_threads", "require"]


@contextmanager
def own_threads(threads: int | None) -> Iterator[None]:
    """Let torch compute with so many threads, and with as many as before afterwards.

    None leaves them as they are.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(before if threads is None else threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def require(subject: str, packages: Sequence[str]) -> None:
    """Raise MissingRequirement where one of the packages that compute a policy is missing."""
    for package in packages:
        try:
            importlib.import_module(package)
        except ModuleNotFoundError as error:
            if error.name != package:
                raise
            command = pip_command([package], of="gem-baselines")
            raise MissingRequirement(
                f"The policy {subject} was asked for, and {package}, which computes it, is not "
                f"installed here. Run: {command}",
                requirements=[package],
                command=command,
            ) from error


def device_named(name: str) -> Any:
    """Return torch's device of this name. Raises BadArguments where there is none of it here."""
    import torch

    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except Exception as error:  # torch has no error of its own for it, and several of Python's
        raise BadArguments(
            f"device={name!r} was asked for, and torch cannot compute there "
            f"({in_one_line(error)[:100]}). Name another one: the device 'cpu' is everywhere.",
            subject="device",
        ) from error
    return device


def check_above_zero(**quantities: float | None) -> None:
    """Raise BadArguments for a quantity that is not above 0. None is no quantity."""
    for name, quantity in quantities.items():
        if quantity is not None and not quantity > 0:
            raise BadArguments(
                f"{name}={quantity} was asked for, and has to be more than 0.", subject=name
            )

"""Every wrapper that is installed, by its id. Knows nothing about what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from gem.env import Env
from gem.errors import UnknownWrapper
from gem.making import wants_compat
from gem.registry import wrapper_spec, wrappers
from gem.targets import load_target

__all__ = ["WRAPPER_FACTORY", "wrapper_class"]


def wrapper_class(wrapper_id: str) -> Callable[..., Env]:
    """Return what puts a wrapper on an environment; with GEM_COMPAT=1 the one that gem-llm had.

    Raises UnknownWrapper, TargetError.
    """
    found = wrapper_spec(wrapper_id)
    published = found.compat_target if wants_compat(None) else None
    wrap: Callable[..., Env] = load_target(published or found.target)
    return wrap


class _Factory(Mapping[str, Callable[..., Env]]):
    """What puts each wrapper on an environment, imported as it is asked for."""

    def __getitem__(self, wrapper_id: str) -> Callable[..., Env]:
        try:
            return wrapper_class(wrapper_id)
        except UnknownWrapper as error:
            raise KeyError(wrapper_id) from error

    def __iter__(self) -> Iterator[str]:
        return (found.id for found in wrappers())

    def __len__(self) -> int:
        return len(wrappers())


WRAPPER_FACTORY: Mapping[str, Callable[..., Env]] = _Factory()
"""What puts each wrapper on an environment, by its id, as in gem-llm; `gem.make` does it here."""

"""Every wrapper that is installed, by its id. Knows nothing about what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from gem.env._env import Env
from gem.errors import UnknownWrapper
from gem.registry._catalogue import wrapper_spec, wrappers
from gem.registry._importing import load_target
from gem.registry._making import wants_compat

__all__ = ["WRAPPER_FACTORY", "wrapper_class"]


def wrapper_class(wrapper_id: str) -> Callable[..., Env]:
    """Return what puts a wrapper on an environment; with GEM_COMPAT=1 the one that gem-llm had.

    Raises UnknownWrapper, TargetError.
    """
    layer = wrapper_spec(wrapper_id)
    published = layer.compat_target if wants_compat(None) else None
    wrap: Callable[..., Env] = load_target(published or layer.target)
    return wrap


class _Factory(Mapping[str, Callable[..., Env]]):
    """What puts each wrapper on an environment, imported as it is asked for."""

    def __getitem__(self, wrapper_id: str) -> Callable[..., Env]:
        try:
            return wrapper_class(wrapper_id)
        except UnknownWrapper as error:  # what a mapping raises, so that `in` and `get` work
            raise KeyError(wrapper_id) from error

    def __iter__(self) -> Iterator[str]:
        return (layer.id for layer in wrappers())

    def __len__(self) -> int:
        return len(wrappers())


WRAPPER_FACTORY: Mapping[str, Callable[..., Env]] = _Factory()
"""What puts each wrapper on an environment, by its id, as in gem-llm; `gem.make` does it here."""

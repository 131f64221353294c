"""Every wrapper that is installed, by its id. Knows nothing about what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from gem.env import Env
from gem.errors import UnknownWrapper
from gem.registry import wrapper_spec, wrappers
from gem.targets import load_target

__all__ = ["WRAPPER_FACTORY"]


class _Factory(Mapping[str, Callable[..., Env]]):
    """What puts each wrapper on an environment, imported as it is asked for."""

    def __getitem__(self, wrapper_id: str) -> Callable[..., Env]:
        try:
            found = wrapper_spec(wrapper_id)
        except UnknownWrapper as error:
            raise KeyError(wrapper_id) from error
        wrap: Callable[..., Env] = load_target(found.target)
        return wrap

    def __iter__(self) -> Iterator[str]:
        return (found.id for found in wrappers())

    def __len__(self) -> int:
        return len(wrappers())


WRAPPER_FACTORY: Mapping[str, Callable[..., Env]] = _Factory()
"""`WRAPPER_FACTORY["concat"](env)`, as in gem-llm; `gem.make(..., wrappers=["concat"])` here."""

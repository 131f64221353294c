"""Write down an environment and its wrappers as data from which another process makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gem._python.recorded_arguments import recorded, refuse_opaque
from gem.env._env import Env
from gem.registry._blueprint import names, unfound
from gem.registry._importing import target_of
from gem.registry._making import EnvLike, WrapperLike, make, ref_of, resolve
from gem.registry._obsolete import current_kwargs
from gem.registry._registering import blueprint_of

__all__ = ["Recipe", "RecipeData"]


class Recipe:
    """What makes an environment: what `gem.make` takes.

    A call makes it in this process. `as_data` writes it down for another one.
    """

    __slots__ = ("_data", "env", "kwargs", "wrappers")

    def __init__(
        self,
        env: EnvLike,
        wrappers: Sequence[WrapperLike] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self.env = env
        self.wrappers = wrappers
        self.kwargs = kwargs or {}
        # By whether it is inherited. Thousands of environments may share one recipe.
        self._data: dict[bool, RecipeData] = {}

    def __call__(self) -> Env:
        return make(self.env, wrappers=self.wrappers, **self.kwargs)

    def __str__(self) -> str:
        return resolve(self.env).id

    def as_data(self, *, is_inherited: bool = False) -> RecipeData:
        """Return the recipe as data. Raises OpaqueError on what another process cannot rebuild.

        That is a live object among the arguments, and a class or function that no import finds:
        one of a notebook, say, or a lambda. With `is_inherited` the other process is a
        fork, and what `gem.register` was given in this one, live or not, is there too.
        """
        if is_inherited not in self._data:
            self._data[is_inherited] = _data_of(self, is_inherited=is_inherited)
        return self._data[is_inherited]


class RecipeData(NamedTuple):
    """A spec, wrappers and keyword arguments as JSON data."""

    spec: Mapping[str, Any]
    wrappers: tuple[Mapping[str, Any], ...]
    kwargs: Mapping[str, Any]


def _data_of(recipe: Recipe, *, is_inherited: bool) -> RecipeData:
    spec = resolve(recipe.env)
    # Here and not in the worker: the warning is for whoever asked, and points at their line.
    kwargs = current_kwargs(recipe.kwargs, spec.obsolete_kwargs, subject=spec.id)
    blueprint = blueprint_of(spec)._replace(overrides=kwargs)
    plain_spec, plain_kwargs = blueprint.as_data(is_inherited=is_inherited)
    layers = tuple(_layer(wrapper, spec.id) for wrapper in recipe.wrappers)
    return RecipeData(plain_spec, layers, plain_kwargs)


def _layer(like: WrapperLike, env_id: str) -> Mapping[str, Any]:
    if callable(like):
        path = target_of(like)
        if path.startswith("__main__:") or not names(path, like):
            raise unfound(env_id, path, "wrappers")
        return {"id": path}
    ref = ref_of(like)
    kwargs = recorded(ref.kwargs)
    refuse_opaque(kwargs, subject=ref.id)
    return {"id": ref.id, "kwargs": kwargs}

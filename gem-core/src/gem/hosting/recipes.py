"""Write down an environment and its wrappers as data from which another process makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gem.arguments import recorded, refuse_opaque
from gem.env import Env
from gem.errors import OpaqueError, TargetError
from gem.making import EnvLike, WrapperLike, make, resolve
from gem.obsolete import current_kwargs
from gem.registry import registration
from gem.specs import EnvSpec, WrapperRef
from gem.targets import (
    UnderwayError,
    absolute_target,
    load_target,
    target_of,
)

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
        one of the running script, say, or a lambda. With `is_inherited` the other process is a
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
    plain = recorded(kwargs)
    refuse_opaque(plain, subject=spec.id)
    local = registration(spec.id)
    if not (is_inherited and local is not None and local.spec.target == spec.target):
        refuse_opaque(spec.kwargs, subject=spec.id)
        _refuse_unless_found(spec, spec._maker if local is None else local.target)
    # A worker may have another current folder: what it gets is the whole path of a file.
    spec = spec.model_copy(update={"target": absolute_target(spec.target)})
    layers = tuple(_layer(each, spec.id) for each in recipe.wrappers)
    return RecipeData(spec.model_dump(mode="json"), layers, plain)


def _refuse_unless_found(spec: EnvSpec, target: Any) -> None:
    is_of_main = spec.target.startswith("__main__:")
    if getattr(spec._maker, "__module__", None) == "__main__" and not is_of_main:
        # It is the running script's: `spec_of_maker` found it there, and to import it here would
        # run the script again. A worker does that, as any worker of Python's does.
        return
    if is_of_main or (target is not None and not _names(spec.target, target)):
        raise _opaque(spec.id, spec.target, "target")


def _names(path: str, what: object) -> bool:
    try:
        return load_target(absolute_target(path)) is what
    except TargetError as error:
        if isinstance(error.__cause__, UnderwayError):
            raise  # it says what to do; to go on would start workers in workers without end
        return False


def _opaque(id: str, what: str, argument: str) -> OpaqueError:
    return OpaqueError(
        f"{id} was asked for in another process, where {what!r} is not found by an import. Put "
        "it into a module, under a name of its own; or register it whole before the workers "
        "start, and use start_method='fork'.",
        argument=argument,
    )


def _layer(like: WrapperLike, env_id: str) -> Mapping[str, Any]:
    if isinstance(like, str):
        return {"id": like}
    if isinstance(like, WrapperRef):
        like = {"id": like.id, "kwargs": dict(like.kwargs)}
    if isinstance(like, Mapping):
        plain = recorded({name: value for name, value in like.items() if name != "kwargs"})
        inner = recorded(like.get("kwargs", {}))
        refuse_opaque({**plain, **inner}, subject=str(like.get("id")))
        return {**plain, **({"kwargs": inner} if "kwargs" in like else {})}
    path = target_of(like)
    if path.startswith("__main__:") or not _names(path, like):
        raise _opaque(env_id, path, "wrappers")
    return {"id": path}

"""One environment, ready to be made: its spec, and the live objects that a spec cannot hold.

Knows nothing about ids, wrappers or seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gem._python.arguments import checked
from gem._python.recorded_arguments import is_opaque, recorded, refuse_opaque
from gem.env._env import Env
from gem.errors import OpaqueError, TargetError
from gem.registry._env_targets import findable, refuse_other_kinds
from gem.registry._importing import UnderwayError, absolute_target, check_requirements, load_target
from gem.specs import DataSource, EnvSpec

__all__ = ["Blueprint", "made_by", "names", "overridden", "unfound"]


class Blueprint(NamedTuple):
    """What an environment is made from, here with `build` or elsewhere from `as_data`.

    `overrides` are arguments that go before the spec's own. `target` is the callable that makes
    the environment; None where the spec's own target is to be imported. `live` are the arguments
    that were registered, of which the spec notes the type where they are no data. `provider` is
    the distribution that the spec is of, if any; `is_registered` says that this process has it.
    """

    spec: EnvSpec
    overrides: Mapping[str, Any] = {}
    target: Callable[..., Env] | None = None
    live: Mapping[str, Any] = {}
    provider: str | None = None
    is_registered: bool = False

    def check_requirements(self) -> None:
        """Raise MissingRequirement, with the pip command, unless all it needs is installed."""
        check_requirements(self.spec.requires, subject=self.spec.id, of=self.provider)

    def build(self) -> Env:
        """Make the environment, without the spec's wrappers; its spec says all that was made.

        Raises TargetError, BadArguments, and OpaqueError where a live object is not at hand.
        """
        spec = self.spec
        kwargs = overridden(spec.kwargs, self.overrides) if self.overrides else spec.kwargs
        # Nothing is made but what the spec says: it then serves this environment as it is.
        is_all_of_spec = not self.overrides and not spec.wrappers
        kwargs = {
            name: self.live.get(name, value) if is_opaque(value) else value
            for name, value in kwargs.items()
        }
        refuse_opaque(kwargs, subject=spec.id)
        target = self.target or load_target(absolute_target(spec.target))
        if spec.id == spec.target:  # nobody registered it, and so nobody has looked at it yet
            refuse_other_kinds(target, f"{spec.target!r} names")
        arguments = checked(target, kwargs, subject=spec.id, defaults=spec.kwargs)
        env = made_by(spec.target, target(**arguments))
        if is_all_of_spec:
            env.spec = spec  # one for thousands of environments
        else:
            env.spec = spec.model_copy(update={"kwargs": recorded(kwargs), "wrappers": ()})
        return env

    def as_data(self, *, is_inherited: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the spec and the overrides as JSON data: what `gem.make` takes elsewhere.

        Raises OpaqueError, by name, on a live argument and on a target that no import finds: one
        of a notebook, say, or a lambda. With `is_inherited` the other process is a fork
        of this one, where whatever was registered is at hand too.
        """
        overrides = recorded(self.overrides)
        refuse_opaque(overrides, subject=self.spec.id)
        if not (is_inherited and self.is_registered):
            refuse_opaque(self.spec.kwargs, subject=self.spec.id)
            self._refuse_unless_found()
        # Elsewhere may be another current folder: the target of a file gets its whole path.
        spec = self.spec.model_copy(update={"target": absolute_target(self.spec.target)})
        return spec.model_dump(mode="json"), overrides

    def _refuse_unless_found(self) -> None:
        path = absolute_target(self.spec.target)
        if getattr(self.target, "__module__", None) == "__main__":
            # To import it here would run the script again. A worker does that, as any worker of
            # Python's does.
            found = findable(self.target)
            is_found = found is not None and absolute_target(found) == path
        else:
            is_found = self.target is None or names(path, self.target)
        if path.startswith("__main__:") or not is_found:
            raise unfound(self.spec.id, self.spec.target, "target")


def overridden(declared: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the declared arguments with others in their place; of a `source` single fields.

    >>> declared = {"size": 4, "source": {"hub": "acme/words", "split": "train"}}
    >>> overridden(declared, {"source": {"split": "test"}})
    {'size': 4, 'source': {'hub': 'acme/words', 'split': 'test'}}
    """
    source = declared.get("source")
    change = overrides.get("source")
    if isinstance(change, DataSource):
        change = change.model_dump(exclude_unset=True)
    if isinstance(source, Mapping) and isinstance(change, Mapping):
        overrides = {**overrides, "source": {**source, **change}}
    return {**declared, **overrides}


def made_by(target: str, product: Any) -> Env:
    """Return what a target made. Raises TargetError where that is no environment."""
    if isinstance(product, Env):
        return product
    raise TargetError(
        f"{target!r} made a {type(product).__name__}, and must make a gem.Env. Name another "
        "target.",
        target=target,
    )


def names(path: str, value: object) -> bool:
    """Say whether importing a target finds this very object."""
    try:
        return load_target(absolute_target(path)) is value
    except TargetError as error:
        if isinstance(error.__cause__, UnderwayError):
            raise  # it says what to do; to go on would start workers in workers without end
        return False


def unfound(env_id: str, path: str, argument: str) -> OpaqueError:
    """Return the error for a class or function that another process would not find."""
    return OpaqueError(
        f"{env_id} was asked for in another process, where {path!r} is not found by an import. Put "
        "it into a module, under a name of its own; or register it whole before the workers "
        "start, and use start_method='fork'.",
        argument=argument,
    )

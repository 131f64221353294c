"""What this process registered itself, for scripts and notebooks, and the blueprints of it.

Knows nothing about how an id is looked up (`_catalogue`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gem._python.recorded_arguments import recorded
from gem.env._env import Env
from gem.errors import BadArguments, IdConflict
from gem.registry._blueprint import Blueprint
from gem.registry._env_targets import findable, refuse_other_kinds, spec_from
from gem.registry._importing import absolute_target, target_of
from gem.registry._installed import installed
from gem.specs import EnvSpec

__all__ = [
    "blueprint_of",
    "is_registered",
    "register",
    "registered_specs",
    "registration",
    "registrations",
    "restore_registrations",
]

_registrations: dict[str, Blueprint] = {}


def register(
    env: str | EnvSpec,
    target: str | Callable[..., Env] | None = None,
    *,
    entry_point: str | Callable[..., Env] | None = None,
    **kwargs: Any,
) -> EnvSpec:
    """Register an environment in this process, for scripts and notebooks.

    `target` is `"module:Class"` or a callable; `kwargs` are its default arguments. A whole
    EnvSpec may be given instead of an id, with a callable or without. Registering an id again
    replaces it; one that an installed pack provides is refused with IdConflict. A bare name
    `sokoban` is the id `local:sokoban`, and `entry_point` is the older name of `target`.

    >>> register("demo:Echo", "gem.testing.envs:Echo").id
    'demo:Echo'
    """
    target = entry_point if target is None else target
    id = env.id if isinstance(env, EnvSpec) else _full(env)
    owner = installed().owner("envs", id)
    if owner is not None:
        raise IdConflict(
            f"{id!r} is already provided by {owner.distribution}. Register under another id.",
            id=id,
            distributions=[owner.distribution],
        )
    if isinstance(env, str) and target is None:
        raise BadArguments(
            f"register({id!r}) needs a target: 'module:Class', or a callable.", subject=id
        )
    if target is not None and not isinstance(target, str):
        refuse_other_kinds(target, f"register({id!r}) was given")
    if isinstance(env, EnvSpec):
        declared = env
    else:
        declared = spec_from({"id": id, "target": _target_of(target)})
    # The spec is data. What is live, a class of this script or a tokenizer, is kept beside it.
    spec = declared.model_copy(update={"kwargs": {**declared.kwargs, **recorded(kwargs)}})
    live_target = None if isinstance(target, str) else target
    _registrations[id] = Blueprint(spec, target=live_target, live=kwargs, is_registered=True)
    return spec


def _target_of(target: Any) -> str:
    """Return a target as text; of a class of the running script by its file, as workers find it."""
    if getattr(target, "__module__", None) != "__main__":
        return target_of(target)
    # By its whole path: the current folder may be another one by then.
    return absolute_target(findable(target) or target_of(target))


def blueprint_of(spec: EnvSpec) -> Blueprint:
    """Return what an environment of this spec is made from, with what this process registered."""
    local = _registrations.get(spec.id)
    if local is None:
        owner = installed().owner("envs", spec.id)
        distribution = None if owner is None else owner.distribution
        return Blueprint(spec, target=spec._maker, provider=distribution)
    # A spec of that id from elsewhere, a record say, may be of another class than what this
    # process registered: its own target counts then, and no live argument is of it.
    if local.spec.target != spec.target:
        return Blueprint(spec, target=spec._maker)
    # By its fields, which is quicker than `_replace`: a rollout of thousands of episodes at once
    # makes as many environments (benchmarks/instructions.py).
    return Blueprint(
        spec,
        target=spec._maker or local.target,
        live=local.live,
        is_registered=True,
    )


def registration(env_id: str) -> Blueprint | None:
    """Return what this process registered under an id or a bare name, None for nothing."""
    return _registrations.get(_full(env_id))


def is_registered(env_id: str) -> bool:
    """Say whether this process registered the very id. A bare name is none."""
    return env_id in _registrations


def registered_specs() -> Mapping[str, EnvSpec]:
    """Return the specs of all that this process registered, by id."""
    return {id: blueprint.spec for id, blueprint in _registrations.items()}


def registrations() -> dict[str, Blueprint]:
    """Return a copy of all that this process registered, by id, for `restore_registrations`."""
    return dict(_registrations)


def restore_registrations(blueprints: Mapping[str, Blueprint]) -> None:
    """Forget what is registered, and register what `registrations` once returned."""
    _registrations.clear()
    _registrations.update(blueprints)


def _full(name: str) -> str:
    """Return the id that a bare name stands for."""
    return name if ":" in name else f"local:{name}"

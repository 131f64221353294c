"""Make a live stack of an environment and its wrappers: resolve, check, construct.

Knows nothing about how ids are found (`gem.registry`) or how environments work.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union, cast

from gem import registry
from gem.arguments import checked, recorded, refuse_opaque
from gem.blueprint import made_by
from gem.conversation import Policy
from gem.deprecation import warn_deprecated
from gem.env import Env
from gem.env_targets import spec_of_maker
from gem.errors import BadArguments, WrapperOrderError
from gem.guards import checked_seed
from gem.obsolete import current_kwargs
from gem.registry import blueprint_of, provider
from gem.specs import EnvSpec, PolicySpec, WrapperRef, WrapperSpec
from gem.targets import check_requirements, load_target, target_of
from gem.wrapper import Wrapper

__all__ = [
    "EnvLike",
    "WrapperLike",
    "make",
    "make_policy",
    "ref_of",
    "resolve",
    "wants_compat",
]

EnvLike = Union[str, EnvSpec, Mapping[str, Any], Callable[..., Env]]
"""An id, a target (`"./try.py:Parity"`, `"acme.words:Spell"`), a subclass of Env, a function that
makes an instance, a spec, or a spec as JSON data (`snapshot.spec`)."""
WrapperLike = Union[str, WrapperRef, Mapping[str, Any], Callable[[Env], Env]]
"""A wrapper's id, `{"id": ..., **kwargs}`, a WrapperRef, or a callable that wraps."""


_LAYERS = ("tool", "observation", "prompt")


def make(
    env_id: EnvLike,
    *,
    seed: int | None = None,
    wrappers: Iterable[WrapperLike] = (),
    compat: bool | None = None,
    **kwargs: Any,
) -> Env:
    """Build an environment with its wrappers, innermost first.

    It is named by an id, or by where it is: `"./try.py:Parity"`, `"acme.words:Spell"`. A class, a
    function that makes an instance, or a spec may be given instead.

    `kwargs` override the spec's own and are checked against the target's signature. `seed` fixes
    the instance's run seed: its first `reset()` equals `reset(seed=seed)`. An older id, and
    arguments of earlier releases that the spec lists, are taken with a DeprecationWarning. With
    `compat` it and its wrappers behave as those of the published gem-llm (docs/drop-in.md lists
    how); None leaves that to the variable GEM_COMPAT, which holds for ids of installed packs.
    Raises UnknownEnv, IdConflict, MissingRequirement, TargetError, BadArguments,
    WrapperOrderError.
    """
    found = resolve(env_id)
    first_seed = checked_seed(seed, "make")
    kwargs = current_kwargs(kwargs, found.obsolete_kwargs, subject=found.id)
    blueprint = blueprint_of(found)._replace(given=kwargs)
    blueprint.check_requirements()
    around = _listed(wrappers)
    if wants_compat(compat, env_id):
        # That room is above this one: it is found by its name, as what a plugin has is.
        found = load_target("gem.compat.switch:as_published")(found)
        blueprint = blueprint._replace(spec=found)
        around = list(map(load_target("gem.compat.switch:wrapper_as_published"), around))
    layers = [_layer(each) for each in (*found.wrappers, *around)]
    _check_order(layers)
    made = blueprint.build()
    made.unwrapped._first_seed = first_seed  # before the layers: one may choose a seed for itself
    for layer in layers:
        made = _put_on(layer, made)
    return made


def wants_compat(asked: bool | None, env: EnvLike | None = None) -> bool:
    """Say whether something is to be as in gem-llm: as asked, or else as GEM_COMPAT=1 says.

    The variable changes only what is named by an id, and nothing that the process registered:
    a spec is the whole of what it describes, and a script's own environments are as it wrote them.
    `env` is None for what is no environment, a wrapper by its id.
    Raises BadArguments on another value of either.
    """
    variable = os.environ.get("GEM_COMPAT") or "0"
    is_known = asked is None or asked is True or asked is False
    if not is_known or variable not in ("0", "1"):
        raise BadArguments(
            f"compat={asked!r:.40} was asked for, and the variable GEM_COMPAT is {variable!r:.40}. "
            "The first is True, False or None, the second 0 or 1.",
            subject="compat",
        )
    if asked is not None:
        return asked
    if variable == "0":
        return False
    if env is None:
        return True
    if not isinstance(env, str):
        return False
    is_own = registry.registration(env) is not None
    return registry.provider("envs", env) is not None and not is_own


def resolve(env: EnvLike) -> EnvSpec:
    """Return the spec that an id, a target, a class, a factory, a spec or its JSON data stands for.

    Imports no target. Raises BadArguments on what makes no environment.
    An older id gives a DeprecationWarning that names the one to use.
    """
    if isinstance(env, str):
        found = registry.spec(env)
        if found.replaced_by is not None:
            warn_deprecated(
                f"{found.id!r} is the id of an earlier release.",
                instead=f"Use {found.replaced_by!r}, with arguments where it shall differ.",
            )
        return found
    if isinstance(env, EnvSpec):
        return env
    given: Any = env
    if callable(given) or isinstance(given, Env):
        return spec_of_maker(given)
    return registry.spec_from(given)


class _Layer(NamedTuple):
    """One wrapper, its arguments checked before anything is built."""

    name: str
    spec: WrapperSpec | None
    ref: WrapperRef | None
    wrap: Callable[[Env], Any]


def _listed(wrappers: Iterable[WrapperLike]) -> list[WrapperLike]:
    if isinstance(wrappers, (str, Mapping)) or not isinstance(wrappers, Iterable):
        raise BadArguments(
            f"wrappers={wrappers!r} is one {type(wrappers).__name__}, and a list of wrappers is "
            "needed, innermost first.",
            subject="wrappers",
        )
    return list(wrappers)


def _layer(like: WrapperLike) -> _Layer:
    if callable(like):
        target = target_of(like.func if isinstance(like, functools.partial) else like)
        return _Layer(target.partition(":")[2], registry.wrapper_of(target), None, like)
    ref = ref_of(like)
    found = registry.wrapper_spec(ref.id)
    check_requirements(found.requires, subject=found.id, of=provider("wrappers", found.id))
    refuse_opaque(ref.kwargs, subject=found.id)
    target = load_target(found.target)
    kwargs = checked(target, ref.kwargs, subject=found.id, skip=1)
    written = WrapperRef(id=found.id, kwargs=recorded(ref.kwargs))
    return _Layer(found.id, found, written, lambda env: target(env, **kwargs))


def _put_on(layer: _Layer, env: Env) -> Env:
    wrapped = made_by(layer.spec.target if layer.spec else layer.name, layer.wrap(env))
    if layer.ref is None or layer.spec is None:
        return wrapped
    if wrapped is env or not isinstance(wrapped, Wrapper):
        return wrapped
    if wrapped.env is env:
        wrapped._ref, wrapped._blocks = layer.ref, layer.spec.blocking
    elif env.spec is not None:  # one id that stands for several layers
        blocking = env.spec.blocking or layer.spec.blocking
        stack = {"wrappers": (*env.spec.wrappers, layer.ref), "blocking": blocking}
        wrapped.spec = env.spec.model_copy(update=stack)
    return wrapped


def ref_of(layer: WrapperLike) -> WrapperRef:
    """Return a wrapper and its arguments as data. Raises BadArguments on a callable too."""
    if isinstance(layer, str):
        return WrapperRef(id=layer)
    if isinstance(layer, WrapperRef):
        return layer
    if not isinstance(layer, Mapping) or not isinstance(layer.get("id"), str):
        raise BadArguments(
            f"A wrapper was given as {layer!r:.80}, and none is known by that. Give its id, a "
            "dictionary with its 'id' and arguments, or a callable.",
            subject="wrappers",
        )
    kwargs = {name: value for name, value in layer.items() if name != "id"}
    if set(kwargs) == {"kwargs"} and isinstance(kwargs["kwargs"], Mapping):
        kwargs = dict(kwargs["kwargs"])  # a WrapperRef as JSON data
    return WrapperRef(id=layer["id"], kwargs=kwargs)


def _check_order(layers: Sequence[_Layer]) -> None:
    """Refuse a layer inside its place: tools inside observations inside one prompt."""
    depth = 0
    for count, layer in enumerate(layers, start=1):
        if layer.spec is None or layer.spec.layer == "any":
            continue
        place = _LAYERS.index(layer.spec.layer) + 1
        if place < depth or place == depth == len(_LAYERS):
            names = [each.name for each in layers]
            raise WrapperOrderError(
                f"The wrappers {', '.join(names)} cannot work in this order: {names[count - 1]!r} "
                f"is a {layer.spec.layer} wrapper around a {_LAYERS[depth - 1]} wrapper. From the "
                "inside: tools, then observations, then at most one prompt wrapper.",
                wrappers=names,
            )
        depth = place


def make_policy(policy: str, **kwargs: Any) -> Policy:
    """Make the policy that `NAME` or `NAME:ARGUMENT` names, of any installed pack.

    `kwargs` are checked against its signature. Raises UnknownPolicy, IdConflict,
    MissingRequirement, TargetError, BadArguments.
    """
    id, colon, argument = policy.partition(":")
    spec = registry.policy_spec(id)
    check_requirements(spec.requires, subject=f"The policy {id!r}", of=provider("policies", id))
    arguments = _policy_arguments(spec, argument, given=bool(colon))
    target = load_target(spec.target)
    values = checked(target, kwargs, subject=f"The policy {id!r}", skip=len(arguments))
    return cast(Policy, target(*arguments, **values))


def _policy_arguments(spec: PolicySpec, argument: str, *, given: bool) -> tuple[str, ...]:
    if spec.takes_argument is None and given:
        raise BadArguments(
            f"The policy {spec.id + ':' + argument!r} was asked for, and {spec.id!r} takes no "
            f"argument. Write {spec.id}.",
            subject=spec.id,
        )
    if spec.takes_argument is not None and not argument:
        raise BadArguments(
            f"The policy {spec.id!r} needs an argument. Write {spec.id}:{spec.takes_argument}.",
            subject=spec.id,
        )
    return (argument,) if spec.takes_argument is not None else ()

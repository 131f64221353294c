"""Make a live stack of an environment and its wrappers: resolve, check, construct.

Knows nothing about how ids are found (`gem.registry`) or how environments work.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union, cast

from gem._python.arguments import checked
from gem._python.deprecation import warn_deprecated
from gem._python.recorded_arguments import recorded, refuse_opaque
from gem.conversation import Policy
from gem.env._env import Env
from gem.env._lifecycle._seeds import checked_seed
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments, WrapperOrderError
from gem.registry._blueprint import made_by
from gem.registry._catalogue import owner, policy_spec, provider, spec, wrapper_of, wrapper_spec
from gem.registry._env_targets import spec_from, spec_of_maker
from gem.registry._importing import check_requirements, load_target, target_of
from gem.registry._obsolete import current_kwargs
from gem.registry._registering import blueprint_of
from gem.specs import EnvSpec, PolicySpec, WrapperRef, WrapperSpec

__all__ = [
    "EnvLike",
    "WrapperLike",
    "as_list",
    "make",
    "make_policy",
    "ref_of",
    "resolve",
    "wants_compat",
    "wrapped",
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
    # All that the registry knows is asked here, in one go. What follows goes by the blueprint.
    blueprint = blueprint_of(resolve(env_id))
    first_seed = checked_seed(seed, "make")
    kwargs = current_kwargs(kwargs, blueprint.spec.obsolete_kwargs, subject=blueprint.spec.id)
    if kwargs:
        blueprint = blueprint._replace(overrides=kwargs)
    # Before any import: that of a wrapper, too, could fail by what is missing here.
    blueprint.check_requirements()
    outer_wrappers = _as_wrapper_list(wrappers)
    if wants_compat(compat, env_id):
        # That room is above this one: it is found by its name, as what a plugin has is.
        as_published = load_target("gem.compat._switch:as_published")
        wrapper_as_published = load_target("gem.compat._switch:wrapper_as_published")
        blueprint = blueprint._replace(spec=as_published(blueprint.spec))
        outer_wrappers = [wrapper_as_published(wrapper) for wrapper in outer_wrappers]
    # Every layer is checked before the environment is built: a wrong argument of a wrapper must
    # not leave an environment behind that nobody closes.
    layers = [_checked_layer(wrapper) for wrapper in (*blueprint.spec.wrappers, *outer_wrappers)]
    _check_order(layers)
    env = blueprint.build()
    env.unwrapped._first_seed = first_seed  # before the layers: one may choose a seed for itself
    for layer in layers:
        env = _put_on(layer, env)
    return env


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
    return isinstance(env, str) and owner(env) is not None


def as_list(envs: EnvLike | Iterable[EnvLike]) -> list[EnvLike]:
    """Return the environments that a caller gave, one alone or several, as a list.

    What is neither stands in a list of its own: `resolve` refuses it.

    >>> as_list("game:Wordle-v0"), as_list(("game:Wordle-v0", "math:Math12K"))
    (['game:Wordle-v0'], ['game:Wordle-v0', 'math:Math12K'])
    """
    # A class is callable, and a metaclass may make it iterable: it is one environment all the same.
    is_one = isinstance(envs, (str, EnvSpec, Mapping)) or callable(envs)
    several: Any = envs
    return list(several) if isinstance(several, Iterable) and not is_one else [several]


def resolve(env: EnvLike) -> EnvSpec:
    """Return the spec that an id, a target, a class, a factory, a spec or its JSON data stands for.

    Imports no target. Raises BadArguments on what makes no environment.
    An older id gives a DeprecationWarning that names the one to use.
    """
    if isinstance(env, str):
        named = spec(env)
        if named.replaced_by is not None:
            warn_deprecated(
                f"{named.id!r} is the id of an earlier release.",
                instead=f"Use {named.replaced_by!r}, with arguments where it shall differ.",
            )
        return named
    if isinstance(env, EnvSpec):
        return env
    maker: Any = env
    # A live instance is no maker, and refused there: that error says what to give.
    if callable(maker) or isinstance(maker, Env):
        return spec_of_maker(maker)
    return spec_from(maker)


class _Layer(NamedTuple):
    """One wrapper, its arguments checked before anything is built."""

    name: str
    spec: WrapperSpec | None
    ref: WrapperRef | None
    wrap: Callable[[Env], Any]


def wrapped(env: Env, like: WrapperLike) -> Env:
    """Put one wrapper around an environment. Raises what `make` does of a wrapper."""
    return _put_on(_checked_layer(like), env)


def _as_wrapper_list(wrappers: Iterable[WrapperLike]) -> list[WrapperLike]:
    if isinstance(wrappers, (str, Mapping)) or not isinstance(wrappers, Iterable):
        raise BadArguments(
            f"wrappers={wrappers!r} is one {type(wrappers).__name__}, and a list of wrappers is "
            "needed, innermost first.",
            subject="wrappers",
        )
    return list(wrappers)


def _checked_layer(like: WrapperLike) -> _Layer:
    """Return a wrapper ready to be put on, its requirements and arguments checked."""
    if callable(like):
        target = target_of(like.func if isinstance(like, functools.partial) else like)
        return _Layer(target.partition(":")[2], wrapper_of(target), None, like)
    ref = ref_of(like)
    wrapper = wrapper_spec(ref.id)
    id = wrapper.id
    check_requirements(wrapper.requires, subject=id, of=provider("wrappers", id))
    refuse_opaque(ref.kwargs, subject=id)
    target = load_target(wrapper.target)
    if isinstance(target, type) and not issubclass(target, Env):
        raise BadArguments(
            f"The wrapper {id!r} was asked for, and {target.__name__} is a class and no "
            "gem.Wrapper. Name a subclass of it, or a function that takes an environment and "
            "returns one.",
            subject="wrappers",
        )
    kwargs = checked(target, ref.kwargs, subject=id, skip=1)  # its first is the environment
    recorded_ref = WrapperRef(id=id, kwargs=recorded(ref.kwargs))
    return _Layer(id, wrapper, recorded_ref, lambda env: target(env, **kwargs))


def _put_on(layer: _Layer, env: Env) -> Env:
    """Wrap an environment in a layer, and let the wrapper know by which id it was made."""
    wrapped = made_by(layer.spec.target if layer.spec else layer.name, layer.wrap(env))
    if layer.ref is None or layer.spec is None:
        return wrapped
    # A wrapper's function may have nothing to do, and may return an environment of its own.
    if wrapped is env or not isinstance(wrapped, Wrapper):
        return wrapped
    if wrapped.env is env:
        wrapped._ref = layer.ref
        wrapped._blocks = layer.spec.blocking
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
    """Refuse a layer inside its place: tools inside observations inside one prompt.

    Raises WrapperOrderError. `layers` come innermost first, and `depth` is the place of the
    outermost layer so far: 1 for tools, 2 for observations, 3 for a prompt, 0 for none of these.
    """
    depth = 0
    for index, layer in enumerate(layers):
        if layer.spec is None or layer.spec.layer == "any":
            continue
        place = _LAYERS.index(layer.spec.layer) + 1
        if place < depth or place == depth == len(_LAYERS):
            names = [checked_layer.name for checked_layer in layers]
            raise WrapperOrderError(
                f"The wrappers {', '.join(names)} cannot work in this order: {names[index]!r} "
                f"is of the layer {layer.spec.layer!r}, and inside it is one of the layer "
                f"{_LAYERS[depth - 1]!r}. From the inside: tools, then observations, then at most "
                "one prompt wrapper.",
                wrappers=names,
            )
        depth = place


def make_policy(policy: str, **kwargs: Any) -> Policy:
    """Make the policy that `NAME` or `NAME:ARGUMENT` names, of any installed pack.

    `kwargs` are checked against its signature. Raises UnknownPolicy, IdConflict,
    MissingRequirement, TargetError, BadArguments.
    """
    id, colon, argument = policy.partition(":")
    declared = policy_spec(id)
    subject = f"The policy {id!r}"
    check_requirements(declared.requires, subject=subject, of=provider("policies", id))
    arguments = _policy_arguments(declared, argument, has_colon=bool(colon))
    target = load_target(declared.target)
    values = checked(target, kwargs, subject=subject, skip=len(arguments))
    return cast(Policy, target(*arguments, **values))


def _policy_arguments(spec: PolicySpec, argument: str, *, has_colon: bool) -> tuple[str, ...]:
    """Return the arguments by position: that of `NAME:ARGUMENT`, or none."""
    # The colon counts also with nothing behind it: `random:` is a slip, and not `random`.
    if spec.takes_argument is None and has_colon:
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

"""Turn an id into a spec, and a spec into a live stack: look up, check, construct.

Knows nothing about how plugins are found (`gem.plugins`) or how environments work.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, Union, cast

from pydantic import ValidationError

from gem import __version__
from gem import plugins as plugin_records
from gem.arguments import checked, is_opaque, recorded, refuse_opaque
from gem.conversation import Policy
from gem.deprecation import warn_deprecated
from gem.env import Env
from gem.errors import (
    BadArguments,
    IdConflict,
    TargetError,
    UnknownEnv,
    UnknownId,
    UnknownPolicy,
    UnknownTool,
    UnknownWrapper,
    WrapperOrderError,
)
from gem.guards import checked_seed
from gem.installing import absent_providers
from gem.obsolete import current_kwargs
from gem.plugins import RIVAL, PluginRecord
from gem.searching import near
from gem.specs import (
    DataSource,
    EnvSpec,
    ExecutorSpec,
    PolicySpec,
    ToolSpec,
    WrapperRef,
    WrapperSpec,
)
from gem.targets import check_requirements, forget_installed, load_target
from gem.wrapper import Wrapper

__all__ = [
    "EnvLike",
    "WrapperLike",
    "executor_spec",
    "executors",
    "list_envs",
    "make",
    "make_policy",
    "owner",
    "plugins",
    "policies",
    "policy_spec",
    "print_envs",
    "provider",
    "refresh",
    "register",
    "resolve",
    "spec",
    "tool_spec",
    "tools",
    "versions",
    "wants_compat",
    "wrapper_spec",
    "wrappers",
]

EnvLike = Union[str, EnvSpec, Mapping[str, Any]]
"""An id, a spec, or a spec as JSON data (`snapshot.spec`)."""
WrapperLike = Union[str, WrapperRef, Mapping[str, Any], Callable[[Env], Env]]
"""A wrapper's id, `{"id": ..., **kwargs}`, a WrapperRef, or a callable that wraps."""

S = TypeVar("S", bound=Union[EnvSpec, WrapperSpec, PolicySpec])

_LAYERS = ("tool", "observation", "prompt")


class _Catalogue:
    """Every spec by kind and id, read from the installed plugins once."""

    def __init__(self) -> None:
        self.records = plugin_records.load_all()
        self.claims: dict[tuple[str, str], list[tuple[PluginRecord, Any]]] = {}
        for record in self.records:
            for kind in ("envs", "wrappers", "tools", "policies", "executors"):
                for found in getattr(record.manifest, kind, ()):
                    self.claims.setdefault((kind, found.id), []).append((record, found))

    def specs(self, kind: str) -> list[Any]:
        """Return the specs of a kind by id; of a conflict, the first."""
        return [claims[0][1] for (of, _), claims in sorted(self.claims.items()) if of == kind]


_catalogue: _Catalogue | None = None


def _installed() -> _Catalogue:
    global _catalogue
    if _catalogue is None:
        _catalogue = _Catalogue()
    return _catalogue


def refresh() -> None:
    """Forget what was scanned, so that plugins installed since are found."""
    global _catalogue
    _catalogue = None
    forget_installed()


def plugins() -> tuple[PluginRecord, ...]:
    """Return every installed plugin, the failed ones too, with its state."""
    return _installed().records


def owner(env_id: str) -> PluginRecord | None:
    """Return the plugin that provides an environment, None for one registered in process."""
    claims = _installed().claims.get(("envs", env_id))
    return claims[0][0] if claims and env_id not in _local else None


def provider(kind: str, id: str) -> str | None:
    """Return the distribution that provides an id of a kind: a field of a manifest, as "envs"."""
    claims = _installed().claims.get((kind, id))
    return claims[0][0].distribution if claims else None


def versions(env_id: str) -> dict[str, str]:
    """Return the versions of core and of the pack that provides an environment."""
    record = owner(env_id)
    pack = {record.distribution: record.version} if record else {}
    return {"gem-core": __version__, **pack}


def list_envs(pattern: str = "*") -> list[EnvSpec]:
    """Return the specs whose id matches a shell pattern, by id. Imports manifests only.

    Older ids, which have a `replaced_by`, are left out but where the pattern is one itself.
    """
    known = {found.id: found for found in _installed().specs("envs")}
    known.update({id: local.spec for id, local in _local.items()})
    return [
        known[id]
        for id in sorted(known)
        if fnmatch.fnmatchcase(id, pattern) and (id == pattern or known[id].replaced_by is None)
    ]


def print_envs() -> None:
    """Print the id of every environment, one a line: an older way to ask `gem-env list`."""
    sys.stdout.writelines(f"{found.id}\n" for found in list_envs())


def wrappers() -> list[WrapperSpec]:
    """Return every wrapper's spec, by id."""
    return _installed().specs("wrappers")


def tools() -> list[ToolSpec]:
    """Return every tool's spec, by id."""
    return _installed().specs("tools")


def policies() -> list[PolicySpec]:
    """Return every policy's spec, by id."""
    return _installed().specs("policies")


def executors() -> list[ExecutorSpec]:
    """Return the spec of every backend, by id: the words that `backend=` takes."""
    return _installed().specs("executors")


def spec(env_id: str) -> EnvSpec:
    """Return an environment's spec. Raises UnknownEnv, with near ids, or IdConflict."""
    if _full(env_id) in _local:
        return _local[_full(env_id)].spec
    return cast(EnvSpec, _find("envs", env_id, UnknownEnv, "gem-env list"))


def wrapper_spec(wrapper_id: str) -> WrapperSpec:
    """Return a wrapper's spec. Raises UnknownWrapper or IdConflict.

    A `module:Class` target is an id as well: it needs no plugin.
    """
    if ":" in wrapper_id:
        provided = _provided(wrapper_id)
        if provided is not None:
            return provided
        found = load_target(wrapper_id)
        rewrites = getattr(found, "rewrites_history", False) is True
        return WrapperSpec.model_construct(
            id=wrapper_id, target=wrapper_id, rewrites_history=rewrites
        )
    return cast(
        WrapperSpec, _find("wrappers", wrapper_id, UnknownWrapper, "gem-env list --wrappers")
    )


def _provided(target: str) -> WrapperSpec | None:
    """Return the spec of the wrapper that has this target, if a plugin has one."""
    return next((found for found in wrappers() if found.target == target), None)


def policy_spec(policy_id: str) -> PolicySpec:
    """Return a policy's spec. Raises UnknownPolicy or IdConflict."""
    return cast(PolicySpec, _find("policies", policy_id, UnknownPolicy, "gem-env eval --help"))


def tool_spec(tool_id: str) -> ToolSpec:
    """Return a tool's spec. Raises UnknownTool or IdConflict."""
    return cast(ToolSpec, _find("tools", tool_id, UnknownTool, "gem-env list --tools"))


def executor_spec(backend: str) -> ExecutorSpec:
    """Return a backend's spec. Raises BadArguments, with those installed, or IdConflict."""
    installed = [found.id for found in executors()]
    if backend not in installed:
        raise BadArguments(
            f"backend={backend!r} was asked for. Installed: {', '.join(map(repr, installed))}. "
            f"Choose one of them, or install the pack that provides it. "
            f"{_absent('executors', backend)}{_doubt()}".rstrip(),
            subject="backend",
        )
    return cast(ExecutorSpec, _find("executors", backend, UnknownId, "gem-env plugins"))


def _find(kind: str, id: str, unknown: type[UnknownId], listing: str) -> Any:
    claims = _installed().claims.get((kind, id), [])
    if not claims:
        raise _unknown(kind, id, unknown, listing)
    if len(claims) > 1:
        owners = [f"{record.distribution} {record.version}" for record, _ in claims]
        raise IdConflict(
            f"{id!r} is claimed by {' and '.join(owners)}, and choosing between them would be a "
            "guess. Uninstall all but one.",
            id=id,
            distributions=owners,
        )
    return claims[0][1]


def _unknown(kind: str, id: str, unknown: type[UnknownId], listing: str) -> UnknownId:
    known = [found for of, found in _installed().claims if of == kind]
    known += [local for local in _local if kind == "envs"]
    word = id.partition(":")[0] if kind == "envs" else id
    missing = _absent(kind, word)
    suggestions = near(id, known)
    if missing and not any(each.startswith(f"{word}:") for each in suggestions):
        suggestions = []
    else:
        missing = ""
    hint = f"Did you mean {' or '.join(map(repr, suggestions))}? " if suggestions else ""
    return unknown(
        f"No installed pack provides the {unknown.kind} {id!r}. {hint}{missing}{_doubt()}"
        f"Run `{listing}` to see every one.",
        id=id,
        suggestions=suggestions,
    )


def _absent(kind: str, word: str) -> str:
    """Say which packs are known to provide a word, an id's namespace, and are not installed."""
    shown = f"{word}:" if kind == "envs" else word
    return "".join(
        f"{absent.distribution} provides {shown} and is not installed: `{absent.command}`. "
        for absent in absent_providers(kind, word)
    )


def _doubt() -> str:
    """Say which plugins do not work: the id may be one of theirs."""
    broken = [record for record in plugins() if record.state != "ok"]
    if not broken:
        return ""
    names = ", ".join(record.distribution for record in broken)
    rivals = "".join(f"{each.error} " for each in broken if each.name == RIVAL)
    return f"These plugins have a problem: {names} (see `gem-env plugins`). {rivals}"


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
    claimed = _installed().claims.get(("envs", id))
    if claimed:
        distribution = claimed[0][0].distribution
        raise IdConflict(
            f"{id!r} is already provided by {distribution}. Register under another id.",
            id=id,
            distributions=[distribution],
        )
    if isinstance(env, str) and target is None:
        raise BadArguments(
            f"register({id!r}) needs a target: 'module:Class', or a callable.", subject=id
        )
    found = env if isinstance(env, EnvSpec) else _described({"id": id, "target": _name(target)})
    found = found.model_copy(update={"kwargs": {**found.kwargs, **recorded(kwargs)}})
    _local[id] = _Local(found, None if isinstance(target, str) else target, kwargs)
    return found


def _full(name: str) -> str:
    """Return the id that a bare name stands for."""
    return name if ":" in name else f"local:{name}"


class _Local(NamedTuple):
    """What was registered in this process: live objects stay live here."""

    spec: EnvSpec
    target: Callable[..., Env] | None
    kwargs: Mapping[str, Any]


_local: dict[str, _Local] = {}


def _name(target: str | Callable[..., Env] | None) -> str:
    if isinstance(target, str):
        return target
    return f"{target.__module__}:{getattr(target, '__qualname__', type(target).__qualname__)}"


def make(
    env_id: EnvLike,
    *,
    seed: int | None = None,
    wrappers: Iterable[WrapperLike] = (),
    compat: bool | None = None,
    **kwargs: Any,
) -> Env:
    """Build an environment with its wrappers, innermost first.

    `kwargs` override the spec's own and are checked against the target's signature. `seed`
    fixes the instance's run seed: its first `reset()` equals `reset(seed=seed)`. An older id, and
    arguments of earlier releases that the spec lists, are taken with a DeprecationWarning. With
    `compat` it and its wrappers behave as those of the published gem-llm (docs/drop-in.md lists
    how); None leaves that to the variable GEM_COMPAT, which holds for ids of installed packs.
    Raises UnknownEnv, IdConflict, MissingRequirement, TargetError, BadArguments,
    WrapperOrderError.
    """
    found, first_seed = resolve(env_id), checked_seed(seed, "make")
    kwargs = current_kwargs(kwargs, found.obsolete_kwargs, subject=found.id)
    check_requirements(found.requires, subject=found.id, of=provider("envs", found.id))
    around = _listed(wrappers)
    if wants_compat(compat, env_id):
        # That room is above this one: it is found by its name, as what a plugin has is.
        found = load_target("gem.compat.switch:as_published")(found)
        around = list(map(load_target("gem.compat.switch:wrapper_as_published"), around))
    layers = [_layer(each) for each in (*found.wrappers, *around)]
    _check_order(layers)
    made = _construct(found, _overridden(found.kwargs, kwargs) if kwargs else found.kwargs)
    made.unwrapped._first_seed = first_seed
    for layer in layers:
        made = _put_on(layer, made)
    return made


def wants_compat(asked: bool | None, env: EnvLike = "") -> bool:
    """Say whether something is to be as in gem-llm: as asked, or else as GEM_COMPAT=1 says.

    The variable changes only what is named by an id, and nothing that the process registered:
    a spec is the whole of what it describes, and a script's own environments are as it wrote them.
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
    is_own = isinstance(env, str) and _full(env) in _local
    return variable == "1" and isinstance(env, str) and not is_own


def _overridden(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, the given ones first; of a `source` only the fields that are given."""
    source, change = declared.get("source"), given.get("source")
    if isinstance(change, DataSource):
        change = change.model_dump(exclude_unset=True)
    if isinstance(source, Mapping) and isinstance(change, Mapping):
        given = {**given, "source": {**source, **change}}
    return {**declared, **given}


def resolve(env: EnvLike) -> EnvSpec:
    """Return the spec that an id, a spec or its JSON data stands for. Imports no target.

    An older id gives a DeprecationWarning that names the one to use.
    """
    if isinstance(env, str):
        found = spec(env)
        if found.replaced_by is not None:
            warn_deprecated(
                f"{found.id!r} is the id of an earlier release.",
                instead=f"Use {found.replaced_by!r}, with arguments where it shall differ.",
            )
        return found
    if isinstance(env, EnvSpec):
        return env
    if isinstance(env, (type, Env)):
        raise _not_registered(env)
    return _described(env)


def _not_registered(env: type | Env) -> BadArguments:
    name = env.__name__ if isinstance(env, type) else type(env).__name__
    kind = "a class" if isinstance(env, type) else "a live instance"
    return BadArguments(
        f"An environment was asked for by {name}, which is {kind}. Give it an id first, and ask "
        f'by that: gem.register("my:{name}-v0", {name}).',
        subject=name,
    )


def _described(plain: Mapping[str, Any]) -> EnvSpec:
    try:
        return EnvSpec.model_validate(plain)
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, each['loc'])) or 'all of it'}: {each['msg']}"
            for each in error.errors(include_url=False)
        ]
        raise BadArguments(
            f"{plain!r:.80} does not describe an environment ({'; '.join(problems)}). Give an id "
            "such as 'acme:Words-v0', an EnvSpec, or its JSON data.",
            subject="env",
            problems=problems,
        ) from error


def _construct(found: EnvSpec, kwargs: Mapping[str, Any]) -> Env:
    local = _local.get(found.id)
    if local is None or local.spec.target != found.target:
        local = _Local(found, None, {})
    is_as_found = kwargs is found.kwargs and not found.wrappers
    kwargs = {
        name: local.kwargs.get(name, value) if is_opaque(value) else value
        for name, value in kwargs.items()
    }
    refuse_opaque(kwargs, subject=found.id)
    target = local.target or load_target(found.target)
    taken = checked(target, kwargs, subject=found.id, defaults=found.kwargs)
    made = _env(target(**taken), found.target)
    if is_as_found:
        made.spec = found  # one for thousands of environments
    else:
        made.spec = found.model_copy(update={"kwargs": recorded(kwargs), "wrappers": ()})
    return made


def _env(made: Any, target: str) -> Env:
    if isinstance(made, Env):
        return made
    raise TargetError(
        f"{target!r} made a {type(made).__name__}, and must make a gem.Env. Name another target.",
        target=target,
    )


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
        of = like.func if isinstance(like, functools.partial) else like
        return _Layer(_name(of).partition(":")[2], _provided(_name(of)), None, like)
    ref = _as_ref(like)
    found = wrapper_spec(ref.id)
    check_requirements(found.requires, subject=found.id, of=provider("wrappers", found.id))
    refuse_opaque(ref.kwargs, subject=found.id)
    target = load_target(found.target)
    kwargs = checked(target, ref.kwargs, subject=found.id, skip=1)
    written = WrapperRef(id=found.id, kwargs=recorded(ref.kwargs))
    return _Layer(found.id, found, written, lambda env: target(env, **kwargs))


def _put_on(layer: _Layer, env: Env) -> Env:
    wrapped = _env(layer.wrap(env), layer.spec.target if layer.spec else layer.name)
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


def _as_ref(layer: Any) -> WrapperRef:
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
    spec = policy_spec(id)
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

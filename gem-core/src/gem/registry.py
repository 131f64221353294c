"""Turn an id into a spec, and a spec into a live stack: look up, check, construct.

Knows nothing about how plugins are found (`gem.plugins`) or how environments work.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, Union, cast

from pydantic import ValidationError

from gem import plugins as plugin_records
from gem.arguments import checked, is_opaque, recorded, refuse_opaque
from gem.env import Env
from gem.errors import (
    BadArguments,
    IdConflict,
    TargetError,
    UnknownEnv,
    UnknownId,
    UnknownPolicy,
    UnknownWrapper,
    WrapperOrderError,
)
from gem.plugins import PluginRecord
from gem.specs import EnvSpec, PolicySpec, WrapperRef, WrapperSpec
from gem.targets import check_requirements, load_target
from gem.wrapper import Wrapper

__all__ = [
    "EnvLike",
    "WrapperLike",
    "list_envs",
    "make",
    "owner",
    "plugins",
    "policies",
    "policy_spec",
    "refresh",
    "register",
    "resolve",
    "spec",
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
            for kind in ("envs", "wrappers", "policies"):
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


def plugins() -> tuple[PluginRecord, ...]:
    """Return every installed plugin, the failed ones too, with its state."""
    return _installed().records


def owner(env_id: str) -> PluginRecord | None:
    """Return the plugin that provides an environment, None for one registered in process."""
    claims = _installed().claims.get(("envs", env_id))
    return claims[0][0] if claims and env_id not in _local else None


def list_envs(pattern: str = "*") -> list[EnvSpec]:
    """Return the specs whose id matches a shell pattern, by id. Imports manifests only."""
    known = {found.id: found for found in _installed().specs("envs")}
    known.update({id: local.spec for id, local in _local.items()})
    return [known[id] for id in sorted(known) if fnmatch.fnmatchcase(id, pattern)]


def wrappers() -> list[WrapperSpec]:
    """Return every wrapper's spec, by id."""
    return _installed().specs("wrappers")


def policies() -> list[PolicySpec]:
    """Return every policy's spec, by id."""
    return _installed().specs("policies")


def spec(env_id: str) -> EnvSpec:
    """Return an environment's spec. Raises UnknownEnv, with near ids, or IdConflict."""
    if env_id in _local:
        return _local[env_id].spec
    return cast(EnvSpec, _find("envs", env_id, UnknownEnv, "gem-env list"))


def wrapper_spec(wrapper_id: str) -> WrapperSpec:
    """Return a wrapper's spec. Raises UnknownWrapper or IdConflict.

    A `module:Class` target is an id as well: it needs no plugin.
    """
    if ":" in wrapper_id:
        found = load_target(wrapper_id)
        rewrites = getattr(found, "rewrites_history", False) is True
        return WrapperSpec.model_construct(
            id=wrapper_id, target=wrapper_id, rewrites_history=rewrites
        )
    return cast(
        WrapperSpec, _find("wrappers", wrapper_id, UnknownWrapper, "gem-env list --wrappers")
    )


def policy_spec(policy_id: str) -> PolicySpec:
    """Return a policy's spec. Raises UnknownPolicy or IdConflict."""
    return cast(PolicySpec, _find("policies", policy_id, UnknownPolicy, "gem-env eval --help"))


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
    near = _near(id, known)
    hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    broken = [record.distribution for record in plugins() if record.state != "ok"]
    doubt = (
        f"These plugins did not load: {', '.join(broken)} (see `gem-env plugins`). "
        if broken
        else ""
    )
    return unknown(
        f"No installed pack provides the {unknown.kind} {id!r}. {hint}{doubt}"
        f"Run `{listing}` to see every one.",
        id=id,
        suggestions=near,
    )


def _near(id: str, known: Sequence[str]) -> list[str]:
    """Return up to three known ids that are spelled alike, whatever their case or namespace."""
    folded: dict[str, str] = {}
    for each in known:
        folded.setdefault(each.lower(), each)
        folded.setdefault(each.lower().partition(":")[2], each)
    near = difflib.get_close_matches(id.lower(), list(folded), n=6, cutoff=0.6)
    return list(dict.fromkeys(folded[each] for each in near))[:3]


def register(
    env: str | EnvSpec, target: str | Callable[..., Env] | None = None, **kwargs: Any
) -> EnvSpec:
    """Register an environment in this process, for scripts and notebooks.

    `target` is `"module:Class"` or a callable; `kwargs` are its default arguments. A whole
    EnvSpec may be given instead of an id, with a callable or without. Registering an id again
    replaces it; one that an installed pack provides is refused with IdConflict.

    >>> register("demo:Echo", "gem.testing.envs:Echo").id
    'demo:Echo'
    """
    id = env if isinstance(env, str) else env.id
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
    env: EnvLike, *, seed: int | None = None, wrappers: Iterable[WrapperLike] = (), **kwargs: Any
) -> Env:
    """Build an environment with its wrappers, innermost first.

    `kwargs` override the spec's own and are checked against the target's signature. `seed`
    fixes the instance's run seed: its first `reset()` equals `reset(seed=seed)`. Raises
    UnknownEnv, IdConflict, MissingRequirement, TargetError, BadArguments, WrapperOrderError.
    """
    found = resolve(env)
    check_requirements(found.requires, subject=found.id)
    made = _construct(found, {**found.kwargs, **kwargs})
    made._first_seed = seed
    return _wrap(made, [*found.wrappers, *wrappers])


def resolve(env: EnvLike) -> EnvSpec:
    """Return the spec that an id, a spec or its JSON data stands for. Imports no target."""
    if isinstance(env, str):
        return spec(env)
    return env if isinstance(env, EnvSpec) else _described(env)


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


def _construct(found: EnvSpec, kwargs: dict[str, Any]) -> Env:
    local = _local.get(found.id, _Local(found, None, {}))
    kwargs = {
        name: local.kwargs.get(name, value) if is_opaque(value) else value
        for name, value in kwargs.items()
    }
    refuse_opaque(kwargs, subject=found.id)
    target = local.target or load_target(found.target)
    made = target(**checked(target, kwargs, subject=found.id))
    if not isinstance(made, Env):
        raise TargetError(
            f"{found.target!r} made a {type(made).__name__}, and must make a gem.Env.",
            target=found.target,
        )
    made.spec = found.model_copy(update={"kwargs": recorded(kwargs), "wrappers": ()})
    return made


def _wrap(env: Env, layers: Sequence[WrapperLike]) -> Env:
    names: list[str] = []
    depth = 0
    for layer in layers:
        name, found, env = _add(env, layer)
        names.append(name)
        depth = _check_order(names, found, depth)
    return env


def _add(env: Env, layer: WrapperLike) -> tuple[str, WrapperSpec | None, Env]:
    if isinstance(layer, Callable):  # type: ignore[arg-type]
        wrapped = layer(env)  # type: ignore[operator]
        return getattr(layer, "__name__", type(wrapped).__name__), None, wrapped
    ref = _as_ref(layer)  # type: ignore[arg-type]
    found = wrapper_spec(ref.id)
    check_requirements(found.requires, subject=found.id)
    refuse_opaque(ref.kwargs, subject=found.id)
    target = load_target(found.target)
    wrapped = target(env, **checked(target, ref.kwargs, subject=found.id, skip=1))
    if isinstance(wrapped, Wrapper):
        wrapped._ref = WrapperRef(id=found.id, kwargs=recorded(ref.kwargs))
        wrapped._blocks = found.blocking
    return found.id, found, wrapped


def _as_ref(layer: str | WrapperRef | Mapping[str, Any]) -> WrapperRef:
    if isinstance(layer, str):
        return WrapperRef(id=layer)
    if isinstance(layer, WrapperRef):
        return layer
    id = layer.get("id")
    if not isinstance(id, str):
        raise BadArguments(
            f"A wrapper was given as {dict(layer)!r}, without its 'id'.", subject="wrappers"
        )
    return WrapperRef(id=id, kwargs={name: value for name, value in layer.items() if name != "id"})


def _check_order(names: list[str], found: WrapperSpec | None, depth: int) -> int:
    """Refuse a layer inside its place: tools inside observations inside one prompt."""
    if found is None or found.layer == "any":
        return depth
    place = _LAYERS.index(found.layer) + 1
    if place < depth or place == depth == len(_LAYERS):
        raise WrapperOrderError(
            f"The wrappers {', '.join(names)} cannot work in this order: {names[-1]!r} is a "
            f"{found.layer} wrapper around a {_LAYERS[depth - 1]} wrapper. From the inside: "
            "tools, then observations, then at most one prompt wrapper.",
            wrappers=names,
        )
    return max(place, depth)

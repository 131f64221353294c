"""Turn an id into a spec: what is installed and what this process registered, listed and found.

Knows nothing about how plugins are found (`gem.plugins`) or what is made of a spec (`gem.making`).
What a plugin's own code needs to make something of a spec is here too: `check_requirements` and
`pip_command` for what is not installed, `load_target`, `checked` and `recorded` for arguments.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import ValidationError

from gem import __version__
from gem import plugins as plugin_records
from gem.arguments import checked, recorded
from gem.blueprint import Blueprint
from gem.env import Env
from gem.env_targets import names_a_target, source_versions, spec_of_target
from gem.errors import (
    BadArguments,
    IdConflict,
    UnknownEnv,
    UnknownId,
    UnknownPolicy,
    UnknownTool,
    UnknownWrapper,
    problems_of,
)
from gem.installing import absent_providers, pip_command
from gem.plugins import RIVAL, PluginRecord
from gem.searching import near
from gem.specs import EnvSpec, ExecutorSpec, PolicySpec, ToolSpec, WrapperSpec
from gem.targets import check_requirements, forget_installed, load_target, target_of

__all__ = [
    "blueprint_of",
    "check_requirements",
    "checked",
    "executor_spec",
    "executors",
    "list_envs",
    "load_target",
    "near",
    "owner",
    "pip_command",
    "plugins",
    "policies",
    "policy_spec",
    "provider",
    "recorded",
    "refresh",
    "register",
    "registration",
    "spec",
    "spec_from",
    "tool_spec",
    "tools",
    "versions",
    "wrapper_of",
    "wrapper_spec",
    "wrappers",
]


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
    """Return the versions of core and of the pack that provides an environment.

    Of one that is in no pack the digest of its file stands for the version.
    """
    record = owner(env_id)
    if record is not None:
        pack = {record.distribution: record.version}
    else:
        pack = {} if env_id in _local else source_versions(env_id)
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
    """Return an environment's spec. Raises UnknownEnv, with near ids, or IdConflict.

    The target of an environment that is in no pack, `./try.py:Parity`, is an id as well.
    """
    local = registration(env_id)
    if local is not None:
        return local.spec
    if ("envs", env_id) not in _installed().claims and _is_target(env_id):
        return spec_of_target(env_id)
    return cast(EnvSpec, _find("envs", env_id, UnknownEnv, "gem-env list"))


def _is_target(env_id: str) -> bool:
    """Say whether a text that is no id names a target. Known namespaces have ids alone.

    `math:Arithmetik` is a misspelt id, although Python has a module `math`.
    """
    if not names_a_target(env_id):
        return False
    namespace, colon, _ = env_id.partition(":")
    if not namespace.isidentifier():  # a file, or a module in a package: no id begins so
        return True
    known = [id for kind, id in _installed().claims if kind == "envs"]
    is_known = any(id.startswith(f"{namespace}{colon}") for id in (*known, *_local))
    return not is_known and not absent_providers("envs", namespace)


def wrapper_spec(wrapper_id: str) -> WrapperSpec:
    """Return a wrapper's spec. Raises UnknownWrapper or IdConflict.

    A `module:Class` target is an id as well: it needs no plugin.
    """
    if ":" in wrapper_id:
        provided = wrapper_of(wrapper_id)
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


def wrapper_of(target: str) -> WrapperSpec | None:
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
    found = env if isinstance(env, EnvSpec) else spec_from({"id": id, "target": target_of(target)})
    found = found.model_copy(update={"kwargs": {**found.kwargs, **recorded(kwargs)}})
    live_target = None if isinstance(target, str) else target
    _local[id] = Blueprint(found, target=live_target, live=kwargs, is_registered=True)
    return found


def blueprint_of(found: EnvSpec) -> Blueprint:
    """Return what an environment of this spec is made from, with what this process registered."""
    local = _local.get(found.id)
    if local is None:
        return Blueprint(found, target=found._maker, provider=provider("envs", found.id))
    if local.spec.target != found.target:
        return Blueprint(found, target=found._maker)
    return local._replace(spec=found, target=found._maker or local.target)


def registration(env_id: str) -> Blueprint | None:
    """Return what this process registered under an id or a bare name, None for nothing."""
    return _local.get(_full(env_id))


def _full(name: str) -> str:
    """Return the id that a bare name stands for."""
    return name if ":" in name else f"local:{name}"


_local: dict[str, Blueprint] = {}


def spec_from(plain: Mapping[str, Any]) -> EnvSpec:
    """Return the spec that JSON data describes. Raises BadArguments, with every problem in it."""
    try:
        return EnvSpec.model_validate(plain)
    except ValidationError as error:
        problems = problems_of(error)
        raise BadArguments(
            f"{plain!r:.80} does not describe an environment ({'; '.join(problems)}). Give an id "
            "such as 'acme:Words-v0', an EnvSpec, or its JSON data.",
            subject="env",
            problems=problems,
        ) from error

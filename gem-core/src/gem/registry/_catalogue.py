"""Turn an id into a spec, and list what there is: what is installed and what was registered here.

Knows nothing about how plugins are found (`_discovery`) or what is made of a spec (`_making`).
"""

from __future__ import annotations

import fnmatch
from typing import Any, cast

from gem import __version__
from gem._python.near_names import near
from gem.errors import (
    BadArguments,
    IdConflict,
    UnknownEnv,
    UnknownId,
    UnknownPolicy,
    UnknownTool,
    UnknownWrapper,
)
from gem.registry._discovery import RIVAL, PluginRecord
from gem.registry._env_targets import names_a_target, source_versions, spec_of_target
from gem.registry._importing import load_target
from gem.registry._installed import installed
from gem.registry._installing import absent_providers
from gem.registry._registering import is_registered, registered_specs, registration
from gem.specs import EnvSpec, ExecutorSpec, PolicySpec, ToolSpec, WrapperSpec

__all__ = [
    "executor_spec",
    "executors",
    "is_provided",
    "list_envs",
    "owner",
    "plugins",
    "policies",
    "policy_spec",
    "provider",
    "spec",
    "tool_spec",
    "tools",
    "versions",
    "wrapper_of",
    "wrapper_spec",
    "wrappers",
]


def plugins() -> tuple[PluginRecord, ...]:
    """Return every installed plugin, the failed ones too, with its state."""
    return installed().records


def owner(env_id: str) -> PluginRecord | None:
    """Return the plugin that provides an environment, None for one registered in process."""
    return None if is_registered(env_id) else installed().owner("envs", env_id)


def provider(kind: str, id: str) -> str | None:
    """Return the distribution that provides an id of a kind: a field of a manifest, as "envs"."""
    record = installed().owner(kind, id)
    return None if record is None else record.distribution


def is_provided(env_id: str) -> bool:
    """Say whether an installed pack provides an environment, or this process registered it.

    The code of any other is what the id itself names: a file or a module.
    """
    return provider("envs", env_id) is not None or is_registered(env_id)


def versions(env_id: str) -> dict[str, str]:
    """Return the versions of core and of the pack that provides an environment.

    Of one that is in no pack the digest of its file stands for the version.
    """
    record = owner(env_id)
    if record is not None:
        pack = {record.distribution: record.version}
    elif is_registered(env_id):
        pack = {}
    else:
        pack = source_versions(env_id)
    return {"gem-core": __version__, **pack}


def list_envs(pattern: str = "*") -> list[EnvSpec]:
    """Return the specs whose id matches a shell pattern, by id. Imports manifests only.

    Older ids, which have a `replaced_by`, are left out but where the pattern is one itself.
    """
    known = {spec.id: spec for spec in installed().specs("envs")}
    known.update(registered_specs())
    return [
        known[id]
        for id in sorted(known)
        if fnmatch.fnmatchcase(id, pattern) and (id == pattern or known[id].replaced_by is None)
    ]


def wrappers() -> list[WrapperSpec]:
    """Return every wrapper's spec, by id."""
    return installed().specs("wrappers")


def tools() -> list[ToolSpec]:
    """Return every tool's spec, by id."""
    return installed().specs("tools")


def policies() -> list[PolicySpec]:
    """Return every policy's spec, by id."""
    return installed().specs("policies")


def executors() -> list[ExecutorSpec]:
    """Return the spec of every backend, by id: the words that `backend=` takes."""
    return installed().specs("executors")


def spec(env_id: str) -> EnvSpec:
    """Return an environment's spec. Raises UnknownEnv, with near ids, or IdConflict.

    The target of an environment that is in no pack, `./try.py:Parity`, is an id as well.
    """
    local = registration(env_id)
    if local is not None:
        return local.spec
    if ("envs", env_id) not in installed().claims and _is_target(env_id):
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
    known = (*installed().ids("envs"), *registered_specs())
    is_known = any(id.startswith(f"{namespace}{colon}") for id in known)
    return not is_known and not absent_providers("envs", namespace)


def wrapper_spec(wrapper_id: str) -> WrapperSpec:
    """Return a wrapper's spec. Raises UnknownWrapper or IdConflict.

    A `module:Class` target is an id as well: it needs no plugin.
    """
    if ":" in wrapper_id:
        provided = wrapper_of(wrapper_id)
        if provided is not None:
            return provided
        wrapper = load_target(wrapper_id)
        # Exactly True: of a class it may also be a property.
        rewrites = getattr(wrapper, "rewrites_history", False) is True
        return WrapperSpec.model_construct(
            id=wrapper_id, target=wrapper_id, rewrites_history=rewrites
        )
    return cast(
        WrapperSpec, _find("wrappers", wrapper_id, UnknownWrapper, "gem-env list --wrappers")
    )


def wrapper_of(target: str) -> WrapperSpec | None:
    """Return the spec of the wrapper that has this target, if a plugin has one."""
    return next((wrapper for wrapper in wrappers() if wrapper.target == target), None)


def policy_spec(policy_id: str) -> PolicySpec:
    """Return a policy's spec. Raises UnknownPolicy or IdConflict."""
    return cast(PolicySpec, _find("policies", policy_id, UnknownPolicy, "gem-env eval --help"))


def tool_spec(tool_id: str) -> ToolSpec:
    """Return a tool's spec. Raises UnknownTool or IdConflict."""
    return cast(ToolSpec, _find("tools", tool_id, UnknownTool, "gem-env list --tools"))


def executor_spec(backend: str) -> ExecutorSpec:
    """Return a backend's spec. Raises BadArguments, with those installed, or IdConflict."""
    backends = [executor.id for executor in executors()]
    if backend not in backends:
        raise BadArguments(
            f"backend={backend!r} was asked for. Installed: {', '.join(map(repr, backends))}. "
            f"Choose one of them, or install the pack that provides it. "
            f"{_absent('executors', backend)}{_doubt()}".rstrip(),
            subject="backend",
        )
    return cast(ExecutorSpec, _find("executors", backend, UnknownId, "gem-env plugins"))


def _find(kind: str, id: str, unknown: type[UnknownId], listing: str) -> Any:
    """Return the one spec that is installed of a kind under an id, or raise `unknown`."""
    claims = installed().claims.get((kind, id), [])
    if not claims:
        raise _unknown(kind, id, unknown, listing)
    owners = installed().rivals(kind, id)
    if owners:
        raise IdConflict(
            f"{id!r} is claimed by {' and '.join(owners)}, and choosing between them would be a "
            "guess. Uninstall all but one.",
            id=id,
            distributions=owners,
        )
    return claims[0][1]


def _unknown(kind: str, id: str, unknown: type[UnknownId], listing: str) -> UnknownId:
    """Return the error for an id that nothing provides, with what may be meant instead."""
    known = installed().ids(kind)
    word = id
    if kind == "envs":
        known += registered_specs()
        word = id.partition(":")[0]  # packs are known by the namespaces that they provide
    missing = _absent(kind, word)
    suggestions = near(id, known)
    # A pack that is not installed explains it better than ids of other namespaces do. An id of
    # the same namespace is here, so it explains it best.
    if missing and not any(suggestion.startswith(f"{word}:") for suggestion in suggestions):
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
    provided = f"{word}:" if kind == "envs" else word
    return "".join(
        f"{absent.distribution} provides {provided} and is not installed: `{absent.command}`. "
        for absent in absent_providers(kind, word)
    )


def _doubt() -> str:
    """Say which plugins do not work: the id may be one of theirs."""
    broken = [record for record in plugins() if record.state != "ok"]
    if not broken:
        return ""
    names = ", ".join(record.distribution for record in broken)
    rivals = "".join(f"{record.error} " for record in broken if record.name == RIVAL)
    return f"These plugins have a problem: {names} (see `gem-env plugins`). {rivals}"

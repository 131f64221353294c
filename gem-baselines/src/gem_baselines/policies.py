"""Make a policy that learns by its kind, and make one again as a checkpoint describes it.

Knows nothing about how a policy learns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from gem.errors import BadArguments
from gem.registry import checked, load_target
from gem_baselines.errors import did_you_mean
from gem_baselines.learning_policy import LearningPolicy

__all__ = ["KINDS", "again", "beginner", "kind_and_kwargs"]

KINDS: Mapping[str, str] = {
    "hf": "gem_baselines.hf.policy:HFPolicy",
    "tabular": "gem_baselines.tabular:TabularPolicy",
    "transformer": "gem_baselines.transformer.policy:TransformerPolicy",
}
"""Where the policy of each kind is, imported on use. A new kind is one more entry."""

_METHODS = ("__call__", "update", "values", "save", "restore", "describe")
"""Those of LearningPolicy: what a policy has to have before its training begins."""


def beginner(
    kind: str, kwargs: Mapping[str, Any], *, env_kwargs: Mapping[str, Any], seed: int
) -> LearningPolicy:
    """Make a policy that has learnt nothing yet, for an environment of these arguments.

    `kind` is one of KINDS, or the `module:Class` of your own. A class that can find out some of
    its arguments has a static method `arguments_for(env_kwargs, kwargs)`, which returns them with
    those that were given. `seed` goes to a class that takes one, where it was not given. Raises
    BadArguments, TargetError, MissingRequirement.
    """
    target = _loaded(kind)
    arguments = dict(kwargs)
    complete = getattr(target, "arguments_for", None)
    if complete is not None:
        arguments = dict(complete(env_kwargs, arguments))
    if "seed" in inspect.signature(target).parameters:
        arguments.setdefault("seed", seed)
    return _made(kind, target, arguments)


def again(kind: str, kwargs: Mapping[str, Any]) -> LearningPolicy:
    """Make a policy from what `describe` returned. `restore` then gives it what it has learnt."""
    return _made(kind, _loaded(kind), kwargs)


def kind_and_kwargs(text: str) -> tuple[str, dict[str, Any]]:
    """Return the kind that the command line names, and arguments: of `hf:PATH` the model's folder.

    >>> kind_and_kwargs("tabular")
    ('tabular', {})
    """
    kind, colon, path = text.partition(":")
    if kind == "hf" and colon:
        # Whole, so that a training can be resumed from another folder.
        return kind, {"path": str(Path(path).absolute())}
    return text, {}


def _made(kind: str, target: Callable[..., Any], kwargs: Mapping[str, Any]) -> LearningPolicy:
    policy = target(**checked(target, kwargs, subject=f"The policy {kind!r}"))
    missing = [name for name in _METHODS if not callable(getattr(policy, name, None))]
    if missing:
        raise BadArguments(
            f"The policy {kind!r} was asked for, and {type(policy).__name__} has no method "
            f"{', '.join(missing)}. A policy that learns has those of "
            "gem_baselines.learning_policy.LearningPolicy: add them.",
            subject="policy",
        )
    return cast(LearningPolicy, policy)


def _loaded(kind: str) -> Callable[..., Any]:
    target = load_target(_target_of(kind))
    if not callable(target):
        raise BadArguments(
            f"The policy {kind!r} was asked for, and that is {target!r:.60}. Name a class with the "
            "methods of gem_baselines.learning_policy.LearningPolicy.",
            subject="policy",
        )
    return cast(Callable[..., Any], target)


def _target_of(kind: str) -> str:
    if ":" in kind:
        return kind
    if kind in KINDS:
        return KINDS[kind]
    raise BadArguments(
        f"A policy of the kind {kind!r} was to be trained, and there is none of that name. "
        f"{did_you_mean(kind, KINDS)}The kinds are {', '.join(KINDS)}, or name your own class as "
        "MODULE:CLASS.",
        subject="policy",
    )

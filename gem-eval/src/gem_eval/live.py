"""What an evaluation needs beside its settings: policies that can be asked, and its plan.

Knows nothing about run folders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gem import RolloutOptions
from gem.conversation import name_of
from gem.rollouts import PlannedEpisode, WrapperLike
from gem_eval.branching.origin import Origin
from gem_eval.errors import SettingsError
from gem_eval.line_ups import LineUp, PolicyLike, PolicyRef, policy_list
from gem_eval.plan import plan_of
from gem_eval.playing import Playing
from gem_eval.policies import NamedPolicy, make_policy
from gem_eval.settings import Settings, kwargs_by_policy

if TYPE_CHECKING:
    from gem_eval.policies.answer_cache import AnswerCache

__all__ = ["Live", "live_of", "planned_for", "rollout_options"]


class Live(NamedTuple):
    """What a run needs and JSON cannot hold: policies, and arguments as they were given.

    `playing` has who plays together, in the order of the settings; `policies` each of them once.
    """

    policies: Sequence[NamedPolicy]
    playing: Sequence[Playing]
    env_kwargs: Mapping[str, Any]
    wrappers: Sequence[WrapperLike]
    backend_options: Mapping[str, Any]
    cache: AnswerCache | None


def live_of(settings: Settings, given: Mapping[str, Any], origin: Origin | None = None) -> Live:
    """Make the policies, which play on from an `origin` where there is one. Raises GemError."""
    # An object that was given is itself; the settings have its name alone.
    given_policies = {_name_of_any(policy): policy for policy in _given(given)}
    kwargs = kwargs_by_policy(given.get("policy_kwargs", settings.policy_kwargs), settings.members)
    policies = [_policy(ref, given_policies.get(ref.name), kwargs) for ref in settings.members]
    cache = None
    if settings.cache is not None:
        cache = _cache(settings.cache, policies)
    if origin is not None:
        policies = [origin.leading(policy) for policy in policies]
    by_name = {policy.name: policy for policy in policies}
    return Live(
        policies,
        [
            Playing(ref, [by_name[member.name] for member in ref.members])
            for ref in settings.policies
        ],
        dict(given.get("env_kwargs", settings.env_kwargs)),
        list(given.get("wrappers", settings.wrappers)),
        dict(given.get("backend_options", settings.backend_options)),
        cache,
    )


def _given(given: Mapping[str, Any]) -> Iterator[PolicyLike]:
    """Yield the policies that were given, alone or in a line-up."""
    for policy in policy_list(given.get("policies", ())):
        if isinstance(policy, LineUp):
            yield from policy.policies
        else:
            yield policy


def _cache(folder: str, policies: Sequence[NamedPolicy]) -> AnswerCache:
    from gem_eval.policies.answer_cache import AnswerCache  # SQLite, which few runs need

    cache = AnswerCache(folder)
    for policy in policies:
        policy.use_cache(cache)
    return cache


def _name_of_any(policy: PolicyLike) -> str:
    """Return the name under which a policy, or its name, is recorded."""
    return policy if isinstance(policy, str) else name_of(policy)


def _policy(
    ref: PolicyRef, policy: PolicyLike | None, kwargs: Mapping[str, Mapping[str, Any]]
) -> NamedPolicy:
    if policy is not None and not isinstance(policy, str):
        return NamedPolicy(ref.name, policy)
    if ref.live is not None:
        raise SettingsError(
            f"The policy {ref.name!r} of this run was a live {ref.live}, which its record does "
            "not hold. Continue it from Python: gem_eval.resume(folder, policies=[...]).",
            option="policies",
        )
    id = ref.name.partition(":")[0]
    return make_policy(ref.name, **{**kwargs.get(id, {}), **kwargs.get(ref.name, {})})


def planned_for(
    settings: Settings, live: Live, origin: Origin | None = None
) -> list[PlannedEpisode]:
    """List the episodes that each policy plays: the children of an `origin`, where there is one.

    Without one each environment is made, once, and once more where line-ups are to fit its seats.
    Raises GemError.
    """
    if origin is not None:
        _refuse_line_ups(settings)
        return origin.plan(settings)
    return plan_of(
        settings,
        env_kwargs=live.env_kwargs,
        wrappers=live.wrappers,
        backend_options=live.backend_options,
    )


def _refuse_line_ups(settings: Settings) -> None:
    if settings.line_ups:
        raise SettingsError(
            f"The line-up {settings.line_ups[0].name!r} is of several seats, and a branch plays on "
            "for one. Give one policy alone.",
            option="policies",
        )


def rollout_options(settings: Settings, live: Live) -> RolloutOptions:
    """Return how each policy's episodes are run. The plan, which chooses them, is not in it."""
    return RolloutOptions(
        concurrency=settings.concurrency,
        backend=settings.backend,
        num_workers=settings.num_workers,
        backend_options=live.backend_options,
        wrappers=live.wrappers,
        env_kwargs=live.env_kwargs,
        max_turns=settings.max_turns,
        step_timeout_s=settings.step_timeout_s,
        policy_timeout_s=settings.policy_timeout_s,
        episode_timeout_s=settings.episode_timeout_s,
        policy_retries=settings.policy_retries,
        retry_wait_s=settings.retry_wait_s,
    )

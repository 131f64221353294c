"""Say what an evaluation would do: its plan, the first prompts, and about what it would take.

Asks no policy and makes no folder; it makes the environments, and resets each once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from gem import make
from gem.conversation import Request
from gem.rollouts import PlannedEpisode, check_rollout, rollout
from gem_eval.errors import PolicyError
from gem_eval.live import Live, live_of, planned_for, rollout_options
from gem_eval.policies import NamedPolicy
from gem_eval.policies.chat_api import request_body
from gem_eval.prices import Price, price_of
from gem_eval.settings import Settings, settings_from

__all__ = ["HOW", "Forecast", "Preview", "PreviewedEnv", "Start", "preview"]

_STARTS = 5
_CHARACTERS = 4  # of English text, for one token
HOW = (
    "Estimated: as many requests as an environment allows turns, and as long answers as max_tokens "
    "does. A prompt has the first one's characters / 4, and the answers before it; what else an "
    "environment says is not counted. Without max_tokens neither are answers."
)
"""How the figures come about, in words."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Start(_Frozen):
    """What an episode begins from."""

    seed: int
    task: int | None


class PreviewedEnv(_Frozen):
    """An environment: how many episodes each policy plays, the first of them, and their prompt.

    `prompt` is the beginning of a request as the OpenAI API writes it: `messages` and `tools`, or
    a finished `prompt`. It is None where the environment fails before it asks: `error` says how.
    `max_turns` is None where nothing limits an episode.
    """

    env_id: str
    episodes: int
    starts: tuple[Start, ...]
    max_turns: int | None
    prompt: Mapping[str, Any] | None
    error: str | None


class Forecast(_Frozen):
    """What a policy would be asked on an environment. None is not known, or there is no model.

    `request` is the first request as it would be sent, where the policy asks a server: its `url`
    and its JSON `body`.
    """

    env_id: str
    policy: str
    episodes: int
    requests: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    request: Mapping[str, Any] | None


class Preview(_Frozen):
    """What an evaluation would do. `episodes` are those of all policies on all environments."""

    format: Literal[1] = 1
    seed: int
    repeats: int
    episodes: int
    environments: tuple[PreviewedEnv, ...]
    forecasts: tuple[Forecast, ...]
    how: str = HOW

    def to_json(self) -> dict[str, Any]:
        """Return the preview as plain JSON data."""
        return self.model_dump(mode="json")


async def preview(given: Mapping[str, Any]) -> Preview:
    """Find out what `gem_eval.evaluate` would do with these options. Raises GemError as it does."""
    # A cache would make its folder.
    given = {name: value for name, value in given.items() if name != "cache"}
    settings = settings_from(given)
    live = live_of(settings, given)
    try:
        plan = planned_for(settings, live)
        check_rollout(settings.envs, rollout_options(settings, live))
        environments = []
        forecasts = []
        for env_index in range(len(settings.envs)):
            own = [planned for planned in plan if planned.env_index == env_index]
            request, error = await _first_request(settings, live, own[:1])
            env = _previewed(settings, live, own, request, error)
            environments.append(env)
            forecasts += [_forecast(policy, env, request, settings) for policy in live.policies]
    finally:
        for policy in live.policies:
            await policy.aclose()
    return Preview(
        seed=settings.seed,
        repeats=settings.repeats,
        episodes=len(plan) * len(live.policies),
        environments=tuple(environments),
        forecasts=tuple(forecasts),
    )


class _Listener:
    """Takes the first request in place of a policy, and answers nothing."""

    name = "dry-run"

    def __init__(self) -> None:
        self.request: Request | None = None

    def __call__(self, request: Request) -> str:
        self.request = request
        raise PolicyError("Nobody is asked in a dry run.")


async def _first_request(
    settings: Settings, live: Live, plan: Sequence[PlannedEpisode]
) -> tuple[Request | None, str | None]:
    """Begin one episode, and return what its policy would be asked, or why that is nothing."""
    listener = _Listener()
    options = replace(rollout_options(settings, live), plan=plan, policy_retries=0)
    episodes = rollout(listener, settings.envs, options=options)
    error: str | None = None
    async with aclosing(episodes):
        async for episode in episodes:
            error = episode.error
    return listener.request, error if listener.request is None else None


def _previewed(
    settings: Settings,
    live: Live,
    plan: Sequence[PlannedEpisode],
    request: Request | None,
    error: str | None,
) -> PreviewedEnv:
    spec = settings.envs[plan[0].env_index]
    kwargs = live.env_kwargs
    limits = [settings.max_turns]
    # One that cannot be made in this process may have a limit all the same.
    with suppress(Exception, SystemExit), make(spec, wrappers=live.wrappers, **kwargs) as env:
        limits.append(env.max_turns)
    return PreviewedEnv(
        env_id=spec.id,
        episodes=len(plan),
        starts=tuple(Start(seed=start.seed, task=start.task) for start in plan[:_STARTS]),
        max_turns=min((limit for limit in limits if limit is not None), default=None),
        prompt=None if request is None else _prompt(request),
        error=error,
    )


def _prompt(request: Request) -> dict[str, Any]:
    """Return what a model gets, without what only one server or policy adds."""
    body = request_body(request, system=None, sends_seed=False)
    return {name: value for name, value in body.items() if name != "stream"}


def _forecast(
    policy: NamedPolicy, env: PreviewedEnv, request: Request | None, settings: Settings
) -> Forecast:
    sent = None if request is None else policy.would_send(request)
    requests: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    if policy.asks_model and env.max_turns is not None:
        requests = env.episodes * env.max_turns
        body = env.prompt if sent is None else sent["body"]
        if body is not None:
            answer = body.get("max_tokens", body.get("max_completion_tokens"))
            completion_tokens = requests * answer if isinstance(answer, int) else None
            prompt_tokens = requests * math.ceil(_characters(body) / _CHARACTERS)
            if completion_tokens is not None:
                # The first of n turns has no answer before it, the last n - 1: half of n - 1 each.
                prompt_tokens += completion_tokens * (env.max_turns - 1) // 2
    return Forecast(
        env_id=env.env_id,
        policy=policy.name,
        episodes=env.episodes,
        requests=requests,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=_cost(price_of(policy.name, settings.prices), prompt_tokens, completion_tokens),
        request=sent,
    )


def _cost(
    price: Price | None, prompt_tokens: int | None, completion_tokens: int | None
) -> float | None:
    if price is None or prompt_tokens is None:
        return None
    return price.cost(prompt_tokens, completion_tokens or 0)


def _characters(body: Mapping[str, Any]) -> int:
    """Count the text of a prompt. Tools count as their JSON, images not at all."""
    tools = body.get("tools")
    count = len(json.dumps(tools)) if tools else 0
    count += len(body.get("prompt", ""))
    return count + sum(_texts(message["content"]) for message in body.get("messages", ()))


def _texts(content: str | Iterable[Mapping[str, Any]] | None) -> int:
    if isinstance(content, str):
        return len(content)
    return sum(len(part.get("text", "")) for part in content or ())

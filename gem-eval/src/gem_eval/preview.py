"""Say what an evaluation would do: its plan, the first prompts, and about what it would take.

Asks no policy and makes no folder; it makes the environments, and resets each once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from gem import make
from gem.conversation import Request
from gem.episode import Episode
from gem.rollouts import PlannedEpisode, check_rollout, rollout
from gem_eval.errors import PolicyError
from gem_eval.live import Live, live_of, planned_for, rollout_options
from gem_eval.playing import Playing
from gem_eval.policies import NamedPolicy
from gem_eval.policies.chat_api import request_body
from gem_eval.prices import Price, price_of
from gem_eval.settings import Settings, settings_from
from gem_eval.variants import varied

__all__ = ["HOW", "Forecast", "Preview", "PreviewedEnv", "Start", "preview"]

_STARTS = 5
_CHARACTERS = 4  # of English text, for one token
HOW = (
    "Estimated: as many requests as an environment allows turns, and as long answers as max_tokens "
    "does. A prompt has the first one's characters / 4, and the answers before it; what else an "
    "environment says is not counted. Without max_tokens neither are answers."
)
"""How the figures come about, in words."""

_OF_SEATS = " Several seats share the turns evenly."


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
    `max_turns` is None where nothing limits an episode. Of several seats `prompts` has what each is
    asked first, by name, as far as it was asked in an episode of sampled actions.
    """

    env_id: str
    episodes: int
    starts: tuple[Start, ...]
    max_turns: int | None
    prompt: Mapping[str, Any] | None
    error: str | None
    prompts: Mapping[str, Mapping[str, Any]] = {}


class Forecast(_Frozen):
    """What a policy would be asked on an environment. None is not known, or there is no model.

    `line_up` is who it would play with, None where it sits everywhere itself.

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
    line_up: str | None = None


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
    given = varied(given)
    settings = settings_from(given)
    live = live_of(settings, given)
    try:
        plan = planned_for(settings, live)
        check_rollout(settings.envs, rollout_options(settings, live))
        environments = []
        forecasts: list[Forecast] = []
        for env_index in range(len(settings.envs)):
            own = [planned for planned in plan if planned.env_index == env_index]
            asked = await _first_requests(settings, live, own[:1])
            env = _previewed(settings, live, own, asked)
            environments.append(env)
            for playing in live.playing:
                forecasts += _forecasts(playing, env, asked, settings)
    finally:
        for policy in live.policies:
            await policy.aclose()
    return Preview(
        seed=settings.seed,
        repeats=settings.repeats,
        episodes=len(plan) * len(live.playing),
        environments=tuple(environments),
        forecasts=tuple(forecasts),
        how=HOW + _OF_SEATS if any(forecast.line_up for forecast in forecasts) else HOW,
    )


class _Asked(NamedTuple):
    """The first request of each seat that was asked, by name, or why there is none.

    `seats` are the names of several; of one seat there is one request under "".
    """

    seats: tuple[str, ...]
    requests: Mapping[str, Request]
    error: str | None

    @property
    def first(self) -> Request | None:
        return next(iter(self.requests.values()), None)


class _Listener:
    """Takes the first request of each seat in place of a policy.

    With `wants` it answers by samples until all `seats` were asked, and else nothing.
    """

    name = "dry-run"

    def __init__(self, seats: int = 1) -> None:
        self.wants = frozenset({"sample"} if seats > 1 else ())
        self.requests: dict[int, Request] = {}
        self._seats = seats

    def __call__(self, request: Request) -> str:
        self.requests.setdefault(request.seat, request)
        if len(self.requests) == self._seats or request.sample is None:
            raise PolicyError("Nobody is asked in a dry run.")
        return request.sample


async def _first_requests(settings: Settings, live: Live, plan: Sequence[PlannedEpisode]) -> _Asked:
    """Begin one episode, and return what its policies would be asked, or why that is nothing."""
    listener = _Listener()
    episode = await _listened(listener, settings, live, plan)
    seats = tuple(seat.name for seat in episode.seats)
    if not listener.requests:
        return _Asked(seats, {}, episode.error)
    if not seats:
        return _Asked((), {"": listener.requests[0]}, None)
    further = _Listener(len(seats))
    await _listened(further, settings, live, plan)
    requests = {**further.requests, **listener.requests}
    return _Asked(seats, {seats[seat]: requests[seat] for seat in sorted(requests)}, None)


async def _listened(
    listener: _Listener, settings: Settings, live: Live, plan: Sequence[PlannedEpisode]
) -> Episode:
    options = replace(rollout_options(settings, live), plan=plan, policy_retries=0)
    async with aclosing(rollout(listener, settings.envs, options=options)) as episodes:
        return await anext(episodes)


def _previewed(
    settings: Settings,
    live: Live,
    plan: Sequence[PlannedEpisode],
    asked: _Asked,
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
        prompt=None if asked.first is None else _prompt(asked.first),
        error=asked.error,
        prompts={seat: _prompt(request) for seat, request in asked.requests.items() if seat},
    )


def _prompt(request: Request) -> dict[str, Any]:
    """Return what a model gets, without what only one server or policy adds."""
    body = request_body(request, system=None, sends_seed=False)
    return {name: value for name, value in body.items() if name != "stream"}


def _forecasts(
    playing: Playing, env: PreviewedEnv, asked: _Asked, settings: Settings
) -> Iterator[Forecast]:
    """Yield what each policy of a line-up would be asked, or the one that sits everywhere."""
    turns = env.max_turns
    if len(playing.members) == 1:
        yield _forecast(playing.members[0], env, turns, asked.first, settings)
        return
    for member in dict.fromkeys(playing.members):
        seats = playing.seats_of(member, asked.seats)
        requests = [asked.requests[seat] for seat in seats if seat in asked.requests]
        if turns is not None:
            own = sum(each is member for each in playing.members)
            turns_here: int | None = math.ceil(turns * own / len(playing.members))
        else:
            turns_here = None
        request = next(iter(requests), None)
        forecast = _forecast(member, env, turns_here, request, settings)
        yield forecast.model_copy(update={"line_up": playing.name})


def _forecast(
    policy: NamedPolicy,
    env: PreviewedEnv,
    turns: int | None,
    request: Request | None,
    settings: Settings,
) -> Forecast:
    sent = None if request is None else policy.would_send(request)
    requests: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    if policy.asks_model and turns is not None:
        requests = env.episodes * turns
        body = sent["body"] if sent is not None else None
        if body is None and request is not None:
            body = _prompt(request)
        if body is not None:
            answer = body.get("max_tokens", body.get("max_completion_tokens"))
            completion_tokens = requests * answer if isinstance(answer, int) else None
            prompt_tokens = requests * math.ceil(_characters(body) / _CHARACTERS)
            if completion_tokens is not None:
                # The first of n turns has no answer before it, the last n - 1: half of n - 1 each.
                prompt_tokens += completion_tokens * (turns - 1) // 2
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

"""Play one episode and keep all that the environment returned, as JSON data to compare.

Knows nothing about what is checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gem.content import Observation, observation_text, observation_to_json
from gem.env._env import Env
from gem.episode._episode import is_success
from gem.testing._report import NotHeldError

__all__ = [
    "MOST_TURNS",
    "Moment",
    "Play",
    "Player",
    "Sight",
    "continued",
    "first_difference",
    "moment_of",
    "play",
    "repeating",
    "require_same",
    "shown_text",
]

MOST_TURNS = 200
"""Turns that are played where an environment declares no limit."""
_LONGEST = 5000  # turns, whatever limit is declared: a check shall end

Moment = Mapping[str, Any]
"""What `reset` or `step` returned, as JSON data."""


class Sight(NamedTuple):
    """What a player looks at: the turn (from 0), and observation and suffix as one text."""

    turn: int
    text: str


Player = Callable[[Env, Sight], "str | None"]
"""Answers what it sees; None gives up."""


class Play(NamedTuple):
    """One episode. `moments` is one longer than `actions`: it begins with what `reset` returned."""

    seed: int | None
    actions: tuple[str, ...]
    moments: tuple[Moment, ...]
    total: float
    is_success: bool
    is_over: bool
    max_turns: int | None
    single_turn: bool

    @property
    def texts(self) -> tuple[str, ...]:
        """What the player saw at each turn, and at the end."""
        return tuple(moment["text"] for moment in self.moments)


def play(
    env: Env,
    player: Player,
    seed: int | None,
    *,
    most_turns: int | None = None,
    before_each: Callable[[Env], object] = lambda env: None,
) -> Play:
    """Reset, then step with the player's actions to the end, the turn limit, or `most_turns`.

    Without `most_turns` an episode is played to its declared limit (at most 5,000 turns), or for
    200 turns where there is none. `before_each` is called before each action is asked for.
    """
    observation, info = env.reset(seed=seed)
    moments = [moment_of(observation, info)]
    actions: list[str] = []
    rewards: list[float] = []
    is_over = False
    max_turns = env.max_turns  # after the reset, which may draw it
    if most_turns is None:
        most_turns = MOST_TURNS if max_turns is None else _LONGEST
    limit = most_turns if max_turns is None else min(max_turns, most_turns)
    while not is_over and len(actions) < limit:
        before_each(env)
        action = player(env, Sight(len(actions), moments[-1]["text"]))
        if action is None:
            break
        step = env.step(action)
        actions.append(action)
        rewards.append(step.reward)
        # Written as JSON now: an environment may go on to change what it returned.
        moments.append(moment_of(step.observation, step.info, step[1:4]))
        info = step.info
        is_over = bool(step.terminated or step.truncated)
    total = sum(rewards)
    won = is_over and is_success(info, total, env.spec)
    return Play(
        seed, tuple(actions), tuple(moments), total, won, is_over, max_turns, env.single_turn
    )


def repeating(actions: Iterable[str]) -> Player:
    """Return a player that takes these actions and then gives up."""
    ahead = list(actions)
    return lambda env, sight: ahead[sight.turn] if sight.turn < len(ahead) else None


def continued(env: Env, actions: Sequence[str]) -> list[Moment]:
    """Return what follows from here: these actions, and an unseeded reset with a few more.

    The reset draws from the stream as the episode left it, so that a copy which lost its
    generator shows it even where steps draw nothing.
    """
    moments = [_step(env, action) for action in actions]
    moments.append(moment_of(*env.reset()))
    for action in actions[:3]:
        moments.append(_step(env, action))
        if moments[-1]["terminated"] or moments[-1]["truncated"]:
            break
    return moments


def _step(env: Env, action: str) -> Moment:
    step = env.step(action)
    return moment_of(step.observation, step.info, step[1:4])


def moment_of(
    observation: Observation, info: Mapping[str, Any], rest: Sequence[Any] = ()
) -> Moment:
    """Return as JSON data what `reset` gave, or `step`: `rest` is then reward and flags."""
    moment = {
        "observation": observation_to_json(observation),
        "text": shown_text(observation, info),
        **dict(zip(("reward", "terminated", "truncated"), rest, strict=False)),
        "info": info,
    }
    # What JSON has no form for is compared by its type: `repr` may hold an address.
    plain: Moment = json.loads(json.dumps(moment, default=_type_name))
    return plain


def _type_name(value: object) -> str:
    return f"<{type(value).__module__}.{type(value).__qualname__}>"


def shown_text(observation: Observation, info: Mapping[str, Any]) -> str:
    """Return observation and suffix as one text, as a conversation would show them."""
    text = observation_text(observation)
    suffix = info.get("suffix")
    return f"{text}\n{suffix}" if suffix else text


def first_difference(one: Sequence[Moment], other: Sequence[Moment]) -> str | None:
    """Say where two streams of moments part, or None where they do not."""
    return next(_differences(one, other), None)


def require_same(what: str, expected: Sequence[Moment], found: Sequence[Moment]) -> None:
    """Raise NotHeldError where two streams of moments differ. `what` says what the second is."""
    difference = first_difference(expected, found)
    if difference is not None:
        raise NotHeldError(f"{what}: {difference}")


def _differences(one: Sequence[Moment], other: Sequence[Moment]) -> Iterator[str]:
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        for name in {**left, **right}:
            here = _canonical(left.get(name))
            there = _canonical(right.get(name))
            if here != there:
                when = f"after turn {place}" if place else "at the reset"
                yield f"{name} {when} was {_short(here)}, then {_short(there)}"
    if len(one) != len(other):
        yield f"one took {len(one) - 1} turns and the other {len(other) - 1}"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}..."

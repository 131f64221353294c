"""Play through the public doors, and write down what happened so that it can be compared."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

import gem
from gem import Env, EnvSpec, Episode, Request, Step
from gem.content import observation_to_json
from gem.env import stream
from gem.episode import Turn
from gem.vector import IndexedStep, VectorEnv

Key = tuple[int, int]
"""Which episode of a run: its environment's position, and its number there."""

Act = Callable[[int, int, int], str]
"""The action for an environment, an episode and a turn."""


class Played(NamedTuple):
    """What happened in an episode: everything that was shown, as text, and how it ended."""

    tale: str
    stop_reason: str
    error: str | None


class Sampler:
    """Takes what the environment samples, and keeps it by the request's seed."""

    name = "player"
    wants = ("sample",)

    def __init__(self) -> None:
        self.said: dict[int, str] = {}

    def __call__(self, request: Request) -> str:
        self.said[request.seed] = request.sample or ""
        return self.said[request.seed]


class Reader:
    """Says again what a sampler said, each answer after a while of its own."""

    name = "player"

    def __init__(self, said: Mapping[int, str]) -> None:
        self._said, self._chance = said, Random()

    async def __call__(self, request: Request) -> str:
        await asyncio.sleep(self._chance.choice([0, 0, 0.001, 0.005]))
        return self._said[request.seed]


def spec_of(kind: type[Env], *, blocking: bool, **kwargs: Any) -> EnvSpec:
    """Return a spec by which any process that imports what this one does makes the environment."""
    target = f"{kind.__module__}:{kind.__qualname__}"
    return EnvSpec(id=f"world:{kind.__name__}", target=target, blocking=blocking, kwargs=kwargs)


async def rolled_out(policy: Any, envs: Sequence[EnvSpec], **options: Any) -> dict[Key, Episode]:
    """Run episodes to their end, each of which must come once."""
    run = gem.rollout(policy, envs, **options)
    episodes = [episode async for episode in run]
    found = {(each.env_index, each.episode_index): each for each in episodes}
    assert len(found) == len(episodes)
    return found


def fingerprints(episodes: Mapping[Key, Episode]) -> dict[Key, str]:
    """Return the fingerprints, wrappers left out: one that only waits changes nothing else."""
    return {key: replace(each, wrappers=()).fingerprint() for key, each in episodes.items()}


def played(episodes: Mapping[Key, Episode]) -> dict[Key, Played]:
    """Return what happened in episodes of a rollout."""
    return {
        key: Played(_tale_of(each), each.stop_reason, each.error) for key, each in episodes.items()
    }


def _tale_of(episode: Episode) -> str:
    return "\n".join([*map(_line, episode.turns), _shown(episode.final_observation or "")])


def _line(turn: Turn) -> str:
    return json.dumps([turn.outcome(), turn.info], sort_keys=True)


def _shown(observation: Any) -> str:
    return json.dumps(observation_to_json(observation))


def stepped_through(
    vector: VectorEnv, act: Act, *, episodes: int, order: int = 0
) -> dict[Key, Played]:
    """Play in a vector that resets in the same step, in portions that `order` shuffles."""
    chance, found = stream("order", order), dict[Key, Played]()
    seats = [_Seat(index, found) for index in range(vector.num_envs)]
    for seat, observation, info in zip(seats, *vector.reset(), strict=True):
        seat.begin(observation, info)
    idle, in_flight = seats, 0
    while True:
        idle = [seat for seat in idle if seat.episode < episodes]
        if not (idle or in_flight):
            return {key: each for key, each in found.items() if key[1] < episodes}
        chance.shuffle(idle)
        portion, idle = _split(idle, chance.randrange(1, 100))
        vector.send({seat.index: act(seat.index, seat.episode, seat.turn) for seat in portion})
        in_flight += len(portion)
        results = vector.recv(min_ready=chance.randrange(1, in_flight + 1), timeout_s=120)
        assert results.indices
        in_flight -= len(results.indices)
        idle += _taken(seats, results, act)


def _split(seats: list[_Seat], at: int) -> tuple[list[_Seat], list[_Seat]]:
    return seats[:at], seats[at:]


def _taken(seats: Sequence[_Seat], results: IndexedStep, act: Act) -> Iterable[_Seat]:
    *columns, indices = results
    for index, row in zip(indices, zip(*columns, strict=True), strict=True):
        seats[index].take(Step(*row), act)
        yield seats[index]


class _Seat:
    """One environment of a vector, as its results tell its story."""

    def __init__(self, index: int, found: dict[Key, Played]) -> None:
        self.index, self._found = index, found
        self.episode = self.turn = 0
        self._lines: list[str] = []
        self._shown: tuple[Any, str | None] = ("", None)
        self._is_absent = False  # the episode failed to start: the next result is another's start

    def begin(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Start the next episode."""
        self._lines, self.turn, self._shown = [], 0, (observation, info.get("suffix"))
        self._is_absent = "stop_reason" in info
        if self._is_absent:
            self._end(info["stop_reason"], info["error"])

    def take(self, step: Step, act: Act) -> None:
        """Take in a result."""
        if self._is_absent:
            self.begin(step.observation, step.info)
        elif "final_info" in step.info:
            final = {"observation": step.info["final_observation"], "info": step.info["final_info"]}
            self._land(step._replace(**final), act)
            how = final["info"].get("stop_reason", "truncated" if step.truncated else "terminated")
            self._end(how, final["info"].get("error"))
            self.begin(step.observation, step.info)
        else:
            assert (step.terminated, step.truncated) == (False, False)
            self._land(step, act)

    def _land(self, step: Step, act: Act) -> None:
        action = act(self.index, self.episode, self.turn)
        observation, suffix = self._shown
        turn = Turn(observation, action, 0.0, terminated=False, truncated=False, suffix=suffix)
        self._lines.append(_line(turn.answered(step)))
        self._shown = step.observation, step.info.get("suffix")
        self.turn += 1

    def _end(self, stop_reason: str, error: str | None) -> None:
        tale = "\n".join([*self._lines, _shown(self._shown[0])])
        self._found[self.index, self.episode] = Played(tale, stop_reason, error)
        self.episode += 1

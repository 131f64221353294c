"""`gem_eval.noise`: cross the seeds of players on the same tasks, and say what each one adds.

Run-to-run noise is what two runs of the same policies on the same tasks differ by. A player's seed
stands for one draw of all its chance: with it, it answers one conversation in one way, also where
its server takes no seed. Every seed of one player meets every seed of the other.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from pydantic import BaseModel, ConfigDict

import gem
from gem import Env, Episode, Request
from gem.content import Action
from gem.conversation import Policy, PolicyAnswer, name_of
from gem.rollouts import EnvLike, resolve
from gem_eval.errors import SettingsError
from gem_eval.evaluation import blocking
from gem_eval.intervals import Estimate
from gem_eval.policies import NamedPolicy, make_policy
from gem_eval.settings import PolicyLike
from gem_eval.variance.components import ENVIRONMENT, FIRST, SECOND, TOGETHER, Cube, components

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["DesignKeywords", "Noise", "NoisePart", "noise", "noise_async"]


class NoisePart(BaseModel):
    """What one source adds: the variance of one episode's score, and its share of the noise.

    `variance` is unbiased and may lie below 0, which counts as 0 in `share`. `why_zero` says why
    there can be none.
    """

    model_config = ConfigDict(frozen=True)

    variance: float
    variance_ci95: tuple[float, float] | None
    share: float | None
    why_zero: str = ""


class Noise(BaseModel):
    """How noisy a score is, and by whom. `parts` has each player, both together, the environment.

    `mean` is the score of the first seat over `tasks` tasks, each played with every seed of every
    player; `left_out` are tasks of which an episode, or a grading of one, ended by an error.
    """

    model_config = ConfigDict(frozen=True)

    env_id: str
    mean: float
    mean_ci95: tuple[float, float] | None
    tasks: int
    left_out: int
    seeds: int
    gradings: int
    parts: Mapping[str, NoisePart]

    def deviation(self, tasks: int) -> float:
        """Return the standard deviation of the mean score of a run of so many tasks."""
        total = sum(max(part.variance, 0.0) for part in self.parts.values())
        return math.sqrt(total / tasks)

    def __str__(self) -> str:
        """Say it in plain lines."""
        lines = [
            f"{self.env_id}: {self.mean:.3f} over {self.tasks} tasks, {self.seeds} seeds of each "
            f"player, {self.gradings} gradings.",
            f"Two runs of {self.tasks} tasks differ by a standard deviation of "
            f"{math.sqrt(2) * self.deviation(self.tasks):.3f}. Of this noise:",
        ]
        for name, part in self.parts.items():
            share = "-" if part.share is None else f"{part.share:.0%}"
            why = f" ({part.why_zero})" if part.why_zero else ""
            lines.append(f"  {name:<20} {share:>5}  variance {part.variance:.4f}{why}")
        return "\n".join(lines)


async def noise_async(
    env: EnvLike,
    policies: PolicyLike | Mapping[str, PolicyLike],
    *,
    episodes: int = 20,
    seeds: int = 4,
    gradings: int = 2,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    concurrency: int = 64,
) -> Noise:
    """Await `noise`, for code that already runs on an event loop."""
    limits = (("episodes", episodes, 2), ("seeds", seeds, 2), ("gradings", gradings, 1))
    for name, value, least in limits:
        if value < least:
            raise SettingsError(
                f"{name}={value} was asked for, and the noise of a score shows from {least} on. "
                "Give more.",
                option=name,
            )
    kwargs = dict(env_kwargs or {})
    seated = policies if isinstance(policies, Mapping) else None
    if seated is not None and len(seated) != 2:
        raise SettingsError(
            f"Policies of {len(seated)} seats were given, and noise is split between two players. "
            "Give a policy, or a mapping from the names of two seats.",
            option="policies",
        )
    made = {
        name: _made(policy)
        for name, policy in (seated or {"agent": policies}).items()  # type: ignore[dict-item]
    }
    options = {"episodes": episodes, "seed": seed, "env_kwargs": kwargs, "concurrency": concurrency}
    try:
        if seated is None:
            [agent] = made.values()
            cells = [[run] for run in await _repeated(env, agent, seeds, options)]
        else:
            cells = await _crossed(env, made, seeds, options)
    finally:
        for policy in made.values():
            await policy.aclose()
    first_seat = next(iter(made))
    cubes, left_out = _cubes(env, kwargs, cells, first_seat, gradings)
    if not cubes:
        raise SettingsError(
            f"Every task of {resolve(env).id} had an episode that ended by an error, so nothing "
            "is left to compare. `gem-env eval` shows the errors.",
            option="policies",
        )
    return _noise(resolve(env).id, cubes, [*made], left_out, seeds, gradings)


class DesignKeywords(TypedDict, total=False):
    """The options of `noise` by name, for type checkers. `noise` explains them."""

    episodes: int
    seeds: int
    gradings: int
    seed: int
    env_kwargs: Mapping[str, Any] | None
    concurrency: int


def noise(
    env: EnvLike,
    policies: PolicyLike | Mapping[str, PolicyLike],
    **design: Unpack[DesignKeywords],
) -> Noise:
    """Split what a score differs by from run to run between the players and the environment.

    `policies` is a policy, where the environment has one seat, or a mapping from the names of two
    seats; the score is that of the first. Each of `episodes` (20) tasks is played with `seeds` (4)
    seeds of each player, every one with every other: `seeds ** 2` episodes a task of two seats.
    Then every recorded episode is graded again, `gradings` (2) times in all: its actions are taken
    again, and what changes is the environment's own doing, a judge's if it has one. `seed` (0)
    chooses the tasks; `env_kwargs` and `concurrency` (64) are as of `gem.rollout`.

    A seed changes `Request.seed` of that player alone. What a player answered to a conversation
    under a seed is kept, so that a server that takes no seed has one answer a seed too. A policy
    that acts by `Request.sample` draws from the environment, whose chance is the task's: of two
    seats it has no noise here.

    Variances are those of a two-way analysis of variance with random effects, within tasks, and
    intervals a bootstrap over tasks. Raises SettingsError, and GemError as `gem.rollout` does.

        policies = {"agent": "openai:M@URL", "user": "customer"}
        print(gem_eval.noise("agents:ServiceOfTwo-v0", policies))
    """
    return blocking(noise_async(env, policies, **design))


class _Seeded:
    """A player under one of its seeds: other chance, and one answer to one conversation."""

    def __init__(
        self, policy: NamedPolicy, number: int, answers: dict[bytes, PolicyAnswer]
    ) -> None:
        self._policy = policy
        self._number = number
        self._answers = answers
        self.name = policy.name
        self.wants = policy.wants

    async def __call__(self, request: Request) -> PolicyAnswer:
        # The request's own seed says which task and turn it is: no two ask under one key at once.
        asked = repr((request.seed, tuple(request.messages), request.prompt, request.solution))
        key = hashlib.blake2b(asked.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if key not in self._answers:
            self._answers[key] = await _answer(self._policy, _reseeded(request, self._number))
        return self._answers[key]


async def _answer(policy: Policy, request: Request) -> PolicyAnswer:
    answer = policy(request)
    return await answer if isinstance(answer, Awaitable) else answer


def _reseeded(request: Request, number: int) -> Request:
    text = f"{request.seed}/{number}".encode("ascii")
    seed = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1
    return replace(request, seed=seed)


def _made(policy: PolicyLike) -> NamedPolicy:
    return make_policy(policy) if isinstance(policy, str) else NamedPolicy(name_of(policy), policy)


async def _repeated(
    env: EnvLike, agent: NamedPolicy, seeds: int, options: Mapping[str, Any]
) -> list[list[Episode]]:
    """Play the tasks under each seed of one player: a repeat has chance of its own."""
    runs: list[list[Episode]] = [[] for _ in range(seeds)]
    async for episode in gem.rollout(agent, env, repeats=seeds, **options):
        runs[episode.repeat].append(episode)
    return runs


async def _crossed(
    env: EnvLike, made: Mapping[str, NamedPolicy], seeds: int, options: Mapping[str, Any]
) -> list[list[list[Episode]]]:
    """Play the tasks under every pair of seeds, by the first player's and then the second's."""
    first, second = (
        [(name, _Seeded(policy, number, {})) for number in range(seeds)]
        for name, policy in made.items()
    )
    cells = []
    for one in first:
        row = []
        for other in second:
            episodes = gem.rollout(dict((one, other)), env, **options)
            row.append([episode async for episode in episodes])
        cells.append(row)
    return cells


def _cubes(
    env: EnvLike,
    kwargs: Mapping[str, Any],
    cells: Sequence[Sequence[Sequence[Episode]]],
    seat: str,
    gradings: int,
) -> tuple[list[Cube], int]:
    """Return the scores of each task that no error ended, and how many tasks were left out."""
    by_task = [
        [{episode.episode_index: episode for episode in run} for run in row] for row in cells
    ]
    cubes: list[Cube] = []
    left_out = 0
    with gem.make(env, **kwargs) as again:
        for number in sorted(by_task[0][0]):
            episodes = [[run[number] for run in row] for row in by_task]
            if any(episode.is_error for row in episodes for episode in row):
                left_out += 1
                continue
            try:
                cubes.append(
                    [
                        [_graded(again, episode, seat, gradings) for episode in row]
                        for row in episodes
                    ]
                )
            except Exception:  # noqa: BLE001 - a judge may raise anything, and gave no score
                left_out += 1
    return cubes, left_out


def _graded(env: Env, episode: Episode, seat: str, gradings: int) -> list[float]:
    """Return the score of an episode, and what it is when its actions are taken again."""
    place = next((n for n, each in enumerate(episode.seats) if each.name == seat), 0)
    scores = [episode.seats[place].total_reward if episode.seats else episode.total_reward]
    for _ in range(gradings - 1):
        options = {} if episode.task is None else {"task": episode.task}
        env.reset(seed=episode.seed, **options)
        rewards = []
        for turn in episode.turns:
            step = env.step(Action(turn.action, tool_calls=turn.tool_calls))
            rewards.append(step.rewards[place])
            if step.terminated or step.truncated:
                break
        scores.append(math.fsum(rewards))
    return scores


def _noise(
    env_id: str,
    cubes: Sequence[Cube],
    players: Sequence[str],
    left_out: int,
    seeds: int,
    gradings: int,
) -> Noise:
    mean, variances = components(cubes)
    total = sum(max(estimate.value or 0.0, 0.0) for estimate in variances.values())
    scripted = "the environment plays it, which draws from the task's seed alone"
    named = {players[0]: (FIRST, "")}
    if len(players) == 2:
        named[players[1]] = (SECOND, "")
        named[f"{players[0]} x {players[1]}"] = (TOGETHER, "")
    else:
        named["user"] = (SECOND, scripted)
    graded_alike = "every grading of an episode is the same" if gradings > 1 else "graded once"
    is_fixed = variances[ENVIRONMENT].value == 0.0
    named["environment (judge)"] = (ENVIRONMENT, graded_alike if is_fixed else "")
    return Noise(
        env_id=env_id,
        mean=mean.value or 0.0,
        mean_ci95=mean.ci95,
        tasks=len(cubes),
        left_out=left_out,
        seeds=seeds,
        gradings=gradings,
        parts={name: _part(variances[key], total, why) for name, (key, why) in named.items()},
    )


def _part(estimate: Estimate, total: float, why_zero: str) -> NoisePart:
    value = estimate.value or 0.0
    share = max(value, 0.0) / total if total else None
    return NoisePart(variance=value, variance_ci95=estimate.ci95, share=share, why_zero=why_zero)

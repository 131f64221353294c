"""Run episodes: one coroutine each, many in flight, the same content in whatever order.

Knows nothing about where policies come from or where episodes are kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, NamedTuple

from gem.conversation import Policy
from gem.deadlines import Sweeper
from gem.episode import Episode
from gem.errors import BadArguments
from gem.hooks import announce
from gem.planning import Assignment, Envs, as_list, is_count, plan_episodes
from gem.player import Player, Terms
from gem.registry import WrapperLike
from gem.stage import Stage

__all__ = ["rollout"]


def rollout(
    policy: Policy,
    env: Envs,
    *,
    episodes: int | Literal["all"] = 1,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 64,
    backend: str = "inline",
    wrappers: Sequence[WrapperLike] = (),
    env_kwargs: Mapping[str, Any] | None = None,
    max_turns: int | None = None,
    step_timeout_s: float | None = None,
    policy_timeout_s: float | None = None,
    episode_timeout_s: float | None = None,
    plan: Sequence[Assignment] | None = None,
) -> AsyncGenerator[Episode, None]:
    """Yield finished episodes in completion order; their content is the same in any order.

    `env` is an id or a spec, or a list of them; `episodes` counts for each. `plan` runs exactly
    these assignments instead. At most `concurrency` episodes are in flight, and no more are
    started than are taken. An error of the environment or of the policy ends its own episode as
    truncated, with a `stop_reason` and the error's text, and no other. Blocking steps run on
    threads; one that outlasts `step_timeout_s` is abandoned with its environment. A step that
    declares `blocking=False` runs inline, where no deadline can interrupt it. An answer that
    outlasts `policy_timeout_s` ends its episode as `policy_error`. An episode that outlasts
    `episode_timeout_s` ends by the reason of whom it then waited for, `step_timeout` (also while
    its environment is made or reset) or `policy_error`. Times are in seconds.

        async for episode in gem.rollout(policy, "game:GuessTheNumber-v0-hard", episodes=8):
            print(episode.total_reward)
    """
    if not callable(policy):
        raise BadArguments(
            f"{policy!r:.60} was given as the policy, and cannot be called. Give a function, or an "
            "object with `__call__`, from a Request to a Reply, a Message or a string.",
            subject="policy",
        )
    if backend != "inline":
        raise BadArguments(
            f"backend={backend!r} was asked for, and only 'inline' is installed.", subject="backend"
        )
    if not is_count(concurrency):
        raise BadArguments(
            f"concurrency={concurrency} was asked for, and must be 1 or more.",
            subject="concurrency",
        )
    _refuse_bad_limits(
        max_turns=max_turns,
        step_timeout_s=step_timeout_s,
        policy_timeout_s=policy_timeout_s,
        episode_timeout_s=episode_timeout_s,
    )
    kwargs = dict(env_kwargs or {})
    if plan is None:
        plan = plan_episodes(
            env, episodes=episodes, seed=seed, repeats=repeats, env_kwargs=kwargs, wrappers=wrappers
        )
    deadlines = _Deadlines(step_timeout_s, policy_timeout_s, episode_timeout_s)
    terms = Terms(policy, Stage(as_list(env), kwargs, wrappers, step_timeout_s), max_turns)
    return _run(terms, deadlines, plan, concurrency)


def _refuse_bad_limits(*, max_turns: int | None, **timeouts: float | None) -> None:
    if not (max_turns is None or is_count(max_turns)):
        raise BadArguments(
            f"max_turns={max_turns!r} was asked for. It is an int from 1 on, or None.",
            subject="max_turns",
        )
    for name, timeout_s in timeouts.items():
        if timeout_s is not None and not timeout_s > 0:
            raise BadArguments(
                f"{name}={timeout_s!r} was asked for. It is a number of seconds above 0, or None.",
                subject=name,
            )


async def _run(
    terms: Terms, deadlines: _Deadlines, plan: Sequence[Assignment], concurrency: int
) -> AsyncGenerator[Episode, None]:
    sweeper = Sweeper()
    flight = _Flight(deadlines.swept_by(sweeper, terms))
    waiting = iter(plan)
    try:
        for assignment in islice(waiting, concurrency):
            flight.start(assignment)
        for _ in plan:
            episode = await flight.landed()
            announce("gem_episode_finished", episode=episode)
            yield episode
            for assignment in islice(waiting, 1):
                flight.start(assignment)
    finally:
        await flight.close()
        sweeper.close()
        await terms.stage.close()


class _Deadlines(NamedTuple):
    step_s: float | None
    policy_s: float | None
    episode_s: float | None

    def swept_by(self, sweeper: Sweeper, terms: Terms) -> Terms:
        """Return the terms with these limits."""
        step, policy, episode = (None if each is None else sweeper.limit(each) for each in self)
        return replace(terms, step_limit=step, policy_limit=policy, episode_limit=episode)


class _Flight:
    """The episodes that are being played, each by a task of its own."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._running: dict[asyncio.Task[Episode], Player] = {}
        self._landed: asyncio.Queue[Callable[[], Episode]] = asyncio.Queue()

    def start(self, assignment: Assignment) -> None:
        """Begin to play."""
        player = Player(self._terms, assignment, self._abandon)
        task = asyncio.ensure_future(player.play())
        self._running[task] = player
        task.add_done_callback(self._end)

    async def landed(self) -> Episode:
        """Return the next episode that ends."""
        return (await self._landed.get())()

    def _end(self, task: asyncio.Task[Episode]) -> None:
        if self._running.pop(task, None) is not None:  # else it was abandoned before
            self._landed.put_nowait(task.result)

    def _abandon(self, task: asyncio.Task[Episode]) -> None:
        self._landed.put_nowait(self._running.pop(task).abandoned)

    async def close(self) -> None:
        """Cancel what is running, and wait until it has ended or is abandoned."""
        for task in self._running:
            task.cancel()
        while self._running:
            await self._landed.get()

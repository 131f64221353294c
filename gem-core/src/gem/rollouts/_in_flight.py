"""The episodes of a run that are in flight, and what they need: begun, watched over, handed out.

Knows nothing about which episodes come next, or in which order they are wanted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from typing import Any, NamedTuple

from gem.episode._episode import Episode
from gem.hooks import announce
from gem.hosting._rollout_envs import RolloutEnvs
from gem.rollouts._asking import AskedPolicy
from gem.rollouts._deadlines import Limit, Sweeper
from gem.rollouts._episode_runner import EpisodeRunner, MakeEpisode, RunContext
from gem.rollouts._lag import LoopWatch
from gem.rollouts._options import RolloutOptions
from gem.rollouts._planning import PlannedEpisode
from gem.rollouts._policies import Policies

__all__ = ["EpisodesInFlight", "Run"]


class Run(NamedTuple):
    """What `rollout` was asked for: who plays which episodes, where, and how."""

    policies: Policies
    envs: RolloutEnvs
    plan: Sequence[PlannedEpisode]
    options: RolloutOptions
    progress: AbstractContextManager[object]


class EpisodesInFlight:
    """The episodes that are being played, each by a task of its own, and what they need.

    It is entered on the event loop that plays them. Left, it cancels those that are still played,
    and returns when none is any more and every environment is closed.

    It is no asynchronous generator, though that would be shorter. Generators that a program leaves
    behind are closed by asyncio as the loop ends, all at once: this one would be closed beside the
    generator of the rollout, which still needs it for its own end.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stats = run.options.stats
        self._restarts = 0  # of workers, as far as the stats have counted them
        self._running: dict[asyncio.Task[MakeEpisode], tuple[int, EpisodeRunner]] = {}
        # Of each episode that ended: its place, and what gives its maker or raises.
        self._ended: asyncio.Queue[tuple[int, Callable[[], MakeEpisode]]] = asyncio.Queue()

    async def __aenter__(self) -> EpisodesInFlight:
        run = self._run
        stats = self._stats
        sweeper = Sweeper()
        async with AsyncExitStack() as held:
            # Left in the opposite order: first the progress, then every episode ends. Only then
            # may the timer stop that abandons those which do not end, may environments be closed
            # that nothing plays in any more, and stops the time that all of this takes.
            if stats is not None:
                stats.begin_run()
                held.callback(stats.end_run)
            held.push_async_callback(run.policies.close)
            held.push_async_callback(run.envs.close)
            held.callback(sweeper.close)
            held.push_async_callback(self._end_all)
            held.enter_context(run.progress)
            if stats is not None:
                # Left before the progress, which tells what it counts last.
                held.enter_context(LoopWatch(stats))
            # Before anything is kept: a plan that cannot be read must leave nothing open.
            self._context = self._shared_by_episodes(sweeper)
            self._held = held.pop_all()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._held.__aexit__(*error)

    def _shared_by_episodes(self, sweeper: Sweeper) -> RunContext:
        policies, envs, plan, options, _ = self._run
        policy_limit = _limit(sweeper, options.policy_timeout_s)
        # One object for each policy of the run, and not for each of its episodes: making one
        # takes as long as a step.
        asked = tuple(
            AskedPolicy(
                named.policy,
                named.name,
                position,
                retries=options.policy_retries,
                retry_wait_s=options.retry_wait_s,
                limit=policy_limit,
                stats=self._stats,
            )
            for position, named in enumerate(policies.named)
        )
        return RunContext(
            policies,
            envs,
            waiting=Counter(planned.env_index for planned in plan),
            asked=asked,
            step_limit=_limit(sweeper, options.step_timeout_s),
            episode_limit=_limit(sweeper, options.episode_timeout_s),
            max_turns=options.max_turns,
            stats=self._stats,
        )

    def __len__(self) -> int:
        """How many have begun and not been taken by `next_ended`."""
        return len(self._running) + self._ended.qsize()

    def start(self, episodes: Iterable[tuple[int, PlannedEpisode]]) -> None:
        """Begin to play episodes, each with its place in the plan."""
        for place, planned in episodes:
            self._context.waiting[planned.env_index] -= 1
            runner = EpisodeRunner(self._context, planned, self._abandon)
            task = asyncio.ensure_future(runner.run())
            # Before the task can end: its end looks it up.
            self._running[task] = place, runner
            task.add_done_callback(self._end)

    async def next_ended(self) -> tuple[int, Episode]:
        """Return the next episode that ends, and its place in the plan."""
        place, outcome = await self._ended.get()
        # The record is made only now: many may have ended at once, and whole they take more room.
        make_episode = outcome()
        episode = make_episode()
        stats = self._stats
        if stats is not None:
            restarts = self._run.envs.restarts
            # Only what is new: one object may count several runs.
            stats.restarts += restarts - self._restarts
            self._restarts = restarts
            stats.count_episode(is_error=episode.is_error, is_success=bool(episode.success))
        announce("gem_episode_finished", episode=episode)
        return place, episode

    def _end(self, task: asyncio.Task[MakeEpisode]) -> None:
        if task in self._running:  # else it was abandoned before
            place, _ = self._running.pop(task)
            self._ended.put_nowait((place, task.result))

    def _abandon(self, task: asyncio.Task[MakeEpisode]) -> None:
        # Several watches may be over one task, and each of them may find that it does not end.
        if task in self._running:
            # Taken out now: should the task end after all, its episode has been handed out.
            place, runner = self._running.pop(task)
            self._ended.put_nowait((place, runner.abandoned))

    async def _end_all(self) -> None:
        """Cancel what is running, and wait until it has ended or is abandoned."""
        for task in self._running:
            task.cancel()
        # Every task that ends or is abandoned puts an entry, so this wakes until none is left.
        while self._running:
            await self._ended.get()


def _limit(sweeper: Sweeper, timeout_s: float | None) -> Limit | None:
    return None if timeout_s is None else sweeper.limit(timeout_s)

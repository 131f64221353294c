"""Run episodes: one coroutine each, many in flight, the same content in whatever order.

Knows nothing about where policies come from or where episodes are kept.

What a program that runs episodes needs besides `gem.rollout` is here too: its options, checked
(`RunKeywords`, `check_rollout`), a plan of Assignments, RolloutStats and Progress, what an
environment and a wrapper may be given as (EnvLike, WrapperLike), `resolve`, `make_policy`, and the
last try of each episode in a log.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from gem.conversation import Policy
from gem.counting import RolloutStats
from gem.deadlines import Sweeper
from gem.episode import Episode
from gem.episode_log import read_last_tries
from gem.errors import BadArguments, EnvUsageError
from gem.hooks import announce
from gem.hosting.choosing import host_of
from gem.hosting.recipes import Recipe
from gem.hosting.rollout_envs import RolloutEnvs
from gem.making import EnvLike, WrapperLike, make_policy, resolve
from gem.mixtures import Component
from gem.planning import Assignment, Envs, as_list, plan_episodes
from gem.player import Player, Record, Terms
from gem.progress import Progress
from gem.quantities import check_count
from gem.rollout_options import (
    RolloutKeywords,
    RolloutOptions,
    RunKeywords,
    options_from,
    unknown_option,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Assignment",
    "Component",
    "EnvLike",
    "Progress",
    "Rollout",
    "RolloutOptions",
    "RolloutStats",
    "RunKeywords",
    "WrapperLike",
    "check_count",
    "check_rollout",
    "count_tasks",
    "make_policy",
    "plan_episodes",
    "read_last_tries",
    "resolve",
    "rollout",
    "unknown_option",
]


def rollout(
    policy: Policy,
    env: Envs,
    *,
    options: RolloutOptions | None = None,
    **keywords: Unpack[RolloutKeywords],
) -> Rollout:
    """Yield finished episodes in completion order; their content is the same in any order.

    `env` is what `gem.make` takes (an id, a target, a class, a function that makes an instance, a
    spec), or a list of them. Every option is a keyword: `episodes` (of each environment),
    `repeats`, `seed` or a `plan` instead; `wrappers`, `env_kwargs`, `max_turns`; `concurrency`,
    `backend`, `num_workers`, `backend_options`; `step_timeout_s`, `policy_timeout_s`,
    `episode_timeout_s`, `policy_retries`, `retry_wait_s`; `stats` and
    `progress`. `gem.RolloutOptions` says what each is, and holds all of them as one object:
    `options`. A keyword beside it stands in place of its own.

    At most `concurrency` episodes are in flight, and no more are started than are taken. An error
    of the environment or of the policy ends its own episode as truncated, with a `stop_reason` and
    the error's text, and no other. A policy call that fails or is late is made again with the same
    request, up to `policy_retries` times; the record holds the answer that was taken and the whole
    time until it came. An episode that outlasts `episode_timeout_s` ends by the reason of whom it
    then waited for, `step_timeout` (also while its environment is made or reset) or
    `policy_error`. `progress` is one line on stderr, on a terminal redrawn in place and elsewhere
    written every ten seconds.

    Where the environments run, by `backend`:

    - "inline" (or "sync"): blocking steps run on threads; one that outlasts `step_timeout_s` is
      abandoned with its environment. A step that declares `blocking=False` runs on the event
      loop, where no deadline can interrupt it.
    - "thread": every step runs on a thread.
    - "process": in `num_workers` processes, as many as there are processors. A step that outlasts
      `step_timeout_s` is stopped, if need be with its process, and one that ends its process is
      `worker_lost`; the other episodes of that process go on in another. What makes an environment
      must be data. `backend_options` are `start_method`, `most_memory_bytes` and
      `most_answer_bytes`, as of `gem.hosting.processes.ProcessHost`.
    - Plugins add others, each under its word: the manifest's `executors`.

        async for episode in gem.rollout(policy, "game:GuessTheNumber-v0-hard", episodes=8):
            print(episode.total_reward)
    """
    if not callable(policy):
        raise BadArguments(
            f"{policy!r:.60} was given as the policy, and cannot be called. Give a function, or an "
            "object with `__call__`, from a Request to a Reply, a Message or a string.",
            subject="policy",
        )
    chosen = options_from(options, keywords)
    envs = _envs_of(env, chosen)
    plan = chosen.plan
    if plan is None:
        plan = plan_episodes(
            env,
            episodes=chosen.episodes,
            seed=chosen.seed,
            repeats=chosen.repeats,
            num_tasks=envs.num_tasks,
        )
    stats = chosen.stats
    shown: AbstractContextManager[object] = nullcontext()
    if chosen.progress:
        stats = stats or RolloutStats()
        shown = Progress(stats, total=len(plan))
    deadlines = _Deadlines(chosen.step_timeout_s, chosen.policy_timeout_s, chosen.episode_timeout_s)
    waiting = Counter(assignment.env_index for assignment in plan)
    terms = Terms(
        policy,
        envs,
        waiting,
        max_turns=chosen.max_turns,
        retries=chosen.policy_retries,
        retry_wait_s=chosen.retry_wait_s,
        stats=stats,
    )
    return Rollout(_Run(terms, deadlines, plan, chosen.concurrency, shown))


def check_rollout(env: Envs, options: RolloutOptions) -> None:
    """Raise what `rollout` would raise of these environments and options. Starts nothing.

    Unlike a RolloutOptions by itself this also asks the environments' specs and the backend.
    """
    _envs_of(env, options)


def count_tasks(env: Envs, options: RolloutOptions) -> list[int | None]:
    """Return how many tasks each environment has, None where that is not a finite set.

    Each is asked where the options say that it lives: one that needs a process is not made here.
    """
    with _envs_of(env, options) as envs:
        return [envs.num_tasks(env_index) for env_index in range(len(envs.specs))]


def _envs_of(env: Envs, options: RolloutOptions) -> RolloutEnvs:
    """Return the environments. A backend starts nothing before one of them is opened."""
    recipes = [Recipe(like, options.wrappers, options.env_kwargs) for like in as_list(env)]
    host = host_of(
        options.backend,
        num_workers=options.num_workers,
        step_timeout_s=options.step_timeout_s,
        options=options.backend_options,
    )
    return RolloutEnvs(host, recipes, step_timeout_s=options.step_timeout_s)


class Rollout:
    """A run that `rollout` describes, of episodes or of groups: nothing begins before one is taken.

    Leaving it early cancels what is in flight; `aclose` waits until that has ended.
    """

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._episodes = run.episodes()
        self._taken_as: str | None = None

    def __aiter__(self) -> AsyncGenerator[Episode, None]:
        self._take("episodes")
        return self._episodes

    async def __anext__(self) -> Episode:
        return await anext(aiter(self))

    def __iter__(self) -> NoReturn:
        raise EnvUsageError(
            "A rollout was iterated by a plain `for`, and its episodes come asynchronously. Write "
            "`for episode in gem.run(...)`, with the same arguments; or `async for episode in "
            "gem.rollout(...)`, in a coroutine or a notebook."
        )

    @property
    def plan(self) -> Sequence[Assignment]:
        """The episodes of the run, in the order in which they begin."""
        return self._run.plan

    async def aclose(self) -> None:
        """End the run. What it holds is closed when this returns."""
        await self._episodes.aclose()

    def groups(self) -> AsyncGenerator[list[Episode], None]:
        """Yield the `repeats` of one seed as a list once all have ended, in the order of the plan.

        Whoever takes the first n groups gets the same n, however long any episode took. Meanwhile
        the others are played on, up to `concurrency` episodes (or one group, if that is more)
        beyond those in flight.

            async for group in gem.rollout(policy, env, episodes=32, repeats=8).groups():
                advantages = grpo(group)

        Raises EnvUsageError where the run was taken before: a run is one or the other, once.
        """
        self._take("groups")
        return self._run.groups()

    def _take(self, way: str) -> None:
        if self._taken_as not in (None, "episodes") or (self._taken_as and way == "groups"):
            raise EnvUsageError(
                f"The {way} of a rollout were asked for, and its {self._taken_as} were taken "
                "before. Call gem.rollout again for another run."
            )
        self._taken_as = way


class _Run(NamedTuple):
    terms: Terms
    deadlines: _Deadlines
    plan: Sequence[Assignment]
    concurrency: int
    shown: AbstractContextManager[object]

    async def episodes(self) -> AsyncGenerator[Episode, None]:
        """Yield each episode when it has ended; start another when it is taken."""
        waiting = iter(enumerate(self.plan))
        async with _Flight(self) as flight:
            flight.start(islice(waiting, self.concurrency))
            for _ in self.plan:
                _, episode = await flight.finished()
                yield episode
                flight.start(islice(waiting, 1))

    async def groups(self) -> AsyncGenerator[list[Episode], None]:
        """Yield each group when it and all before it have ended."""
        waiting, ended = iter(enumerate(self.plan)), dict[int, Episode]()
        sizes = [len(list(group)) for _, group in groupby(self.plan, _same_start)]
        room = self.concurrency + max([self.concurrency, *sizes])
        first = 0
        async with _Flight(self) as flight:
            for size in sizes:
                group = range(first, first + size)
                while True:
                    begun = flight.flying + len(ended)
                    free = min(self.concurrency - flight.flying, room - begun)
                    flight.start(islice(waiting, free))
                    if all(place in ended for place in group):
                        break
                    place, episode = await flight.finished()
                    ended[place] = episode
                yield [ended.pop(place) for place in group]
                first += size


def _same_start(assignment: Assignment) -> tuple[int, int]:
    return assignment.env_index, assignment.episode_index


class _Deadlines(NamedTuple):
    step_s: float | None
    policy_s: float | None
    episode_s: float | None

    def swept_by(self, sweeper: Sweeper, terms: Terms) -> Terms:
        """Return the terms with these limits."""
        step, policy, episode = (None if each is None else sweeper.limit(each) for each in self)
        return replace(terms, step_limit=step, policy_limit=policy, episode_limit=episode)


class _Flight:
    """The episodes that are being played, each by a task of its own, and what they need.

    No generator, though it would be shorter: asyncio closes those that are left behind all at
    once, also one that another still needs for its own end.
    """

    def __init__(self, run: _Run) -> None:
        self._run, self._terms = run, run.terms
        self._restarts = 0
        self._running: dict[asyncio.Task[Record], tuple[int, Player]] = {}
        self._finished: asyncio.Queue[tuple[int, Callable[[], Record]]] = asyncio.Queue()

    async def __aenter__(self) -> _Flight:
        stats, sweeper = self._terms.stats, Sweeper()
        async with AsyncExitStack() as held:
            if stats is not None:
                stats.begin_run()
                held.callback(stats.end_run)
            held.push_async_callback(self._terms.envs.close)
            held.callback(sweeper.close)
            held.push_async_callback(self._end_all)
            held.enter_context(self._run.shown)
            self._held = held.pop_all()
        self._terms = self._run.deadlines.swept_by(sweeper, self._terms)
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._held.__aexit__(*error)

    @property
    def flying(self) -> int:
        """How many have begun and not been taken by `finished`."""
        return len(self._running) + self._finished.qsize()

    def start(self, assignments: Iterable[tuple[int, Assignment]]) -> None:
        """Begin to play assignments, each with its place in the plan."""
        for place, assignment in assignments:
            self._terms.waiting[assignment.env_index] -= 1
            player = Player(self._terms, assignment, self._abandon)
            task = asyncio.ensure_future(player.play())
            self._running[task] = place, player
            task.add_done_callback(self._end)

    async def finished(self) -> tuple[int, Episode]:
        """Return the next episode that ends, and its place in the plan."""
        place, outcome = await self._finished.get()
        episode = outcome()()  # only now: many may have ended at once
        if self._terms.stats is not None:
            restarts = self._terms.envs.restarts
            self._terms.stats.restarts += restarts - self._restarts
            self._restarts = restarts
            self._terms.stats.count_episode(
                is_error=episode.is_error, is_success=bool(episode.success)
            )
        announce("gem_episode_finished", episode=episode)
        return place, episode

    def _end(self, task: asyncio.Task[Record]) -> None:
        if task in self._running:  # else it was abandoned before
            place, _ = self._running.pop(task)
            self._finished.put_nowait((place, task.result))

    def _abandon(self, task: asyncio.Task[Record]) -> None:
        place, player = self._running.pop(task)
        self._finished.put_nowait((place, player.abandoned))

    async def _end_all(self) -> None:
        """Cancel what is running, and wait until it has ended or is abandoned."""
        for task in self._running:
            task.cancel()
        while self._running:
            await self._finished.get()

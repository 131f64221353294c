"""Run episodes: one coroutine each, many in flight, the same content in whatever order.

Knows nothing about where policies come from or where episodes are kept.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, NoReturn

from gem.episode._episode import Episode
from gem.errors import BadArguments, EnvUsageError
from gem.hosting._choosing import host_of
from gem.hosting._recipes import Recipe
from gem.hosting._rollout_envs import RolloutEnvs
from gem.registry._making import as_list
from gem.rollouts._in_flight import EpisodesInFlight, Run
from gem.rollouts._options import RolloutKeywords, RolloutOptions, options_from
from gem.rollouts._planning import Envs, PlannedEpisode, plan_episodes
from gem.rollouts._policies import PolicyLike, as_policies
from gem.rollouts._progress import Progress
from gem.rollouts._schedules import Schedule
from gem.rollouts._stats import RolloutStats

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Rollout", "check_rollout", "count_tasks", "rollout", "seats_of"]


def rollout(
    policy: PolicyLike | Mapping[str, PolicyLike] | Sequence[PolicyLike],
    env: Envs,
    *,
    options: RolloutOptions | None = None,
    **keywords: Unpack[RolloutKeywords],
) -> Rollout:
    """Yield finished episodes in completion order; their content is the same in any order.

    `policy` is a callable, or the name of a policy that an installed pack provides: "solver" and
    "openai:MODEL@BASE_URL" are gem-eval's. The run closes one that it made by its name. In an
    environment of several seats it sits at all of them. A mapping from the names of seats says who
    sits where, and a list rotates: policy `i` is at the seat `(i + rotation) % seats`, the rotation
    being the episode's number.

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
      `most_answer_bytes` (docs/backends.md).
    - Plugins add others, each under its word: the manifest's `executors`.

        async for episode in gem.rollout(policy, "game:GuessTheNumber-v0-hard", episodes=8):
            print(episode.total_reward)
    """
    chosen = options_from(options, keywords)
    policies = as_policies(policy)
    envs = _envs_of(env, chosen)
    plan = chosen.plan
    with ExitStack() as stack:
        # Workers that began in order to count tasks end here where no run comes of it.
        stack.enter_context(envs)
        if not policies.are_for_any_seats:
            for env_index, spec in enumerate(envs.specs):
                policies.check(envs.seats(env_index), spec.id)
        if plan is None:
            plan = plan_episodes(
                env,
                episodes=chosen.episodes,
                seed=chosen.seed,
                repeats=chosen.repeats,
                num_tasks=envs.num_tasks,
            )
        if isinstance(env, Schedule) and (chosen.plan is None or not policies.are_for_any_seats):
            _require_equal_seats(envs, {planned.env_index for planned in plan})
        # Last, for nobody would close them where something else fails.
        policies.make()
        stack.pop_all()
    progress: AbstractContextManager[object] = nullcontext()
    if chosen.progress:
        stats = chosen.stats or RolloutStats()
        chosen = replace(chosen, stats=stats)
        progress = Progress(stats, total=len(plan))
    return Rollout(Run(policies, envs, plan, chosen, progress))


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


def seats_of(env: Envs, options: RolloutOptions) -> list[tuple[str, ...]]:
    """Return the names of the seats of each environment.

    Each is asked where the options say that it lives: one that needs a process is not made here.
    """
    with _envs_of(env, options) as envs:
        return [envs.seats(env_index) for env_index in range(len(envs.specs))]


def _require_equal_seats(envs: RolloutEnvs, env_indices: Iterable[int]) -> None:
    """Refuse a schedule whose environments that come have different seats."""
    seats = {envs.seats(env_index) for env_index in env_indices}
    if len(seats) > 1:
        raise BadArguments(
            f"A schedule was given environments with the seats {' and '.join(map(str, seats))}. "
            "Give it some whose seats are equal.",
            subject="schedule",
        )


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

    def __init__(self, run: Run) -> None:
        self._run = run
        # A generator that knows the run alone: with a cycle to this object, leaving early would
        # end nothing until the garbage collector found it.
        self._episodes = _episodes(run)
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
    def plan(self) -> Sequence[PlannedEpisode]:
        """The episodes of the run, in the order in which they begin."""
        return self._run.plan

    async def aclose(self) -> None:
        """End the run. What it holds is closed when this returns."""
        await self._episodes.aclose()
        if self._taken_as is None:  # nothing has begun that would close these at its end
            await self._run.policies.close()
            await self._run.envs.close()

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
        return _groups(self._run)

    def _take(self, way: str) -> None:
        if self._taken_as not in (None, "episodes") or (self._taken_as and way == "groups"):
            raise EnvUsageError(
                f"The {way} of a rollout were asked for, and its {self._taken_as} were taken "
                "before. Call gem.rollout again for another run."
            )
        self._taken_as = way


async def _episodes(run: Run) -> AsyncGenerator[Episode, None]:
    """Yield each episode when it has ended; start another when it is taken."""
    waiting = iter(enumerate(run.plan))
    async with EpisodesInFlight(run) as in_flight:
        in_flight.start(islice(waiting, run.options.concurrency))
        for _ in run.plan:
            _, episode = await in_flight.next_ended()
            yield episode
            # After the yield: whoever takes no more episodes starts no more.
            in_flight.start(islice(waiting, 1))


async def _groups(run: Run) -> AsyncGenerator[list[Episode], None]:
    """Yield each group when it and all before it have ended."""
    concurrency = run.options.concurrency
    waiting = iter(enumerate(run.plan))
    ended: dict[int, Episode] = {}  # by the place in the plan
    sizes = [len(list(group)) for _, group in groupby(run.plan, _same_start)]
    # How many may have begun that are not handed out: those in flight, and beside them as many
    # again, or a whole group. With less, a group larger than that would never be whole.
    room = concurrency + max([concurrency, *sizes])
    first = 0
    async with EpisodesInFlight(run) as in_flight:
        for size in sizes:
            group = range(first, first + size)
            while True:
                begun = len(in_flight) + len(ended)
                free = min(concurrency - len(in_flight), room - begun)
                in_flight.start(islice(waiting, free))
                if all(place in ended for place in group):
                    break
                place, episode = await in_flight.next_ended()
                ended[place] = episode
            yield [ended.pop(place) for place in group]
            first += size


def _same_start(planned: PlannedEpisode) -> tuple[int, int]:
    return planned.env_index, planned.episode_index

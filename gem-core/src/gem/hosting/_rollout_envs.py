"""The environments of a rollout: made on demand, awaited, used again, given up when they fail.

Knows nothing about episodes or policies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Union

from gem.content import Observation
from gem.env._env import Env
from gem.env._lifecycle._forms import waits
from gem.env._step import Step
from gem.errors import GemError, in_one_line
from gem.hosting._awaiting import AwaitedHost
from gem.hosting._failure import Failure
from gem.hosting._in_thread import InThreadHost
from gem.hosting._messages import ASK, DROP, MAKE, RESET, STEP
from gem.hosting._port import Host, MakesEnv, Outcome, warn_of_close
from gem.hosting._recipes import Recipe
from gem.hosting._slot_envs import resample
from gem.hosting._threads import ThreadHost
from gem.registry._making import resolve
from gem.specs import EnvSpec

__all__ = ["HostedEnv", "RolloutEnvs", "Shown"]

Shown = tuple[bool, bool, Sequence[Mapping[str, Any]]]
"""How a seat is shown things: `rewrites_history`, `prompt_is_finished` and the tools."""

_Start = tuple[Observation, dict[str, Any]]


class RolloutEnvs:
    """The asynchronous front of a host: the environments of a run, by their position in its list.

    Where the host calls environments in this thread, those that may block get threads, so that
    the event loop never waits for one.
    """

    def __init__(
        self, host: Host, recipes: Sequence[Recipe], *, step_timeout_s: float | None
    ) -> None:
        self.specs = [resolve(recipe.env) for recipe in recipes]
        for recipe in recipes:
            host.check(recipe)
        self._host = host
        self._recipes = recipes
        self._step_timeout_s = step_timeout_s
        self._here = host if isinstance(host, InThreadHost) else None
        self._awaited: AwaitedHost | None = None  # none before the event loop runs
        self._idle: list[list[HostedEnv]] = [[] for _ in recipes]
        self._descriptions: dict[int, Mapping[str, Any]] = {}

    def __enter__(self) -> RolloutEnvs:
        return self

    def __exit__(self, *error: object) -> None:
        self._host.close()

    @property
    def restarts(self) -> int:
        """How many workers were lost and replaced."""
        return self._host.restarts

    def num_tasks(self, env_index: int) -> int | None:
        """Return how many tasks an environment has. Raises as `seats` does."""
        number: int | None = self._description(env_index)["num_tasks"]
        return number

    def seats(self, env_index: int) -> tuple[str, ...]:
        """Return the names of an environment's seats.

        It is asked where it lives, once, and this waits for the answer. Raises what making it
        raised; a GemError where that happened in another process.
        """
        seats: tuple[str, ...] = self._description(env_index)["seats"]
        return seats

    def _description(self, env_index: int) -> Mapping[str, Any]:
        known = self._descriptions.get(env_index)
        if known is not None:
            return known
        slot = self._host.open(self._recipes[env_index])
        self._host.submit([(MAKE, slot)])
        [(_, outcome)] = self._host.collect(1)
        # Also where it failed: the slot is taken, and its number would come out of `collect` later.
        self._host.submit([(DROP, slot)])
        self._host.collect(1)
        if isinstance(outcome, Failure):
            name = self.specs[env_index].id
            raise outcome.__cause__ or GemError(
                f"The tasks of {name!r} were asked for, and it cannot be made: {outcome.text}"
            )
        description: Mapping[str, Any] = outcome
        self._descriptions[env_index] = description
        return description

    async def take(self, env_index: int) -> HostedEnv:
        """Return an environment that nobody else uses. Raises where it cannot be made."""
        if self._idle[env_index]:
            return self._idle[env_index].pop()
        recipe = self._recipes[env_index]
        if self._here is not None and not self.specs[env_index].blocking:
            # Only what was made says whether it blocks: its spec is that of the whole stack.
            env = recipe()
            if env.spec is not None and not env.spec.blocking:
                return _LocalEnv(env)
            made = [env]  # it goes once: where it failed, the next must be a new one
            return await self._made(lambda: made.pop() if made else recipe())
        return await self._made(recipe)

    async def _made(self, recipe: MakesEnv) -> _SlotEnv:
        host = self._awaited_host()
        env = _SlotEnv(host, host.host.open(recipe))
        try:
            description = await env.outcome_of((MAKE, env.slot))
        except BaseException:
            self.abandon(env)
            raise
        env.spec = description["spec"]
        env.seats = description["seats"]
        return env

    def _awaited_host(self) -> AwaitedHost:
        # Not before it is needed: a host of threads has sockets, and many runs need none.
        if self._awaited is None:
            host = self._host
            if self._here is not None:
                host = ThreadHost(timeout_s=self._step_timeout_s)
            self._awaited = AwaitedHost(host)
        return self._awaited

    def idle(self, env_index: int) -> int:
        """Return how many environments wait for the next episodes."""
        return len(self._idle[env_index])

    def give_back(self, env_index: int, env: HostedEnv) -> None:
        """Offer an environment to the next episode: its next call is a reset."""
        self._idle[env_index].append(env)

    async def discard(self, env: HostedEnv) -> None:
        """Close an environment that nobody uses again; a failure is warned of."""
        if not isinstance(env, _LocalEnv):
            self.abandon(env)
            return
        closing = asyncio.ensure_future(env.close())
        try:
            await asyncio.wait({closing}, timeout=self._step_timeout_s)
            if not closing.done():
                warn_of_close(f"{env.env} outlasts step_timeout_s={self._step_timeout_s}")
        finally:
            closing.cancel()

    def abandon(self, env: HostedEnv) -> None:
        """Give up an environment that a call may still be running in. Waits for nothing."""
        if isinstance(env, _SlotEnv):
            env.host.drop(env.slot)

    async def close(self) -> None:
        """Close every environment that is not in use; a failure is warned of and stops no other."""
        for env in [env for idle in self._idle for env in idle]:
            if isinstance(env, _LocalEnv):
                await self.discard(env)
        # Its descriptor must be watched no more when the host is closed, which is often the same.
        if self._awaited is not None:
            await self._awaited.aclose()
        self._host.close()


class _LocalEnv:
    """An environment that never blocks, called on the event loop: no command, no outcome.

    What an episode uses of it is what it uses of a `_SlotEnv`; `step` need not be awaited.
    """

    __slots__ = ("env", "step")

    keeps_time = False

    def __init__(self, env: Env) -> None:
        self.env = env
        self.step: Callable[[str], Step | Awaitable[Step]]
        self.step = env.astep if waits(env, "step") else env.step

    @property
    def spec(self) -> EnvSpec | None:
        return self.env.spec

    @property
    def seats(self) -> tuple[str, ...]:
        return self.env.seats

    def shown_to(self, seat: int) -> Shown:
        return self.env.shown_to(seat)

    async def reset(self, seed: int, options: Mapping[str, Any], repeat: int) -> _Start:
        start: _Start = await self.env.areset(seed=seed, **options)
        resample(self.env, seed, repeat)
        return start

    async def ask(self, method: str, seat: int = 0) -> str | None:
        return self.env.hint(method, seat)

    async def close(self) -> None:
        """Close it; a failure is warned of."""
        try:
            await self.env.aclose()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - nothing else may be lost by it
            warn_of_close(f"{self.env}: {in_one_line(error)}")


class _SlotEnv:
    """An environment in a slot of a host. A failed call leaves the slot to be reset.

    With `keeps_time` calls that outlast the step's deadline are ended where it lives.
    """

    def __init__(self, host: AwaitedHost, slot: int) -> None:
        self.host = host
        self.slot = slot
        self.keeps_time = host.host.keeps_time
        self.spec: EnvSpec | None = None
        self.seats: tuple[str, ...] = ("agent",)
        self._shown: Sequence[Shown] = ()

    async def reset(self, seed: int, options: Mapping[str, Any], repeat: int) -> _Start:
        """Start an episode. A repeat, another try of the same seed, samples differently."""
        outcome = await self.outcome_of((RESET, self.slot, seed, dict(options), repeat))
        observation, info, self._shown = outcome
        return observation, info

    def shown_to(self, seat: int) -> Shown:
        """As `Env.shown_to`: known once an episode was started."""
        return self._shown[seat]

    async def step(self, action: str) -> Step:
        outcome = await self.host.do((STEP, self.slot, action))
        if type(outcome) is Failure:
            raise outcome
        return Step._make(outcome)

    async def ask(self, method: str, seat: int = 0) -> str | None:
        """Return what "sample_action" or "solve" returns for a seat."""
        answer: str | None = await self.outcome_of((ASK, self.slot, method, seat))
        return answer

    async def outcome_of(self, command: tuple[Any, ...]) -> Outcome:
        """Have a command done. Raises the Failure that it led to."""
        outcome = await self.host.do(command)
        if type(outcome) is Failure:
            raise outcome
        return outcome


HostedEnv = Union[_LocalEnv, _SlotEnv]
"""An environment as an episode uses it. Its calls raise a Failure where it was lost."""

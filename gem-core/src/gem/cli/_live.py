"""Watch policies play: each turn as it comes. Knows nothing about how views are drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gem._python.sync_async import is_awaitable
from gem.cli._opponents import OptionPolicy, Policies, listed
from gem.cli._screen import Display, Exchange, View, display
from gem.cli._views import first_view, next_view, outcome_of
from gem.cli._watching import watch
from gem.content import Observation
from gem.conversation import Policy, PolicyAnswer, Request
from gem.env._env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.episode._episode import Episode
from gem.registry._making import make_policy
from gem.rollouts._planning import PlannedEpisode
from gem.rollouts._rollout import rollout

__all__ = ["watch_policies"]

_TICK_S = 0.25  # how often it is said what is waited for


def watch_policies(
    policies: Policies,
    env_id: str,
    *,
    seed: int,
    env_kwargs: Mapping[str, Any],
    wrappers: Sequence[Any],
) -> int:
    """Let policies play the episode of a seed, and show each turn as it comes. Return the status.

    It is 1 where an error ended what was shown. A policy that asks a server looks first
    whether that answers (`probe`), and raises what it finds: in the episode itself it would wait
    for the server to come back, for minutes.
    """
    screen = display()
    live = _LiveEpisode(policies, env_id, seed, env_kwargs, wrappers, screen)
    try:
        watch(live.views(), screen)
    finally:
        live.close()
    return int(live.is_error)


class _LiveEpisode:
    """The views of an episode that policies play, each when it is asked for.

    A policy is asked for its next answer when the next view is wanted, and the event loop runs
    no longer than until that is there: who looks at a view for an hour makes no answer late.
    """

    def __init__(
        self,
        policies: Policies,
        env_id: str,
        seed: int,
        env_kwargs: Mapping[str, Any],
        wrappers: Sequence[Any],
        screen: Display,
    ) -> None:
        self.is_error = False
        by_seat = {"": policies} if isinstance(policies, str) else policies
        self._heading = f"{env_id} seed {seed}, policy {listed(policies)}"
        self._screen = screen
        self._view: View | None = None
        self._leave = _Leave()
        names = dict.fromkeys(by_seat.values())
        self._policies = {name: _Patient(make_policy(name), name, self._leave) for name in names}
        self._by_seat = {seat: self._policies[name] for seat, name in by_seat.items()}
        # Whose turn it is: the seat, and its policy.
        self._seat = 0
        self._asked = next(iter(self._by_seat.values()))
        self._views: asyncio.Queue[View] = asyncio.Queue()  # views that nobody has asked for yet
        self._run = rollout(
            self._asked if isinstance(policies, str) else self._by_seat,
            env_id,
            plan=[PlannedEpisode(0, 0, 0, seed, None)],
            env_kwargs=env_kwargs,
            # Outermost: what is shown is what the policy is shown, after every other wrapper.
            wrappers=[*wrappers, lambda env: _WatchedEnv(env, self)],
        )
        self._loop = asyncio.new_event_loop()
        self._episode: asyncio.Task[Episode] | None = None

    def views(self) -> Iterator[View]:
        """Yield each view, up to the one with an outcome."""
        while True:
            yield self._loop.run_until_complete(self._next())

    def close(self) -> None:
        """End what still runs, and free what the policy holds."""
        # Ctrl-C may have left a task with its error: nobody is to read of it again.
        self._loop.set_exception_handler(lambda loop, context: None)
        try:
            self._loop.run_until_complete(self._close())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    async def _next(self) -> View:
        if self._episode is None:
            # Before the episode begins: in it, a server that is not there is waited for.
            for policy in self._policies.values():
                await policy.probe()
            self._episode = asyncio.ensure_future(anext(self._run))
        else:
            self._leave.give()
            self._screen.wait(self._awaited(0.0), is_new=True)
        begun = self._loop.time()
        tick_s = None if self._view is None else _TICK_S  # at first there is no screen
        coming_view = asyncio.ensure_future(self._views.get())
        ends: set[asyncio.Future[Any]] = {coming_view, self._episode}
        try:
            while not await _first_of(ends, tick_s):
                self._screen.wait(self._awaited(self._loop.time() - begun), is_new=False)
            # A view comes before the end, also where both are there: it is of an earlier moment.
            if coming_view.done():
                return coming_view.result()
            episode = self._episode.result()
        finally:
            coming_view.cancel()
        self.is_error = episode.is_error
        view = self._view or View(self._heading, (Exchange("", ""),))
        return view._replace(outcome=outcome_of(episode))

    async def _close(self) -> None:
        # Ctrl-C leaves what was waited for, and leaving early the episode itself.
        # All must be over before the policy is closed, whose connections they may use.
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._run.aclose()
        for policy in self._policies.values():
            await policy.aclose()

    def _awaited(self, waited_s: float) -> str:
        """Say in one line what is waited for, and for how long from a second on."""
        policy = self._asked
        if self._leave.is_asked and policy.waits_for:
            return policy.waits_for  # which says how long itself
        is_asked = self._leave.is_asked
        what = f"{policy.own_name} is thinking" if is_asked else "The environment works"
        return what if waited_s < 1 else f"{what}, {waited_s:.0f} s"

    def start(self, env: Env, start: Step) -> None:
        """Show what a reset led to."""
        self._note_turn(env, start)
        self._pass_on(first_view(env, self._heading, start))

    def land(self, env: Env, action: str, step: Step) -> None:
        """Show what an action led to."""
        assert self._view is not None, "a reset was told before"
        view = next_view(self._view, env, self._seat, action, step)
        self._note_turn(env, step)  # before the view is there, below which it stands
        self._pass_on(view, is_last=step.terminated or step.truncated)

    def _note_turn(self, env: Env, step: Step) -> None:
        """Note whose turn it is now."""
        if len(env.seats) > 1:
            self._seat = step.seat
            self._asked = self._by_seat.get(env.seats[step.seat], self._asked)

    def _pass_on(self, view: View, *, is_last: bool = False) -> None:
        """Pass a view on, from whatever thread. The last one comes with its outcome."""
        self._view = view
        # The last view is yielded with how the episode ended, which only its record says.
        if not is_last:
            self._loop.call_soon_threadsafe(self._views.put_nowait, view)


async def _first_of(ends: set[asyncio.Future[Any]], timeout_s: float | None) -> bool:
    """Wait for one of them to end, for so long at most, and say whether one did."""
    done, _ = await asyncio.wait(ends, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


class _Leave:
    """The leave to answer, which the policies of an episode share: whoever is asked takes it."""

    def __init__(self) -> None:
        self._is_given = asyncio.Event()
        self.is_asked = False

    def give(self) -> None:
        """Let whose turn it is answer once; in a round, all that are asked."""
        self.is_asked = True
        self._is_given.set()

    async def take(self) -> None:
        """Wait until it is given."""
        await self._is_given.wait()
        self._is_given.clear()  # before the answer: the next one needs a leave of its own


class _Patient(OptionPolicy):
    """A policy that is asked when it is let: once for each turn that somebody wants to see."""

    def __init__(self, policy: Policy, own_name: str, leave: _Leave) -> None:
        super().__init__(policy, own_name)
        self._leave = leave

    async def __call__(self, request: Request) -> PolicyAnswer:
        await self._leave.take()
        try:
            answer: Any = self._policy(request)
            awaited: PolicyAnswer = await answer if is_awaitable(answer) else answer
            return awaited
        finally:
            self._leave.is_asked = False

    @property
    def waits_for(self) -> str:
        """What it waits for beside its own answer, a server say; empty where that is nothing."""
        return str(getattr(self._policy, "state", ""))


class _WatchedEnv(Wrapper):
    """Tells what it returns, and changes nothing."""

    all_seats = True

    def __init__(self, env: Env, live: _LiveEpisode) -> None:
        super().__init__(env)
        self._live = live

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._live.start(self, Step(observation, info=info))
        return observation, info

    def on_step(self, action: str, step: Step) -> Step:
        self._live.land(self, action, step)
        return step

"""Watch a policy play: each turn as it comes. Knows nothing about how views are drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gem.bridge import is_awaitable
from gem.cli.options import find_modules_here
from gem.cli.screen import Display, Exchange, View, display
from gem.cli.watching import outcome_of, watch
from gem.content import Observation, observation_text
from gem.conversation import Policy, PolicyAnswer, Request
from gem.env import Env
from gem.episode import Episode
from gem.making import make_policy
from gem.planning import Assignment
from gem.rollouts import rollout
from gem.step import Step
from gem.wrapper import Wrapper

__all__ = ["watch_policy"]

_TICK_S = 0.25  # how often it is said what is waited for


def watch_policy(
    name: str,
    env_id: str,
    *,
    seed: int,
    env_kwargs: Mapping[str, Any],
    wrappers: Sequence[Any],
) -> int:
    """Let a policy play the episode of a seed, and show each turn as it comes. Return the status.

    It is 1 where an error ended what was shown. A policy that asks a server looks first
    whether that answers (`probe`), and raises what it finds: in the episode itself it would wait
    for the server to come back, for minutes.
    """
    find_modules_here()
    shown = display()
    played = _Played(name, env_id, seed, env_kwargs, wrappers, shown)
    try:
        watch(played.views(), shown)
    finally:
        played.close()
    return int(played.is_error)


class _Played:
    """The views of an episode that a policy plays, each when it is asked for.

    The policy is asked for its next answer when the next view is wanted, and the event loop runs
    no longer than until that is there: who looks at a view for an hour makes no answer late.
    """

    def __init__(
        self,
        name: str,
        env_id: str,
        seed: int,
        env_kwargs: Mapping[str, Any],
        wrappers: Sequence[Any],
        shown: Display,
    ) -> None:
        self.is_error = False
        self._name = name
        self._heading = f"{env_id} seed {seed}, policy {name}"
        self._shown = shown
        self._view: View | None = None
        self._policy = _Patient(make_policy(name))
        self._told: asyncio.Queue[View] = asyncio.Queue()
        self._run = rollout(
            self._policy,
            env_id,
            plan=[Assignment(0, 0, 0, seed, None)],
            env_kwargs=env_kwargs,
            wrappers=[*wrappers, lambda env: _Told(env, self._start, self._land)],
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
            await self._policy.probe()
            self._episode = asyncio.ensure_future(anext(self._run))
        else:
            self._policy.let()
            self._shown.wait(self._awaited(0.0), is_new=True)
        begun = self._loop.time()
        tick_s = None if self._view is None else _TICK_S  # at first there is no screen
        told = asyncio.ensure_future(self._told.get())
        ends: set[asyncio.Future[Any]] = {told, self._episode}
        try:
            while not (
                await asyncio.wait(ends, timeout=tick_s, return_when=asyncio.FIRST_COMPLETED)
            )[0]:
                self._shown.wait(self._awaited(self._loop.time() - begun), is_new=False)
            if told.done():
                return told.result()
            episode = self._episode.result()
        finally:
            told.cancel()
        self.is_error = episode.is_error
        seen = self._view or View(self._heading, (Exchange("", ""),))
        return seen._replace(outcome=outcome_of(episode))

    async def _close(self) -> None:
        # Ctrl-C leaves what was waited for, and leaving early the episode itself.
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._run.aclose()
        await self._policy.aclose()

    def _awaited(self, waited_s: float) -> str:
        """Say in one line what is waited for, and for how long from a second on."""
        if self._policy.is_asked and self._policy.waits_for:
            return self._policy.waits_for  # which says how long itself
        what = f"{self._name} is thinking" if self._policy.is_asked else "The environment works"
        return what if waited_s < 1 else f"{what}, {waited_s:.0f} s"

    def _start(self, env: Env, observation: Observation, info: Mapping[str, Any]) -> None:
        message, board = _seen(observation, info)
        marks = env.unwrapped.highlights
        turns = (Exchange("", message),)
        self._tell(View(self._heading, turns, board, max_turns=env.max_turns, highlights=marks))

    def _land(self, env: Env, action: str, step: Step) -> None:
        assert self._view is not None, "a reset was told before"
        message, board = _seen(step.observation, step.info)
        turn = Exchange(str(action), message)
        self._tell(
            self._view.after(turn, board, step.reward, replaces=env.rewrites_history),
            is_last=step.terminated or step.truncated,
        )

    def _tell(self, view: View, *, is_last: bool = False) -> None:
        """Pass a view on, from whatever thread. The last one comes with its outcome."""
        self._view = view
        if not is_last:
            self._loop.call_soon_threadsafe(self._told.put_nowait, view)


def _seen(observation: Observation, info: Mapping[str, Any]) -> tuple[str, str]:
    """Return the message and the board."""
    return observation_text(observation), str(info.get("suffix") or "")


class _Patient:
    """A policy that is asked when it is let: once for each turn that somebody wants to see."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._is_let = asyncio.Event()
        self.is_asked = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)  # what a rollout looks for: `wants`, `tokens`, `state`

    async def __call__(self, request: Request) -> PolicyAnswer:
        await self._is_let.wait()
        self._is_let.clear()
        try:
            answer: Any = self._policy(request)
            taken: PolicyAnswer = await answer if is_awaitable(answer) else answer
            return taken
        finally:
            self.is_asked = False

    def let(self) -> None:
        """Let it answer once."""
        self.is_asked = True
        self._is_let.set()

    @property
    def waits_for(self) -> str:
        """What it waits for beside its own answer, a server say; empty where that is nothing."""
        return str(getattr(self._policy, "state", ""))

    async def probe(self) -> None:
        probe = getattr(self._policy, "probe", None)
        if probe is not None:
            await probe()

    async def aclose(self) -> None:
        close = getattr(self._policy, "aclose", None)
        if close is not None:
            await close()


class _Told(Wrapper):
    """Tells what it returns, and changes nothing."""

    def __init__(
        self,
        env: Env,
        start: Callable[[Env, Observation, Mapping[str, Any]], None],
        land: Callable[[Env, str, Step], None],
    ) -> None:
        super().__init__(env)
        self._start = start
        self._land = land

    def on_reset(
        self, observation: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        self._start(self, observation, info)
        return observation, info

    def on_step(self, action: str, step: Step) -> Step:
        self._land(self, action, step)
        return step

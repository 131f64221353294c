"""Run episodes and wait for all of them: a rollout for code that is not asynchronous.

Knows nothing about how episodes are run.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import ctypes
import warnings
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

from gem.episode._episode import Episode
from gem.rollouts._options import RolloutKeywords, RolloutOptions
from gem.rollouts._planning import Envs
from gem.rollouts._policies import PolicyLike
from gem.rollouts._rollout import Rollout, rollout

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["run"]

T = TypeVar("T")

_CLOSING_S = 5.0
"""How long the end of a run waits for tasks that were cancelled."""


def run(
    policy: PolicyLike | Mapping[str, PolicyLike] | Sequence[PolicyLike],
    env: Envs,
    *,
    options: RolloutOptions | None = None,
    **keywords: Unpack[RolloutKeywords],
) -> list[Episode]:
    """Run episodes and return them in the order of their plan. The options are `gem.rollout`'s.

    A notebook has an event loop, which waits meanwhile: the episodes then have one of their own,
    in another thread. Connections that a policy opened on the notebook's loop are of no use there;
    with such a policy write `async for episode in gem.rollout(...)`. Ctrl-C ends the episodes and
    their environments before it is raised; inside `asyncio.run`, which keeps the first one for
    itself, it takes two. Raises what `gem.rollout` does.

        episodes = gem.run(lambda request: "even", "./try.py:Parity", episodes=8)
        print(sum(episode.success for episode in episodes))
    """
    return _waited_for(_episodes(rollout(policy, env, options=options, **keywords)))


async def _episodes(run: Rollout) -> list[Episode]:
    places = {planned[:3]: place for place, planned in enumerate(run.plan)}
    async with aclosing(run):
        episodes = [episode async for episode in run]
    return sorted(episodes, key=lambda episode: places[_identity(episode)])


def _identity(episode: Episode) -> tuple[int, int, int]:
    return episode.env_index, episode.episode_index, episode.repeat


def _waited_for(work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_alone(work))
    return _beside_a_loop(work)


async def _alone(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    finally:
        await _end_others()


def _beside_a_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop of its own in another thread, while this thread's loop waits."""
    loop = asyncio.new_event_loop()
    # Made here and not in the thread: an interrupt may come before that has begun, and the task
    # has the context variables of the caller.
    task = loop.create_task(work)
    # Its end waits for the thread: after an interrupt too, nothing of the run is left behind.
    with concurrent.futures.ThreadPoolExecutor(1, "gem-run") as threads:
        try:
            # A thread whose start is interrupted is not among those that are waited for: it
            # must not have the run to do. So one starts with nothing, and has the run after that.
            threads.submit(int).result()
            return threads.submit(loop.run_until_complete, task).result()
        except BaseException:  # an interrupt, which comes to the main thread, or the run's failure
            loop.call_soon_threadsafe(task.cancel)
            raise
        finally:
            threads.submit(_close, loop, task)


def _close(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    """Close a loop once its task has ended, which an interrupt may have cancelled unbegun."""
    loop.run_until_complete(_end(task))
    loop.close()


async def _end(task: asyncio.Task[Any]) -> None:
    """End what a run left behind, as `asyncio.run` does."""
    await asyncio.wait([task])
    await _end_others()
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


async def _end_others() -> None:
    """Cancel what policies left behind on this loop, and go on without what does not end by that.

    The loop is the run's own, and its end waits for every registered task: for one that ignores
    its cancellation for ever, and the episodes would be lost with it.
    """
    left = _cancelled_others()
    try:
        if left:
            await asyncio.wait(left, timeout=_CLOSING_S)
    finally:
        left |= _cancelled_others()  # a task may answer its cancellation by beginning another
        going_on = [task for task in left if not task.done()]
        for task in going_on:
            # Never freed, not as the process ends either: that would close its coroutine, which
            # may ignore this as well, and for ever.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(task))
        if going_on:
            warnings.warn(
                f"{len(going_on)} tasks of a policy went on as their run ended, because they "
                f"ignore that they are cancelled, or take more than {_CLOSING_S:g} s to end. Let "
                "`asyncio.CancelledError` pass: `except Exception:` does, and `except:` does not.",
                RuntimeWarning,
                stacklevel=2,
            )


def _cancelled_others() -> set[asyncio.Task[Any]]:
    """Cancel every other task of this loop, which then has to wait for none of them.

    At once, and not after they were waited for: an interrupt may come meanwhile.
    """
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
        asyncio._unregister_task(task)
    return others

"""Play one episode to its end, whatever ends it: an answer of the policy, a step, and so on.

Knows nothing about how many are played beside it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

from gem._python.places import text_with_place
from gem.env._step import Step
from gem.episode._episode import Episode, StopReason
from gem.errors import ModelLengthError
from gem.hosting._failure import Failure
from gem.hosting._rollout_envs import HostedEnv, RolloutEnvs
from gem.rollouts._asking import AskedPolicy
from gem.rollouts._deadlines import Abandon, LateError, Limit, Watch
from gem.rollouts._planning import PlannedEpisode
from gem.rollouts._policies import Policies
from gem.rollouts._recording import Recording
from gem.rollouts._seated_recording import SeatedRecording
from gem.rollouts._seated_turns import SeatedTurns
from gem.rollouts._stats import RolloutStats

__all__ = ["EpisodeRunner", "MakeEpisode", "RunContext"]

T = TypeVar("T")

_NO_HINTS = (None, None)
_REASONS: dict[str, StopReason] = {"environment": "step_timeout", "policy": "policy_error"}
"""Why an episode ends that is late, by whom it waited for."""


MakeEpisode = Callable[[], Episode]
"""Makes the record of an episode that has ended. Until it is called, less room is taken."""


@dataclass(frozen=True)
class RunContext:
    """What the episodes of a run share.

    `waiting` counts, by environment, the episodes that have not begun: an environment that none of
    them will take is closed and not kept. `asked` are the policies, in their order.
    """

    policies: Policies
    envs: RolloutEnvs
    waiting: Counter[int]
    asked: Sequence[AskedPolicy]
    step_limit: Limit | None
    episode_limit: Limit | None
    max_turns: int | None
    stats: RolloutStats | None


class EpisodeRunner:
    """Runs one episode. `run` is a task of its own, which deadlines cancel.

    `abandon` is called with that task where it does not end when it is cancelled. `abandoned` then
    ends the episode in its stead.
    """

    def __init__(self, context: RunContext, planned: PlannedEpisode, abandon: Abandon) -> None:
        self.context = context
        self.waits_for: Literal["environment", "policy"] = "environment"
        self._planned = planned
        # Of one seat, until the environment says otherwise.
        first = context.asked[0]
        self._asked: Sequence[AskedPolicy] = (first,)
        spec = context.envs.specs[planned.env_index]
        self._recording = Recording(planned, spec, first.tokens)
        self._env: HostedEnv | None = None
        self._abandon = abandon
        self._is_abandoned = False
        self._step_limit = context.step_limit
        self._began = time.perf_counter()

    async def run(self) -> MakeEpisode:
        """Run the episode to its end, whatever ends it: an error of others is on its record."""
        envs = self.context.envs
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        # Two watches over the one task: the limit of the episode runs while a call's begins anew.
        # They know the run and not this runner: by a cycle each episode would stay in memory until
        # the garbage collector found it.
        self._whole = Watch(task, self._abandon)
        self.calls = Watch(task, self._abandon)
        # What the environment is after this: it may have failed, or a call of it may run on.
        is_failed = False
        is_running = False
        try:
            with self._whole.under(self.context.episode_limit):
                await self._play()
        except LateError as late:
            self.count_late()
            is_running = self.waits_for == "environment"
            reason = _REASONS[self.waits_for]
            self._recording.fail(reason, f"TimeoutError: {self._lateness(late.limit)}")
        except Failure as stopped:
            if stopped.reason == "step_timeout":
                self.count_late()
            self._recording.fail(stopped.reason, stopped.text)
        except asyncio.CancelledError as error:
            # Cancelled by the run's end, nobody asks for the episode; by another, it is an error.
            is_running = True
            self._recording.fail("env_error", text_with_place(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anything
            is_failed = True
            self._recording.fail("env_error", text_with_place(error))
        # Before the environment is closed: that takes time which is not the episode's.
        make_episode = self._episode_maker()
        env_index = self._planned.env_index
        if self._env is None:
            pass
        elif is_running or self._is_abandoned:
            # A call of it goes on: neither another episode nor a close may meet it.
            envs.abandon(self._env)
        elif is_failed or self.context.waiting[env_index] <= envs.idle(env_index):
            await envs.discard(self._env)  # no call of it runs on: what it holds can be freed
        else:
            envs.give_back(env_index, self._env)
        return make_episode

    def leave_behind(self, task: asyncio.Task[Any]) -> None:
        """Leave the episode behind, because a task of it that is not its own does not end."""
        self._abandon(self._task)

    def abandoned(self) -> MakeEpisode:
        """End the episode of a task that did not end when it was cancelled."""
        self.count_late()
        # Set first: should the task end after all, it leaves its environment behind.
        self._is_abandoned = True
        who = self.waits_for
        error = f"TimeoutError: the {who} did not end when it was late"
        self._recording.fail(_REASONS[who], error)
        return self._episode_maker()

    def _episode_maker(self) -> MakeEpisode:
        duration_s = time.perf_counter() - self._began
        return partial(self._recording.record, self._asked[0].name, duration_s)

    def _lateness(self, limit: Limit) -> str:
        who: str = self.waits_for
        if who == "policy":
            seat = self._recording.awaited
            if len(self._asked) > 1:
                who = f"policy of seat {seat}"
            state = self._asked[seat].state
            if state:
                who = f"{who} ({state})"
        if limit is self.context.episode_limit:
            return f"the episode did not end within {limit.timeout_s} s; it waited for the {who}"
        return f"the {who} did not answer within {limit.timeout_s} s"

    def _seat(self, names: Sequence[str]) -> None:
        """Let the policies sit down: the environment has several seats."""
        planned = self._planned
        context = self.context
        rotation = planned.episode_index if planned.rotation is None else planned.rotation
        positions = context.policies.at(names, rotation)
        self._asked = [context.asked[position] for position in positions]
        spec = context.envs.specs[planned.env_index]
        self._recording = SeatedRecording(planned, spec, names, self._asked)

    async def _play(self) -> None:
        """Begin the episode, and take turns until it ends.

        `waits_for` says at every wait whose fault a deadline is. It changes before a call begins,
        and to the policy only once what the environment answered is on record.
        """
        planned = self._planned
        context = self.context
        env = await context.envs.take(planned.env_index)
        self._env = env
        if len(env.seats) > 1:
            self._seat(env.seats)
        recording = self._recording
        recording.place_in(env)
        if env.keeps_time:
            self._step_limit = None  # its host ends what is late, and says so by a Failure
        options = {} if planned.task is None else {"task": planned.task}
        start = await self.in_env(env.reset(planned.seed, options, planned.repeat))
        recording.start(*start)
        del start
        self.waits_for = "policy"
        if isinstance(recording, SeatedRecording):
            await SeatedTurns(self, recording, env, self._asked).play()
            return
        asked = self._asked[0]
        side = recording.side
        while recording.stop_reason is None:
            before = time.perf_counter()
            hints = await self.hints(env, asked.wants, 0) if asked.wants else _NO_HINTS
            request = side.request(recording.observation, *hints)
            if request is None:
                recording.exceed_tokens()
                break
            try:
                reply, text = await asked.answer(request, self.calls, self.count_late)
            except ModelLengthError:
                recording.exceed_model_length()
                break
            answered = time.perf_counter()
            self.refuse_if_late(answered)
            action = recording.act(reply, text, answered - before)
            self.waits_for = "environment"
            step = env.step(action)
            if not isinstance(step, Step):
                # Where the environment lives, its time is kept: nothing is to be watched here.
                step = await (step if self._step_limit is None else self.in_env(step))
            stepped = time.perf_counter()
            self.refuse_if_late(stepped)
            if context.stats is not None:
                context.stats.count_step(stepped - answered)
            recording.finish_turn(step, stepped - answered, context.max_turns)
            self.waits_for = "policy"
            # While the next answer is waited for, nothing holds the last: thousands may wait.
            del reply, text, action, step

    def refuse_if_late(self, now: float) -> None:
        """Hold the episode to its time where nothing in it ever waits."""
        limit = self.context.episode_limit
        if limit is not None and now - self._began > limit.timeout_s:
            limit.check(self._whole)

    async def in_env(self, call: Awaitable[T]) -> T:
        """Await a call of the environment under the deadline of a step."""
        with self.calls.under(self._step_limit):
            return await call

    def count_late(self) -> None:
        """Count a call that was late."""
        # An abandoned episode was counted when it was left behind, and may be late a second time.
        if self.context.stats is not None and not self._is_abandoned:
            self.context.stats.deadline_hits += 1

    async def hints(
        self, env: HostedEnv, wants: Collection[str], seat: int
    ) -> tuple[str | None, str | None]:
        """Ask the environment for what a policy wants of it, and blame the policy if it fails."""
        self.waits_for = "environment"
        try:
            sample = solution = None
            if "sample" in wants:
                sample = await self.in_env(env.ask("sample_action", seat))
            if "solution" in wants:
                solution = await self.in_env(env.ask("solve", seat))
        except Failure as stopped:
            if stopped.reason != "env_error":
                raise
            raise Failure("policy_error", stopped.text) from stopped
        except LateError:
            raise
        except (Exception, SystemExit) as error:
            raise Failure.of(error, "policy_error") from error
        self.waits_for = "policy"
        return sample, solution

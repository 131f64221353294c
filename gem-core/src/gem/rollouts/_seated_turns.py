"""Take the turns of an episode of several seats: the seats of a round are asked at once.

Knows nothing about how the episode began, or about what follows its end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gem.conversation import Reply, Request
from gem.env._step import Step
from gem.errors import ModelLengthError
from gem.hosting._failure import Failure
from gem.hosting._rollout_envs import HostedEnv
from gem.rollouts._asking import AskedPolicy
from gem.rollouts._deadlines import Watch
from gem.rollouts._seated_recording import SeatedRecording

if TYPE_CHECKING:
    from gem.rollouts._episode_runner import EpisodeRunner

__all__ = ["SeatedTurns"]


class _Answer(NamedTuple):
    """A reply, its text as a record keeps it, and the seconds that it took."""

    reply: Reply
    text: str
    policy_s: float


class SeatedTurns:
    """The turns of one episode. `runner` keeps its time, and who is waited for.

    Answers are asked for as soon as the environment asks, and taken in the order in which it says
    whose turn it is. So a call of a tool in a round asks its seat again, and the others' answers
    wait.
    """

    def __init__(
        self,
        runner: EpisodeRunner,
        recording: SeatedRecording,
        env: HostedEnv,
        policies: Sequence[AskedPolicy],
    ) -> None:
        self._runner = runner
        self._recording = recording
        self._env = env
        self._policies = policies
        self._requests: dict[int, Request] = {}  # that are asked when they are waited for
        self._answers: dict[int, asyncio.Task[_Answer]] = {}  # of a round, not taken yet

    async def play(self) -> None:
        """Take turns until the episode ends."""
        recording = self._recording
        runner = self._runner
        try:
            await self._ask()
            while recording.stop_reason is None:
                answer = await self._next_answer()
                runner.refuse_if_late(time.perf_counter())
                before = time.perf_counter()
                action = recording.act(answer.reply, answer.text, answer.policy_s)
                runner.waits_for = "environment"
                step = self._env.step(action)
                if not isinstance(step, Step):
                    step = await runner.in_env(step)
                stepped = time.perf_counter()
                runner.refuse_if_late(stepped)
                if runner.context.stats is not None:
                    runner.context.stats.count_step(stepped - before)
                recording.finish_turn(step, stepped - before, runner.context.max_turns)
                runner.waits_for = "policy"
                if recording.stop_reason is None:
                    await self._ask()
        except ModelLengthError:
            recording.exceed_model_length()
        finally:
            await self._leave_answers()

    async def _ask(self) -> None:
        """Ask the seats that the environment asks: one when it is waited for, several at once."""
        recording = self._recording
        asked = recording.asked
        requests: dict[int, Request] = {}
        for seat in asked:
            recording.awaited = seat  # what fails here is a fault of its policy
            hints = await self._runner.hints(self._env, self._policies[seat].wants, seat)
            request = recording.request_of(seat, *hints)
            if request is None:
                return
            requests[seat] = request
        # All requests come before the first answer: an environment takes one call at a time.
        if len(requests) > 1:
            for seat, request in requests.items():
                self._answers[seat] = asyncio.ensure_future(self._answer_in_task(seat, request))
        else:
            self._requests.update(requests)

    async def _next_answer(self) -> _Answer:
        seat = self._recording.seat
        self._recording.awaited = seat
        if seat in self._answers:
            return await self._answers.pop(seat)
        if seat not in self._requests:
            raise Failure("env_error", f"it is the turn of seat {seat}, which was not asked")
        return await self._answer(seat, self._requests.pop(seat), self._runner.calls)

    async def _answer_in_task(self, seat: int, request: Request) -> _Answer:
        task = asyncio.current_task()
        assert task is not None
        # A watch of its own: each seat of a round has its own deadline. A task that does not give
        # way to it keeps the whole episode, which is then left behind.
        return await self._answer(seat, request, Watch(task, self._runner.leave_behind))

    async def _answer(self, seat: int, request: Request, watch: Watch) -> _Answer:
        before = time.perf_counter()
        reply, text = await self._policies[seat].answer(request, watch, self._runner.count_late)
        return _Answer(reply, text, time.perf_counter() - before)

    async def _leave_answers(self) -> None:
        """End what is still asked: the answers of a round that are not taken are not recorded."""
        for task in self._answers.values():
            task.cancel()
        if self._answers:
            await asyncio.gather(*self._answers.values(), return_exceptions=True)

"""One episode while it is played: the conversation, and what its record will say.

Knows nothing about who plays it, or how many others are played beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from gem.content import Action, Observation, observation_copy, observation_text
from gem.conversation import Conversation, Reply, Request
from gem.env import Env
from gem.episode import Episode, StopReason, Turn, answer_of, is_success
from gem.planning import Assignment
from gem.registry import versions
from gem.seeding import seeds_under
from gem.specs import EnvSpec
from gem.step import Step

__all__ = ["Scene"]


_UNANSWERED = {"reward": 0.0, "terminated": False, "truncated": False}


class _Taken(NamedTuple):
    """An action that the environment has not answered yet."""

    reply: Reply
    action: Action
    policy_s: float


class Scene:
    """One episode while it is played: the conversation, and what its record will say."""

    def __init__(self, assignment: Assignment, spec: EnvSpec) -> None:
        self.assignment, self.spec = assignment, spec
        self.env: Env | None = None
        self.stop_reason: StopReason | None = None
        self.waits_for: Literal["environment", "policy"] = "environment"
        self._error: str | None = None
        self._talk = Conversation()
        self._policy_seed = seeds_under("policy", assignment.seed, assignment.repeat)
        self._turns: list[Turn] = []
        self._taken: _Taken | None = None
        self._sum = 0.0
        self._success: bool | None = None
        self._observation: Observation | None = None
        self._info: Mapping[str, Any] = {}

    def observe(self, observation: Observation, info: Mapping[str, Any]) -> None:
        """Take in what the environment returned."""
        assert self.env is not None
        self._talk.rewrites_history = self.env.rewrites_history
        # What cannot be recorded fails here, in this episode; and an environment may go on to
        # change a list that it returned.
        observation, suffix = observation_copy(observation), info.get("suffix")
        if not (suffix is None or isinstance(suffix, str)):
            raise TypeError(f"info['suffix'] is {suffix!r:.60}, and must be a text")
        self._talk.observe(observation, info)
        self._observation, self._info = observation, info
        self.waits_for = "policy"

    def request(self, env: Env, sample: str | None, solution: str | None) -> Request:
        """Put the next question to the policy."""
        is_finished = env.prompt_is_finished
        turn = len(self._turns)
        return Request(
            messages=() if is_finished else self._talk.messages,
            prompt=observation_text(self._observation or "") if is_finished else None,
            tools=tuple(env.tools),
            seed=self._policy_seed(turn),
            turn=turn,
            env_id=self.spec.id,
            task=self.assignment.task,
            sample=sample,
            solution=solution,
        )

    def act(self, reply: Reply, action: Action, policy_s: float) -> None:
        """Note the action before it is taken, so that one that fails is on record."""
        self.waits_for = "environment"
        self._talk.answer(reply.message)
        self._taken = _Taken(reply, action, policy_s)

    def _turn_of(self, taken: _Taken, answer: Mapping[str, Any], step_s: float = 0.0) -> Turn:
        reply, action, policy_s = taken
        return Turn(
            observation=self._observation if self._observation is not None else "",
            action=str(action),
            suffix=self._info.get("suffix"),
            tool_calls=action.tool_calls,
            step_s=step_s,
            policy_s=policy_s,
            token_ids=reply.token_ids,
            logprobs=reply.logprobs,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            **answer,
        )

    def land(self, step: Step, step_s: float, max_turns: int | None) -> None:
        """Note what the action led to, and whether that was the end."""
        assert self._taken is not None
        turn = self._turn_of(self._taken, answer_of(step), step_s)
        self._sum += turn.reward
        if not math.isfinite(self._sum):
            raise ValueError(f"step returned the reward {turn.reward!r}, too large for a sum")
        self._turns.append(turn)
        self._taken = None
        self.observe(step.observation, step.info)
        if turn.terminated or turn.truncated:
            self.stop_reason = "terminated" if turn.terminated else "truncated"
        elif max_turns is not None and len(self._turns) >= max_turns:
            self.stop_reason = "max_turns"
        if self.stop_reason is not None:
            self._success = is_success(step.info, self._return, self._made_spec.success_return)

    def fail(self, reason: StopReason, error: str) -> None:
        """End the episode by an error."""
        self.stop_reason, self._error = reason, error
        if self._taken is not None:
            self._turns.append(self._turn_of(self._taken, _UNANSWERED))
            self._taken = None
        self._observation = None

    @property
    def _made_spec(self) -> EnvSpec:
        made = None if self.env is None else self.env.spec
        return made or self.spec

    @property
    def _return(self) -> float:
        return math.fsum(turn.reward for turn in self._turns)

    def record(self, policy: str, duration_s: float) -> Episode:
        """Return the finished episode."""
        assert self.stop_reason is not None
        spec, place = self._made_spec, self.assignment
        return Episode(
            env_id=spec.id,
            env_kwargs=dict(spec.kwargs),
            wrappers=tuple({"id": ref.id, "kwargs": dict(ref.kwargs)} for ref in spec.wrappers),
            env_index=place.env_index,
            episode_index=place.episode_index,
            repeat=place.repeat,
            seed=place.seed,
            task=place.task,
            policy=policy,
            turns=tuple(self._turns),
            final_observation=self._observation,
            total_reward=self._return,
            terminated=self.stop_reason == "terminated",
            truncated=self.stop_reason != "terminated",
            stop_reason=self.stop_reason,
            error=self._error,
            success=None if self._error is not None else self._success,
            versions=versions(spec.id),
            duration_s=duration_s,
        )

"""One episode while it is played: the conversation, and what its record will say.

Knows nothing about who plays it, or how many others are played beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from gem.content import (
    Action,
    Observation,
    observation_copy,
    observation_text,
)
from gem.conversation import Conversation, Messages, Reply, Request
from gem.episode import Episode, StopReason, answer_of, is_success
from gem.errors import text_of
from gem.freezing import quick
from gem.hosting import Failure
from gem.hosting.rollout_envs import HostedEnv
from gem.planning import Assignment
from gem.registry import versions
from gem.seeding import seeds_under
from gem.specs import EnvSpec
from gem.step import Step
from gem.tape import Tape
from gem.tokens.context import Given, TokenContext, TokenTerms

__all__ = ["Scene"]


_TOLD = ("token_ids", "logprobs", "finish_reason", "usage", "reasoning")
_NOTHING = (None, None, None, None, None)
_quick_request = quick(Request)


class Scene:
    """One episode while it is played: the conversation, and what its record will say."""

    def __init__(
        self, assignment: Assignment, spec: EnvSpec, tokens: TokenTerms | None = None
    ) -> None:
        self.assignment, self.spec = assignment, spec
        self._tokens = None if tokens is None else TokenContext(tokens)
        self._spoken: Mapping[str, Any] = {}  # what a turn records of the tokens of its action
        self.env: HostedEnv | None = None
        self.stop_reason: StopReason | None = None
        self.waits_for: Literal["environment", "policy"] = "environment"
        self._error: str | None = None
        self._talk = Conversation()
        self._policy_seed = seeds_under("policy", assignment.seed, assignment.repeat)
        self._tape = Tape()
        self._taken: tuple[Reply, str, float] | None = None  # what is not answered yet
        self._is_finished = False
        self._tools: tuple[Mapping[str, Any], ...] = ()
        self._sum = 0.0
        self._success: bool | None = None
        self._observation: Observation | None = None
        self._info: Mapping[str, Any] = {}

    def start(self, observation: Observation, info: Mapping[str, Any]) -> None:
        """Take in how the environment begins."""
        env = self.env
        assert env is not None
        self._is_finished, self._tools = env.prompt_is_finished, tuple(env.tools)
        self._talk.rewrites_history = env.rewrites_history
        self._observe(observation, info)

    def _observe(self, observation: Observation, info: Mapping[str, Any]) -> None:
        # What cannot be recorded fails here, in this episode; and an environment may go on to
        # change a list that it returned.
        observation, suffix = observation_copy(observation), info.get("suffix")
        if not (suffix is None or isinstance(suffix, str)):
            raise TypeError(f"info['suffix'] is {suffix!r:.60}, and must be a text")
        self._talk.observe(observation, info)
        self._observation, self._info = observation, info
        self.waits_for = "policy"

    def request(self, sample: str | None, solution: str | None) -> Request | None:
        """Put the next question to the policy; None where no token is left for an answer."""
        is_finished = self._is_finished
        turn = len(self._tape)
        messages = () if is_finished else self._talk.messages
        prompt = observation_text(self._observation or "") if is_finished else None
        given = self._given(messages, prompt) if self._tokens is not None else (None, None)
        if given is None:
            self._end("max_tokens")
            return None
        prompt_ids, token_budget = given
        group, seat = None, 0
        # By position, in the order of the fields: by name it takes twice the time, and this is
        # every step of every rollout (benchmarks/execution.py --only crowd).
        return _quick_request(
            messages,
            prompt,
            self._tools,
            prompt_ids,
            token_budget,
            self._policy_seed(turn),
            turn,
            self.spec.id,
            self.assignment.task,
            group,
            seat,
            sample,
            solution,
        )

    def _given(self, messages: Messages | tuple[()], prompt: str | None) -> Given | None:
        assert self._tokens is not None
        is_rewritten = self._talk.rewrites_history
        try:
            return self._tokens.ask(messages, prompt, self._tools, is_rewritten=is_rewritten)
        except Exception as error:
            raise Failure("policy_error", text_of(error)) from error

    def act(self, reply: Reply, text: str, policy_s: float) -> Action:
        """Note the action before it is taken, so that one that fails is on record."""
        if self._tokens is not None:
            self._spoken = self._tokens.answered(reply)
        self.waits_for, said = "environment", reply.message
        self._talk.answer(said)
        self._taken = reply, text, policy_s
        return Action(text, tool_calls=said.tool_calls)

    def land(self, step: Step, step_s: float, max_turns: int | None) -> None:
        """Note what the action led to, and whether that was the end."""
        assert self._taken is not None
        observation, _, terminated, truncated, info = step
        others = answer_of(step)
        reward = others.pop("reward")
        self._sum += reward
        if not math.isfinite(self._sum):
            raise ValueError(f"step returned the reward {reward!r}, too large for a sum")
        self._note(self._taken, reward, step_s, others)
        self._observe(observation, info)
        if terminated or truncated:
            self._end("terminated" if terminated else "truncated")
        elif max_turns is not None and len(self._tape) >= max_turns:
            self._end("max_turns")

    def exceed_model_length(self) -> None:
        """End the episode, unsolved, because its prompt does not fit the model's context."""
        self.stop_reason, self._success = "model_length", False

    def _end(self, reason: StopReason) -> None:
        self.stop_reason = reason
        total = self._tape.total
        self._success = is_success(self._info, total, self._made_spec)

    def fail(self, reason: StopReason, error: str) -> None:
        """End the episode by an error."""
        self.stop_reason, self._error = reason, error
        if self._taken is not None:
            self._note(self._taken, 0.0, 0.0, {})
        self._observation = None

    def _note(
        self,
        taken: tuple[Reply, str, float],
        reward: float,
        step_s: float,
        others: dict[str, Any],
    ) -> None:
        """Put the action and its answer on record."""
        reply, text, policy_s = taken
        self._taken = None
        suffix = self._info.get("suffix")
        if suffix is not None:
            others["suffix"] = suffix
        if reply.message.tool_calls:
            others["tool_calls"] = tuple(reply.message.tool_calls)
        told = reply.token_ids, reply.logprobs, reply.finish_reason, reply.usage, reply.reasoning
        if told != _NOTHING:
            others.update(
                {name: it for name, it in zip(_TOLD, told, strict=True) if it is not None}
            )
        others.update(self._spoken)
        seen = self._observation if self._observation is not None else ""
        self._tape.add(seen, text, (reward, step_s, policy_s), others)

    @property
    def _made_spec(self) -> EnvSpec:
        made = None if self.env is None else self.env.spec
        return made or self.spec

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
            turns=tuple(self._tape.turns()),
            final_observation=self._observation,
            total_reward=self._tape.total,
            terminated=self.stop_reason == "terminated",
            truncated=self.stop_reason != "terminated",
            stop_reason=self.stop_reason,
            error=self._error,
            success=None if self._error is not None else self._success,
            versions=versions(spec.id),
            duration_s=duration_s,
            rewrites_history=self._talk.rewrites_history,
        )

"""The record of one episode while it is played: the conversation, and the turns so far.

Knows nothing about who plays it, or how many others are played beside it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from gem._python.fast_dataclass import quick
from gem._python.seeding import seeds_under
from gem.content import Action, Observation, observation_copy
from gem.conversation import PolicyTokens, Reply
from gem.env._step import Step
from gem.episode._episode import Episode, StopReason, is_success
from gem.episode._turn import Turn, answer_of
from gem.hosting._rollout_envs import HostedEnv
from gem.registry._catalogue import versions
from gem.rollouts._planning import PlannedEpisode
from gem.rollouts._side import Side
from gem.specs import EnvSpec

__all__ = ["Recording"]

_FIELDS_OF_REPLY = ("token_ids", "logprobs", "finish_reason", "usage", "reasoning")
_NO_FIELDS = (None, None, None, None, None)
_NO_END = {"terminated": False, "truncated": False}
_quick_turn = quick(Turn)


class Recording:
    """One episode while it is played: what the policy is shown, and what its record will say.

    In each turn `request` gives the question, `act` takes in the policy's answer, and
    `finish_turn` what the answer led to. Whoever plays the episode changes nothing of it but by
    its methods.

    Thousands of episodes may be in flight. A `Turn` of each of their turns would take four times
    the room, and the garbage collector would visit it again and again: what all turns have is in
    columns until the record is made, and what few have is kept apart.
    """

    awaited = 0  # the seat whose policy is waited for

    __slots__ = (
        "_actions",
        "_env",
        "_error",
        "_info",
        "_numbers",
        "_observations",
        "_other_fields",
        "_pending",
        "_planned",
        "_reward_sum",
        "_spec",
        "_success",
        "_suffix",
        "observation",
        "side",
        "stop_reason",
    )

    def __init__(
        self, planned: PlannedEpisode, spec: EnvSpec, policy_tokens: PolicyTokens | None = None
    ) -> None:
        self._planned = planned
        self._spec = spec
        self._env: HostedEnv | None = None

        # What the policy is shown and answers.
        self.side = Side(
            seeds_under("policy", planned.seed, planned.repeat),
            policy_tokens,
            spec.id,
            planned.task,
        )

        # What the environment returned last, which the next action answers.
        self.observation: Observation | None = None
        self._suffix: str | None = None
        self._info: Mapping[str, Any] = {}
        # The action that the environment has not answered yet: the reply, its text, `policy_s`.
        self._pending: tuple[Reply, str, float] | None = None

        # The turns so far.
        self._observations: list[Observation] = []
        self._actions: list[str] = []
        self._numbers = array("d")  # of each turn: reward, step_s, policy_s
        self._other_fields: dict[int, Mapping[str, Any]] = {}  # by the turn, of those that have any
        self._reward_sum = 0.0

        # How it ended.
        self.stop_reason: StopReason | None = None
        self._error: str | None = None
        self._success: bool | None = None

    def place_in(self, env: HostedEnv) -> None:
        """Note the environment, before it is reset: a failed reset has its spec on record too."""
        self._env = env

    def start(self, observation: Observation, info: Mapping[str, Any]) -> None:
        """Take in how the environment begins."""
        assert self._env is not None
        # It is asked after the reset: a mixture knows it once its component is drawn.
        self.side.begin(self._env.shown_to(0))
        self._observe(observation, info)

    def _observe(self, observation: Observation, info: Mapping[str, Any]) -> None:
        # What cannot be recorded fails here, in this episode. It is a copy that is kept, because
        # an environment may go on to change a list that it returned.
        observation = observation_copy(observation)
        suffix = info.get("suffix")
        if not (suffix is None or isinstance(suffix, str)):
            raise TypeError(f"info['suffix'] is {suffix!r:.60}, and must be a text")
        self.side.conversation.observe(observation, info)
        self.observation = observation
        self._suffix = suffix
        self._info = info

    def exceed_tokens(self) -> None:
        """End the episode, because no token is left for an answer."""
        self._end("max_tokens")

    def act(self, reply: Reply, text: str, policy_s: float) -> Action:
        """Return the action of a reply, noted before it is taken: one that fails is on record.

        `text` is what the reply says, as a record keeps it; the reply took `policy_s` seconds.
        """
        side = self.side
        # Before the action is noted: a reply whose tokens are wrong was never an action.
        if side.tokens is not None:
            side.take_tokens(side.tokens, reply)
        side.conversation.answer(reply.message)
        side.turn += 1
        self._pending = reply, text, policy_s
        return Action(text, tool_calls=reply.message.tool_calls)

    def finish_turn(self, step: Step, step_s: float, max_turns: int | None) -> None:
        """Note what the action led to, and whether that was the end of the episode.

        Raises on what no record can hold: a reward that makes no finite sum, an observation that
        is none, a suffix that is no text.
        """
        assert self._pending is not None
        observation, _, terminated, truncated, info = step
        fields = answer_of(step)
        reward = fields.pop("reward")
        # The sum is checked as it grows: at the end it would cost the whole episode its record.
        self._reward_sum += reward
        if not math.isfinite(self._reward_sum):
            raise ValueError(f"step returned the reward {reward!r}, too large for a sum")
        # The turn before the observation that follows it: a turn is recorded with the observation
        # and the suffix that its action answered.
        self._add_turn(self._pending, reward, step_s, fields)
        self._observe(observation, info)
        if terminated or truncated:
            self._end("terminated" if terminated else "truncated")
        elif max_turns is not None and len(self._actions) >= max_turns:
            self._end("max_turns")

    def exceed_model_length(self) -> None:
        """End the episode, unsolved, because its prompt does not fit the model's context."""
        self.stop_reason = "model_length"
        self._success = False

    def fail(self, reason: StopReason, error: str) -> None:
        """End the episode by an error. An action that was not answered is its last turn."""
        self.stop_reason = reason
        self._error = error
        if self._pending is not None:
            self._add_turn(self._pending, 0.0, 0.0, {})
        self.observation = None  # after the last turn, which still answers it

    def _end(self, reason: StopReason) -> None:
        self.stop_reason = reason
        self._success = is_success(self._info, self._total_reward, self._made_spec)

    def _add_turn(
        self,
        pending: tuple[Reply, str, float],
        reward: float,
        step_s: float,
        fields: dict[str, Any],
    ) -> None:
        """Put an action on record, and with `fields` what of its turn is not as usual."""
        reply, text, policy_s = pending
        self._pending = None
        if self._suffix is not None:
            fields["suffix"] = self._suffix
        if reply.message.tool_calls:
            fields["tool_calls"] = tuple(reply.message.tool_calls)
        of_reply = (
            reply.token_ids,
            reply.logprobs,
            reply.finish_reason,
            reply.usage,
            reply.reasoning,
        )
        if of_reply != _NO_FIELDS:
            named = zip(_FIELDS_OF_REPLY, of_reply, strict=True)
            fields.update({name: value for name, value in named if value is not None})
        # Last: where a policy plays by tokens, those of the prompt are in front of the reply's.
        fields.update(self.side.token_fields)
        if fields:
            self._other_fields[len(self._actions)] = {**_NO_END, **fields}
        self._observations.append("" if self.observation is None else self.observation)
        self._actions.append(text)
        self._numbers.extend((reward, step_s, policy_s))

    @property
    def _total_reward(self) -> float:
        """The sum of the rewards, exact: it is no running sum, which rounds at each turn."""
        return math.fsum(self._numbers[::3])

    @property
    def _made_spec(self) -> EnvSpec:
        """The spec of the environment as it was made, else the one that it was to be made from."""
        made = None if self._env is None else self._env.spec
        return made or self._spec

    def record(self, policy: str, duration_s: float) -> Episode:
        """Return the record of the episode, which has ended."""
        assert self.stop_reason is not None
        planned = self._planned
        spec = self._made_spec
        return Episode(
            env_id=spec.id,
            env_kwargs=dict(spec.kwargs),
            wrappers=tuple({"id": ref.id, "kwargs": dict(ref.kwargs)} for ref in spec.wrappers),
            env_index=planned.env_index,
            episode_index=planned.episode_index,
            repeat=planned.repeat,
            seed=planned.seed,
            task=planned.task,
            policy=policy,
            turns=tuple(self._turns()),
            final_observation=self.observation,
            total_reward=self._total_reward,
            terminated=self.stop_reason == "terminated",
            truncated=self.stop_reason != "terminated",
            stop_reason=self.stop_reason,
            error=self._error,
            success=None if self._error is not None else self._success,
            versions=versions(spec.id),
            duration_s=duration_s,
            rewrites_history=self.side.conversation.rewrites_history,
        )

    def _turns(self) -> Iterator[Turn]:
        for turn, action in enumerate(self._actions):
            reward, step_s, policy_s = self._numbers[3 * turn : 3 * turn + 3]
            yield _quick_turn(
                self._observations[turn],
                action,
                reward,
                step_s=step_s,
                policy_s=policy_s,
                **self._other_fields.get(turn, _NO_END),
            )

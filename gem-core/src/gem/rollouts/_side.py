"""What one policy is shown in an episode and what it answers: its conversation, tools and tokens.

Knows nothing about turns on record, or about other seats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gem._python.fast_dataclass import quick
from gem.content import Observation, observation_text
from gem.conversation import Conversation, EpisodeTokens, PolicyTokens, Reply, Request
from gem.hosting._failure import Failure
from gem.hosting._rollout_envs import Shown

__all__ = ["Side"]

_quick_request = quick(Request)


class Side:
    """One seat of one episode, as its policy meets it.

    `turn` counts its own turns. `tokens` are those of the episode, for a policy that plays by them,
    and `token_fields` what a turn records of its last answer's.
    """

    __slots__ = (
        "_env_id",
        "_policy_seed",
        "_policy_tokens",
        "_prompt_is_finished",
        "_seat",
        "_task",
        "_tools",
        "conversation",
        "token_fields",
        "tokens",
        "turn",
    )

    def __init__(
        self,
        policy_seed: Callable[[int], int],
        policy_tokens: PolicyTokens | None,
        env_id: str,
        task: int | None,
        seat: int = 0,
    ) -> None:
        self.conversation = Conversation()
        self.turn = 0
        self._env_id = env_id
        self._task = task
        self._seat = seat
        self._tools: tuple[Mapping[str, Any], ...] = ()
        self._prompt_is_finished = False
        self._policy_seed = policy_seed

        # They are opened by the first request: what a policy raises there is then a fault of this
        # one episode.
        self._policy_tokens = policy_tokens
        self.tokens: EpisodeTokens | None = None
        self.token_fields: Mapping[str, Any] = {}

    def begin(self, shown: Shown) -> None:
        """Take in how the seat is shown things."""
        rewrites_history, self._prompt_is_finished, tools = shown
        self._tools = tuple(tools)
        self.conversation.rewrites_history = rewrites_history

    def request(
        self, observation: Observation | None, sample: str | None, solution: str | None
    ) -> Request | None:
        """Return the next question to the policy; None where no token is left for an answer.

        `observation` is what it is to answer, `sample` and `solution` what the policy wanted of
        the environment.
        """
        messages: Sequence[Any] = ()
        prompt = None
        if self._prompt_is_finished:
            prompt = observation_text(observation or "")
        else:
            messages = self.conversation.messages
        prompt_ids = None
        token_budget = None
        if self._policy_tokens is not None:
            prompt_tokens = self._prompt_tokens(self._policy_tokens, messages, prompt)
            if prompt_tokens is None:
                return None
            prompt_ids, token_budget = prompt_tokens
        group = None
        # By position, in the order of the fields: by name it takes twice the time, and this is
        # every step of every rollout (benchmarks/execution.py --only crowd).
        return _quick_request(
            messages,
            prompt,
            self._tools,
            prompt_ids,
            token_budget,
            self._policy_seed(self.turn),
            self.turn,
            self._env_id,
            self._task,
            group,
            self._seat,
            sample,
            solution,
        )

    def _prompt_tokens(
        self, policy_tokens: PolicyTokens, messages: Sequence[Any], prompt: str | None
    ) -> tuple[tuple[int, ...], int | None] | None:
        """Return the request's tokens and how many may follow. Whatever is raised is a Failure."""
        is_rewritten = self.conversation.rewrites_history
        try:
            if self.tokens is None:
                self.tokens = policy_tokens.open_episode()
            return self.tokens.ask(messages, prompt, self._tools, is_rewritten=is_rewritten)
        except Exception as error:
            raise Failure.of(error, "policy_error") from error

    def take_tokens(self, tokens: EpisodeTokens, reply: Reply) -> None:
        """Take in the tokens of the policy's answer. Raises Failure where they are wrong."""
        try:
            self.token_fields = tokens.answered(reply)
        except Exception as error:
            raise Failure.of(error, "policy_error") from error

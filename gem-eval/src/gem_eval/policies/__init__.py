"""Turn `NAME` or `NAME:ARGUMENT` into a policy that can be asked. Knows no policy by name."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from gem import rollouts
from gem.conversation import Policy, PolicyAnswer, Request
from gem_eval.errors import PolicyError

if TYPE_CHECKING:
    from gem.episode import Episode
    from gem_eval.policies.answer_cache import AnswerCache

__all__ = ["NamedPolicy", "make_policy"]


class NamedPolicy:
    """A policy under the name that an evaluation records for it."""

    def __init__(self, name: str, policy: Policy) -> None:
        self.name = name
        self.policy = policy
        self.wants = frozenset(getattr(policy, "wants", ()))
        self.tokens = getattr(policy, "tokens", None)  # of one that plays by token ids
        self._answered = 0
        # Of requests that failed, by how many answers its server had given when they were sent.
        self._failures: Counter[int] = Counter()

    def __call__(self, request: Request) -> Awaitable[PolicyAnswer] | PolicyAnswer:
        sent_after = self._server_answers
        try:
            answer = self.policy(request)
        except PolicyError:
            self._failures[sent_after] += 1
            raise
        if inspect.isawaitable(answer):
            return self._awaited(answer, sent_after)
        self._answered += 1
        return answer

    async def _awaited(self, coming: Awaitable[PolicyAnswer], sent_after: int) -> PolicyAnswer:
        try:
            answer = await coming
        except PolicyError:
            self._failures[sent_after] += 1
            raise
        self._answered += 1
        return answer

    @property
    def _server_answers(self) -> int:
        # An answer of the cache tells nothing of the server, which may refuse all the same.
        return self._answered - getattr(self.policy, "cache_hits", 0)

    @property
    def failures_in_a_row(self) -> int:
        """How many requests failed that were sent after the last answer, those of caches apart.

        One that failed while others were answered says nothing of them.
        """
        return self._failures[self._server_answers]

    @property
    def state(self) -> str:
        """What it waits for beside answers, in one line; empty where that is nothing."""
        return str(getattr(self.policy, "state", ""))

    recorded_turns = 0
    """How many turns of each episode are answered from a record."""

    @property
    def asks_model(self) -> bool:
        """Whether its answers are requests that cost something, as far as anybody knows."""
        return bool(getattr(self.policy, "asks_model", True))

    @property
    def uses_screen(self) -> bool:
        """Whether it asks at the terminal: one episode at a time then, and no progress line."""
        return bool(getattr(self.policy, "uses_screen", False))

    def end(self, episode: Episode) -> None:
        """Tell the policy how an episode of its own ended, if it wants to know."""
        end = getattr(self.policy, "end", None)
        if end is not None:
            end(episode)

    def wait_for_server(self, wait_s: float) -> None:
        """Have a server that goes away waited for so long, if the policy asks one."""
        if hasattr(self.policy, "wait_for_server_s"):
            self.policy.wait_for_server_s = wait_s

    def use_cache(self, cache: AnswerCache) -> None:
        """Have answers to identical requests kept there, if the policy asks a server."""
        if hasattr(self.policy, "answer_cache"):
            self.policy.answer_cache = cache

    def would_send(self, request: Request) -> Mapping[str, Any] | None:
        """Return a request as it would be sent, its `url` and `body`; None where nothing is."""
        would_send = getattr(self.policy, "would_send", None)
        return None if would_send is None else would_send(request)

    async def probe(self, *, wait_s: float) -> None:
        """See whether its server, if it asks one, will answer. Raises PolicyError."""
        probe = getattr(self.policy, "probe", None)
        if probe is not None:
            await probe(wait_s=wait_s)

    async def aclose(self) -> None:
        """Free what the policy holds, if it holds anything."""
        close = getattr(self.policy, "aclose", None)
        if close is not None:
            await close()


def make_policy(policy: str, **kwargs: Any) -> NamedPolicy:
    """Make the policy that `NAME` or `NAME:ARGUMENT` names, of ours or of any installed pack.

    `kwargs` are checked against its signature. Raises UnknownPolicy, IdConflict,
    MissingRequirement, TargetError, BadArguments.

    >>> make_policy("noop").name
    'noop'
    """
    return NamedPolicy(policy, rollouts.make_policy(policy, **kwargs))

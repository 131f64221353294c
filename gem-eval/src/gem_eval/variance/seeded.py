"""A player under one of its seeds: other chance, and one answer to one conversation.

Answers are kept in the run's folder, so that a run that was killed goes on with the same player.
Knows nothing about tasks or episodes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

from gem.content import Message
from gem.conversation import Policy, Reply, Request, as_reply, name_of
from gem_eval.policies import NamedPolicy
from gem_eval.policies.answer_cache import AnswerCache

__all__ = ["Seeded"]


class Seeded(NamedPolicy):
    """A policy whose chance a number stands for, whatever its server does with seeds.

    `Request.seed` follows from the number, and what was answered to a request under it is answered
    again, at no cost: that it is kept, and not asked for twice, is what makes two episodes of one
    number episodes of one player. No two episodes with a number may be played at once.
    """

    def __init__(self, policy: Policy, number: int, answers: AnswerCache) -> None:
        super().__init__(name_of(policy), policy)
        self._number = number
        self._answers = answers

    async def __call__(self, request: Request) -> Reply:
        # The request's own seed is of the task, the seat and the turn.
        asked = repr((request.seed, tuple(request.messages), request.prompt, request.solution))
        key = (f"{self._number}".encode(), asked.encode("utf-8", "surrogatepass"))
        known = _reply(await self._answers.get(*key))
        if known is not None:
            return known
        answer = self.policy(_reseeded(request, self._number))
        reply = as_reply(await answer if isinstance(answer, Awaitable) else answer)
        await self._answers.put(_text(reply), *key)
        return reply


def _reseeded(request: Request, number: int) -> Request:
    text = f"{request.seed}/{number}".encode("ascii")
    seed = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1
    return replace(request, seed=seed)


def _text(reply: Reply) -> bytes:
    """Write an answer as JSON, without what it cost: that is spent once."""
    plain = {
        "message": reply.message.to_json(),
        "token_ids": reply.token_ids,
        "logprobs": reply.logprobs,
        "finish_reason": reply.finish_reason,
        "reasoning": reply.reasoning,
    }
    return json.dumps(plain).encode("ascii")


def _reply(text: bytes | None) -> Reply | None:
    """Read it again; None where it is not there, or not what was written."""
    if text is None:
        return None
    try:
        plain = json.loads(text)
        return Reply(
            Message.from_json(plain["message"]),
            token_ids=_tuple(plain["token_ids"]),
            logprobs=_tuple(plain["logprobs"]),
            finish_reason=plain["finish_reason"],
            reasoning=plain["reasoning"],
        )
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _tuple(numbers: Any) -> tuple[Any, ...] | None:
    return None if numbers is None else tuple(numbers)

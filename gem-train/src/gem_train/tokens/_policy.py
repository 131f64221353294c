"""A policy from token ids to token ids. Knows nothing about how episodes are played."""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Sequence
from numbers import Integral
from typing import Any, Literal, NamedTuple

from gem.conversation import Reply, Request
from gem.errors import BadArguments
from gem_train.tokens._context import Codec, TokenTerms

__all__ = ["Sample", "Sampled", "TokenPolicy"]


class Sampled(NamedTuple):
    """What a model said: its tokens, the one that ends its turn included if the engine gives it.

    `logprobs`, where there are any, has an entry a token. `finish_reason` is "length" where a
    limit cut the answer.
    """

    ids: Sequence[int]
    logprobs: Sequence[float] | None = None
    finish_reason: Literal["stop", "length", "tool_calls", "other"] | None = None


Sample = Callable[[Request], Awaitable[Sampled] | Sampled]
"""From a request, whose `prompt_ids` are all tokens so far and whose `token_budget` is how many
may follow (None for any number), to what the model said. A coroutine function is the usual form."""


class TokenPolicy:
    """Play by tokens: what the model said is recorded as it said it, and never tokenised again.

    `gem.rollout` gives every request its `prompt_ids`, which extend those of the turn before and
    its answer, and ends an episode as `max_tokens` where a limit leaves no room for another
    answer: `max_turn_tokens` bounds an answer, `max_response_tokens` all that follows the prompt
    of a sequence, `max_length` the sequence. `Trajectory.of(episode)` is what a trainer takes.

        policy = TokenPolicy(sample, ChatCodec(tokenizer), max_response_tokens=4096)
        async for episode in gem.rollout(policy, "game:GuessTheNumber-v0-hard"):
            trajectory = Trajectory.of(episode)

    Raises BadArguments for limits that are no int from 1 on.
    """

    def __init__(
        self,
        sample: Sample,
        codec: Codec,
        *,
        max_turn_tokens: int | None = None,
        max_response_tokens: int | None = None,
        max_length: int | None = None,
        name: str | None = None,
    ) -> None:
        self.tokens = TokenTerms(codec, max_turn_tokens, max_response_tokens, max_length)
        for limit, most in zip(TokenTerms._fields[1:], self.tokens[1:], strict=True):
            if most is not None and not _is_count(most):
                raise BadArguments(
                    f"{limit}={most!r:.60} was asked for. It is an int from 1 on, or None.",
                    subject=limit,
                )
        self.name = name or str(getattr(sample, "__name__", type(sample).__name__))
        self._sample = sample

    async def __call__(self, request: Request) -> Reply:
        if request.prompt_ids is None:
            raise BadArguments(
                "A TokenPolicy was asked without prompt_ids. Give it to gem.rollout, which fills "
                "them in.",
                subject="prompt_ids",
            )
        sampled: Any = self._sample(request)
        if isinstance(sampled, Awaitable):
            sampled = await sampled
        _check_shape(sampled)
        given_ids, logprobs, reason = sampled
        ids = _as_ints(given_ids)
        _check(ids, logprobs, request.token_budget)
        return Reply(
            self.tokens.codec.message(ids, request.tools, request.turn),
            token_ids=ids,
            logprobs=None if logprobs is None else tuple(logprobs),
            finish_reason=reason,
        )

    async def aclose(self) -> None:
        """Free what the sampling function holds."""
        close = getattr(self._sample, "aclose", None)
        if close is not None:
            await close()


def _is_count(value: object) -> bool:
    """Say whether a value is an int of any kind from 1 on, numpy's too; a bool is not."""
    is_int = isinstance(value, Integral) and not isinstance(value, bool)
    return is_int and value >= 1  # type: ignore[operator]


def _check_shape(sampled: Any) -> None:
    """Refuse what is no Sampled: of a dict the keys would be unpacked, of a text the letters."""
    is_triple = isinstance(sampled, (tuple, list)) and len(sampled) == len(Sampled._fields)
    if is_triple and hasattr(sampled[0], "__len__") and not isinstance(sampled[0], (str, bytes)):
        return
    raise BadArguments(
        f"A sampling function returned {sampled!r:.60} ({type(sampled).__name__}). It must return "
        "a Sampled(ids, logprobs, finish_reason).",
        subject="sample",
    )


def _as_ints(ids: Sequence[Any]) -> tuple[int, ...]:
    """Return ids of tokens as ints: a tensor's are equal to no int where they are looked up."""
    try:
        return tuple(map(operator.index, ids))
    except TypeError as error:
        raise ValueError(
            f"The model gave {ids!r:.60} as its tokens, and they have to be ids. Give a list of "
            "ints, or an array or a tensor of one dimension"
        ) from error


def _check(ids: Sequence[int], logprobs: Sequence[float] | None, budget: int | None) -> None:
    if len(ids) == 0:
        raise ValueError("The model was sampled, and said nothing: not even the end of its turn")
    if logprobs is not None and len(logprobs) != len(ids):
        raise ValueError(f"The model gave {len(ids)} tokens and {len(logprobs)} logprobs")
    for place, logprob in enumerate(() if logprobs is None else logprobs):
        try:
            float(logprob)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The model gave {logprob!r:.60} as the logprob of its token {place}, and it has "
                "to be a number. Ask the engine for those of all tokens, or give logprobs=None"
            ) from error
    if budget is not None and len(ids) > budget:
        raise ValueError(f"The model gave {len(ids)} tokens, and {budget} were asked for at most")

"""How vLLM and SGLang are asked for tokens: a request's body, and a reply read back.

What a server answers is checked field by field, the prompt that it says it saw included:
whatever differs from what was asked is an error, and never tokens to train on. Knows nothing
about HTTP.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from gem_eval.policies.chat_api import MalformedReplyError

__all__ = ["APIS", "VLLM", "Asked", "Piece", "SGLang", "TokenApi"]

_ID = re.compile(r"token_id:(\d{1,9})")
_SEEDS = 2**31
Reason = Literal["stop", "length", "other", "abort"]
_REASONS: Mapping[str, Reason] = {"stop": "stop", "length": "length", "abort": "abort"}


class Asked(NamedTuple):
    """What is asked of a server. `seed` is None where the server draws its own."""

    ids: Sequence[int]
    max_tokens: int
    stop_ids: Sequence[int]
    seed: int | None
    request_id: str


class Piece(NamedTuple):
    """What a server said. "abort" is one that it broke off, with what it had said by then."""

    ids: list[int]
    logprobs: list[float]
    finish_reason: Reason


class TokenApi(Protocol):
    """One server's way to be asked. `abort_path` is where a request is given up, if anywhere."""

    @property
    def path(self) -> str: ...

    @property
    def abort_path(self) -> str | None: ...

    def body(self, asked: Asked, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request. `options` are those of sampling, by the server's own names."""

    def read(self, plain: Any, asked: Asked) -> Piece:
        """Read an answer. Raises MalformedReplyError on any but the documented shape."""


class VLLM:
    """vLLM's `/v1/completions`. A request that nobody waits for is given up by hanging up."""

    path = "/completions"
    abort_path = None

    def body(self, asked: Asked, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request, with the ids themselves for the prompt."""
        seed = {} if asked.seed is None else {"seed": asked.seed % _SEEDS}
        return {
            "prompt": list(asked.ids),
            "max_tokens": asked.max_tokens,
            "stop_token_ids": list(asked.stop_ids),
            "logprobs": 1,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
            "skip_special_tokens": False,
            "stream": False,
            **seed,
            **options,
        }

    def read(self, plain: Any, asked: Asked) -> Piece:
        """Read the ids of an answer; those of versions without them are in its logprobs."""
        choice = _field(plain, "choices", 0)
        seen = choice.get("prompt_token_ids") if isinstance(choice, Mapping) else None
        if seen is not None and seen != list(asked.ids):
            raise MalformedReplyError("it is about another prompt than was sent", seen)
        logprobs = _field(choice, "logprobs", "token_logprobs")
        ids = choice.get("token_ids")
        if ids is None:
            ids = [_named_id(token) for token in _list(_field(choice, "logprobs", "tokens"))]
        return _piece(ids, logprobs, choice.get("finish_reason"), asked)


class SGLang:
    """SGLang's `/generate`. A request that nobody waits for is given up by its id."""

    path = "/generate"
    abort_path = "/abort_request"

    def body(self, asked: Asked, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request, with the ids themselves for the prompt."""
        seed = {} if asked.seed is None else {"sampling_seed": asked.seed % _SEEDS}
        params = {
            "max_new_tokens": asked.max_tokens,
            "stop_token_ids": list(asked.stop_ids),
            "skip_special_tokens": False,
            "no_stop_trim": True,
            **seed,
            **options,
        }
        return {
            "rid": asked.request_id,
            "input_ids": list(asked.ids),
            "sampling_params": params,
            "return_logprob": True,
            "stream": False,
        }

    def read(self, plain: Any, asked: Asked) -> Piece:
        """Read the ids of an answer, which stand beside their logprobs."""
        about = _field(plain, "meta_info")
        seen = about.get("prompt_tokens") if isinstance(about, Mapping) else None
        if seen is not None and seen != len(asked.ids):
            raise MalformedReplyError("it is about a prompt of another length than was sent", seen)
        pairs = _list(_field(about, "output_token_logprobs"))
        if not all(isinstance(pair, list) and len(pair) >= 2 for pair in pairs):
            raise MalformedReplyError("its 'output_token_logprobs' are no pairs", pairs)
        reason = _field(about, "finish_reason", "type")
        return _piece([pair[1] for pair in pairs], [pair[0] for pair in pairs], reason, asked)


APIS: Mapping[str, TokenApi] = {"vllm": VLLM(), "sglang": SGLang()}


def _piece(ids: Any, logprobs: Any, reason: Any, asked: Asked) -> Piece:
    ids = _list(ids)
    logprobs = _list(logprobs)
    if not all(type(id) is int and id >= 0 for id in ids):
        raise MalformedReplyError("its token ids are not numbers", ids)
    if len(logprobs) != len(ids):
        raise MalformedReplyError(f"it has {len(ids)} tokens and {len(logprobs)} logprobs", ids)
    if not all(type(logprob) in (int, float) and math.isfinite(logprob) for logprob in logprobs):
        raise MalformedReplyError("its logprobs are not numbers", logprobs)
    if len(ids) > asked.max_tokens:
        wrong = f"it has {len(ids)} tokens, and {asked.max_tokens} were asked for at most"
        raise MalformedReplyError(wrong, ids)
    known = _REASONS.get(reason, "other") if isinstance(reason, str) else "other"
    return Piece(ids, [float(logprob) for logprob in logprobs], known)


def _named_id(token: Any) -> int:
    match = _ID.fullmatch(token) if isinstance(token, str) else None
    if match is None:
        raise MalformedReplyError("its tokens are not named by their ids", token)
    return int(match[1])


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise MalformedReplyError("it has no list where tokens belong", value)


def _field(plain: Any, *path: str | int) -> Any:
    """Return what stands at a path of names and places."""
    value = plain
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            name = ".".join(map(str, path))
            raise MalformedReplyError(f"it has no {name!r}", json.dumps(plain)) from None
    return value

"""What a server means by an answer that is no 200. Knows nothing about connections or requests."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

__all__ = ["Refusal", "context_length", "refusal"]

Refusal = Literal["model_length", "for_good", "away", "busy", "request"]
"""`model_length`: the prompt does not fit the model's context. `for_good`: no request will be
answered (the key, the model, the address or the quota). `away`: nobody who works is behind the
address now, unless it is this request alone that fails there (5xx). `busy`: it may go better the
next time. `request`: this request is wrong."""

_TOO_LONG_STATUSES = frozenset({400, 413, 422})
_TOO_LONG_CODES = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, Groq, OpenRouter
        "exceed_context_size_error",  # llama.cpp
        "model_context_window_exceeded",
    }
)
# Each is a set of pieces that all stand in the text, in lower case.
_TOO_LONG_TEXTS: tuple[tuple[str, ...], ...] = (
    ("maximum context length",),  # OpenAI, vLLM, SGLang, DeepSeek, Mistral
    ("longer than the model's context length",),  # SGLang
    ("longer than the maximum model length",),  # vLLM, of token ids
    ("input length", "exceeds the maximum allowed length"),  # SGLang
    ("exceeds the available context size",),  # llama.cpp
    ("`inputs` tokens + `max_new_tokens` must be",),  # TGI
    ("`inputs` must have less than",),  # TGI
    ("prompt is too long",),  # Anthropic
    ("exceed context limit",),  # Anthropic
    ("exceeds the context window",),  # OpenAI
    ("input token count", "exceeds the maximum number of tokens"),  # Gemini
    ("input is too long for requested model",),  # Bedrock
    ("contextwindowexceedederror",),  # LiteLLM
)
_LENGTH = re.compile(r"maximum context length (?:is|of) (\d{1,12})", re.IGNORECASE)
_FOR_GOOD_STATUSES = frozenset({401, 402, 403, 404, 405, 410})
_FOR_GOOD_CODES = frozenset(
    {
        "billing_hard_limit_reached",
        "insufficient_balance",
        "insufficient_quota",
        "invalid_api_key",
        "model_not_found",
    }
)


def refusal(status: int, text: str) -> Refusal:
    """Say what a status other than 200 means, with the text that came with it.

    >>> refusal(400, '{"error": {"code": "context_length_exceeded"}}')
    'model_length'
    >>> refusal(429, '{"error": {"code": "insufficient_quota"}}'), refusal(429, "slow down")
    ('for_good', 'busy')
    """
    codes = _codes(text)
    if status in _TOO_LONG_STATUSES and (codes & _TOO_LONG_CODES or _says_too_long(text)):
        return "model_length"
    is_redirect = 300 <= status < 400  # which is not followed: the key is for this address
    has_code = 400 <= status < 500 and bool(codes & _FOR_GOOD_CODES)
    if status in _FOR_GOOD_STATUSES or is_redirect or has_code:
        return "for_good"
    if status >= 500:
        return "away"
    return "busy" if status == 429 else "request"


def context_length(text: str) -> int | None:
    """Return the model's context, in tokens, where the text of a refusal tells it."""
    match = _LENGTH.search(text)
    return int(match[1]) if match else None


def _says_too_long(text: str) -> bool:
    lower = text.lower()
    return any(all(piece in lower for piece in pieces) for pieces in _TOO_LONG_TEXTS)


def _codes(text: str) -> set[str]:
    """Return the fields of an error that are for programs: its code and its type."""
    try:
        plain: Any = json.loads(text)
    except (ValueError, RecursionError):
        return set()
    error = plain.get("error", plain) if isinstance(plain, dict) else None
    if not isinstance(error, dict):
        return set()
    fields = (error.get(name) for name in ("code", "type", "error_type"))
    return {field for field in fields if isinstance(field, str)}

from __future__ import annotations

import json

import pytest

from gem_eval.policies.refusals import context_length, refusal

OPENAI = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001."
)
TOO_LONG = {
    "openai": (400, {"error": {"message": OPENAI, "code": "context_length_exceeded"}}),
    "openai code": (400, {"error": {"message": "...", "code": "context_length_exceeded"}}),
    "vllm": (400, {"object": "error", "message": OPENAI, "type": "BadRequestError", "code": 400}),
    "vllm tokens": (
        400,
        {"message": "The decoder prompt (length 9001) is longer than the maximum model length."},
    ),
    "sglang": (
        400,
        {"message": "The input (9001 tokens) is longer than the model's context length (8192)."},
    ),
    "sglang length": (
        400,
        {"message": "Input length (9001 tokens) exceeds the maximum allowed length (8192 tokens)."},
    ),
    "llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (9001 tokens) exceeds the available context size (8192 tokens)",
                "type": "exceed_context_size_error",
            }
        },
    ),
    "tgi": (
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. "
            "Given: 9001 `inputs` tokens and 100 `max_new_tokens`",
            "error_type": "validation",
        },
    ),
    "tgi inputs": (
        422,
        {"error": "Input validation error: `inputs` must have less than 8192 tokens. Given: 9001"},
    ),
    "anthropic": (
        400,
        {"type": "error", "error": {"message": "prompt is too long: 9001 tokens > 8192 maximum"}},
    ),
    "gemini": (
        400,
        [
            {
                "error": {
                    "message": "The input token count (9001) exceeds the maximum number of tokens "
                    "allowed (8192)."
                }
            }
        ],
    ),
    "too large": (413, {"error": {"message": "prompt is too long: 9001 tokens > 8192 maximum"}}),
}


@pytest.mark.parametrize("server", TOO_LONG)
def test_a_prompt_beyond_the_context_is_known_by_what_servers_say(server: str) -> None:
    status, body = TOO_LONG[server]

    assert refusal(status, json.dumps(body)) == "model_length"


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_another_status_is_not_about_the_context(status: int) -> None:
    assert refusal(status, json.dumps(TOO_LONG["openai"][1])) != "model_length"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>413 Request Entity Too Large</html>",
        '{"error": {"message": "max_tokens must be at least 1", "code": "invalid_value"}}',
        '{"error": {"message": "unknown field: length"}}',
        '{"error": {"code": ["context_length_exceeded"]}}',
        '{"error": null}',
        "[" * 100_000,
        "x" * 1_000_000,
    ],
)
def test_any_other_text_is_a_wrong_request(text: str) -> None:
    assert refusal(400, text) == "request"


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "invalid_api_key", "for_good"),
        (402, "", "for_good"),
        (403, "", "for_good"),
        (404, "model_not_found", "for_good"),
        (429, "insufficient_quota", "for_good"),
        (429, "rate_limit_exceeded", "busy"),
        (500, "", "away"),
        (529, "", "away"),
        (502, "", "away"),
        (503, "", "away"),
        (504, "", "away"),
        (302, "", "for_good"),
        (405, "", "for_good"),
        (400, "model_not_found", "for_good"),
        (400, "invalid_value", "request"),
    ],
)
def test_a_status_says_whether_to_ask_again(status: int, code: str, kind: str) -> None:
    assert refusal(status, json.dumps({"error": {"code": code}})) == kind


def test_a_quota_may_be_named_by_the_type() -> None:
    assert refusal(429, '{"error": {"type": "insufficient_quota", "code": null}}') == "for_good"


def test_the_context_is_read_where_it_is_told() -> None:
    assert context_length(OPENAI) == 8192
    assert context_length("prompt is too long") is None

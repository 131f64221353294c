"""What is asked of a server, and what is made of its answers and its faults."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gem import Message, Reply, Request, Usage
from gem.errors import BadArguments, ModelLengthError
from gem_eval import make_policy
from gem_eval.policies.openai import OpenAIPolicy

from .asking import QUESTION, ask, complaint, policy_at

KEY = "sk-0123456789abcdef"


def test_an_answer_comes_with_its_usage(server: Any) -> None:
    [reply] = ask(policy_at(server.url))

    assert isinstance(reply, Reply)
    assert (reply.message.text, reply.usage) == ("hello", Usage(11, 5))


def test_the_documented_request_is_sent(server: Any) -> None:
    ask(policy_at(server.url, temperature=0.5, max_tokens=64, stop=["\n"], extra={"top_k": 20}))

    [asked] = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "my-model",
        "messages": [{"role": "user", "content": "Guess."}],
        "stream": False,
        "seed": 5,
        "temperature": 0.5,
        "max_tokens": 64,
        "stop": ["\n"],
        "top_k": 20,
    }


def test_thoughts_in_tags_are_reasoning_where_that_is_asked(server: Any, answers: Any) -> None:
    server.answers = [answers.chat("<think>It is odd.</think>7")]

    [reply] = ask(policy_at(server.url, think_tags=True))

    assert isinstance(reply, Reply)
    assert (reply.reasoning, reply.message.text) == ("It is odd.", "7")


def test_a_finished_prompt_goes_to_completions(server: Any, answers: Any) -> None:
    server.answers = [answers.Answer(body=b'{"choices": [{"text": "7"}]}')]

    [reply] = ask(policy_at(server.url), Request(prompt="<|user|>Guess."))

    assert isinstance(reply, Reply)
    assert (reply.message.text, server.asked[0].path) == ("7", "/v1/completions")
    assert server.asked[0].body["prompt"] == "<|user|>Guess."


@pytest.mark.parametrize(
    ("request_", "asked_for"), [(QUESTION, True), (Request(prompt="Guess."), 1)]
)
def test_logprobs_are_asked_for(
    server: Any, answers: Any, request_: Request, asked_for: Any
) -> None:
    server.answers = [
        answers.Answer(body=b'{"choices": [{"text": "7", "message": {"content": ""}}]}')
    ]

    ask(policy_at(server.url, logprobs=True), request_)

    assert server.asked[0].body["logprobs"] is asked_for


def test_a_budget_of_tokens_lowers_the_limit(server: Any) -> None:
    ask(policy_at(server.url, max_tokens=64), Request(QUESTION.messages, token_budget=10))

    assert server.asked[0].body["max_tokens"] == 10


def test_the_key_comes_from_the_environment(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")

    ask(policy_at(server.url))

    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_key_may_be_in_another_variable(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)

    ask(policy_at(server.url, api_key_env="MY_KEY"))

    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_local_server_needs_no_key(server: Any) -> None:
    ask(policy_at(server.url))

    assert "authorization" not in server.asked[0].headers


@pytest.mark.parametrize("status", [401, 500, 200])
def test_a_server_that_echoes_the_key_does_not_put_it_into_the_error(
    server: Any, answers: Any, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.answers = [answers.Answer(status, f"bad key {'x' * 270}{KEY}".encode())]

    said = complaint(policy_at(server.url, max_retries=0))

    assert "bad key" in said
    assert KEY[:8] not in said


def test_a_key_that_no_header_can_carry_is_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\nInjected: header")

    with pytest.raises(BadArguments, match="OPENAI_API_KEY") as caught:
        policy_at("http://localhost/v1")

    assert KEY not in str(caught.value)


def test_a_refusal_for_load_is_tried_again(server: Any, answers: Any) -> None:
    busy = answers.Answer(429, b"busy", (("Retry-After", "60"),))
    server.answers = [busy, busy, answers.chat("hello")]

    [reply] = ask(policy_at(server.url))

    assert isinstance(reply, Reply)
    assert len(server.asked) == 3


def test_a_server_is_not_asked_again_before_the_time_that_it_names(
    server: Any, answers: Any
) -> None:
    server.answers = [answers.Answer(429, b"busy", (("Retry-After", "60"),))]

    said = complaint(policy_at(server.url, max_backoff_s=90, total_timeout_s=30))

    assert "did not finish an answer within 30 s" in said
    assert len(server.asked) == 1


def test_a_request_that_a_server_fails_at_is_tried_again(server: Any, answers: Any) -> None:
    failed = answers.Answer(500, b"out of memory")
    hello = answers.chat("hello")
    server.answers = [failed, hello, hello]

    [reply] = ask(policy_at(server.url))

    assert isinstance(reply, Reply)
    assert [asked.body.get("max_tokens") for asked in server.asked] == [None, 1, None]


def test_a_dropped_connection_is_tried_again(server: Any, answers: Any) -> None:
    server.answers = [answers.Answer(drops=True), answers.chat("hello")]

    assert isinstance(ask(policy_at(server.url))[0], Reply)


def test_a_request_that_a_server_fails_at_each_time_is_an_error_with_what_it_says(
    server: Any, answers: Any
) -> None:
    server.answers = [answers.Answer(500, b"out of memory"), answers.chat("hello")] * 9

    said = complaint(policy_at(server.url, max_retries=2))

    assert "500: out of memory (after 3 attempts)" in said
    assert len(server.asked) == 6  # a look follows each attempt


@pytest.mark.parametrize(("status", "advice"), [(400, "model"), (401, "key"), (404, "/v1")])
def test_a_wrong_request_is_not_tried_again(
    server: Any, answers: Any, status: int, advice: str
) -> None:
    server.answers = [answers.Answer(status, b'{"error": {"message": "unfit"}}')]

    said = complaint(policy_at(server.url))

    assert f"{status}: " in said
    assert "unfit" in said
    assert advice in said
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed_with_the_key(
    server: Any, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.answers = [answers.Answer(307, b"", (("Location", f"{server.url}/elsewhere"),))]

    assert "redirects" in complaint(policy_at(server.url))
    assert len(server.asked) == 1


def test_a_server_that_hangs_is_given_up(server: Any, answers: Any) -> None:
    server.answers = [answers.Answer(hangs=True)]

    assert "went silent" in complaint(policy_at(server.url, read_timeout_s=0.05))


def test_everything_about_one_request_ends_in_time(server: Any, answers: Any) -> None:
    server.answers = [answers.Answer(hangs=True)]

    assert "within 0.05 s" in complaint(policy_at(server.url, total_timeout_s=0.05))


@pytest.mark.parametrize(
    "body", [b"<html>Welcome</html>", b"{}", b'{"choices": [{"message": {"content": null}}]}']
)
def test_garbage_is_an_error_and_no_answer(server: Any, answers: Any, body: bytes) -> None:
    server.answers = [answers.Answer(body=body)]

    assert "cannot be read" in complaint(policy_at(server.url))


@pytest.mark.parametrize("size", [100_000_000, None])
def test_a_huge_reply_is_cut_off(server: Any, answers: Any, size: int | None) -> None:
    server.answers = [answers.Answer(body=b"x" * (size or 0), endless=size is None)]

    assert "more than 1000 bytes" in complaint(policy_at(server.url, max_reply_bytes=1000))


def test_an_error_without_end_is_cut_off(server: Any, answers: Any) -> None:
    server.answers = [answers.Answer(400, endless=True)]

    assert "400: xxx" in complaint(policy_at(server.url))


def test_a_compressed_reply_is_refused(server: Any, answers: Any) -> None:
    server.answers = [answers.Answer(body=b"bomb", headers=(("Content-Encoding", "gzip"),))]

    assert "compressed" in complaint(policy_at(server.url))


def test_a_prompt_beyond_the_context_is_no_error_of_the_server(server: Any, answers: Any) -> None:
    text = b"This model's maximum context length is 4096 tokens. However, you requested 5000."
    server.answers = [answers.Answer(400, text)]

    with pytest.raises(ModelLengthError, match="maximum context length"):
        asyncio.run(policy_at(server.url, max_tokens=1000)(QUESTION))

    assert len(server.asked) == 1


def test_a_limit_of_the_answer_beyond_the_context_is_a_wrong_option(
    server: Any, answers: Any
) -> None:
    text = b"This model's maximum context length is 4096 tokens. However, you requested 8292."
    server.answers = [answers.Answer(400, text)]

    assert "max_tokens=8192" in complaint(policy_at(server.url, max_tokens=8192))


def test_a_proxy_is_not_asked_for_this_machine(
    server: Any, dead_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", dead_url)

    assert isinstance(ask(policy_at(server.url))[0], Reply)


def test_many_requests_are_in_flight_at_once(server: Any) -> None:
    policy = policy_at(server.url)

    async def crowd() -> list[Reply]:
        replies = await asyncio.gather(*(policy(QUESTION) for _ in range(150)))
        await policy.aclose()
        return replies

    assert {reply.message.text for reply in asyncio.run(crowd())} == {"hello"}


@pytest.mark.parametrize(
    "argument",
    [
        "my-model",
        "@http://localhost/v1",
        "my-model@localhost:8000",
        "my-model@http://",
        "my-model@http://me:secret@localhost/v1",
        "my-model@http://localhost/v1?key=secret",
        "my-model@http://localhost:port/v1",
    ],
)
def test_an_address_that_cannot_work_is_refused_at_once(argument: str) -> None:
    with pytest.raises(BadArguments) as caught:
        make_policy(f"openai:{argument}")

    assert "secret" not in str(caught.value)


def test_a_model_name_may_hold_slashes_colons_and_ats() -> None:
    policy = OpenAIPolicy("org/model@v2:free@https://example.com/api/v1/")

    assert (policy.model, policy.base_url) == (
        "org/model@v2:free",
        "https://example.com/api/v1",
    )


def test_unknown_options_are_refused_with_the_allowed_ones() -> None:
    with pytest.raises(BadArguments, match="temperature: float"):
        make_policy("openai:m@http://localhost/v1", temprature=0)


def test_text_that_no_encoding_can_write_is_sent(server: Any) -> None:
    ask(policy_at(server.url), Request((Message("user", "a\ud800b\0é"),)))

    assert json.dumps(server.asked[0].body["messages"][0]["content"]) == r'"a\ufffdb\u0000\u00e9"'

"""Ask a model behind any server that speaks the OpenAI API.

A server that fails is an error on the episode and never an answer. The key comes from an
environment variable and goes into one header; nothing that is logged or raised holds it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.conversation import Reply, Request, Usage
from gem.errors import BadArguments, ModelLengthError
from gem.retries import Backoff
from gem_eval.errors import ServerRefusalError, UnreadableReplyError
from gem_eval.policies.addresses import check_address, key_from
from gem_eval.policies.chat_api import (
    CHAT_PATH,
    MalformedReplyError,
    read_reply,
    request_body,
    request_path,
)
from gem_eval.policies.retrying import PromptTooLongError, RetryingServer
from gem_eval.policies.server import ServerReply

if TYPE_CHECKING:
    from gem_eval.policies.answer_cache import AnswerCache

__all__ = ["OpenAIPolicy"]

_ARGUMENT = re.compile(r"(?P<model>.+?)@(?P<url>https?://.+)", re.DOTALL)
_HELLO = {"role": "user", "content": "Hello."}
_LIMITS = ("max_tokens", "max_completion_tokens")


class _Asked(NamedTuple):
    """A request as it is sent. `max_tokens` is what it allows the answer, None for any number."""

    path: str
    content: bytes
    max_tokens: int | None
    seed: int


class OpenAIPolicy:
    """The `openai:MODEL@BASE_URL` policy: POST BASE_URL/chat/completions, streaming off.

    429, 5xx and failed connections are tried again, up to `max_retries` times, with growing
    waits that honour Retry-After; an answer that does not come within `read_timeout_s` is not.
    Everything about one request ends within `total_timeout_s`.

    After a failed connection or a 5xx one of all requests looks for the server, and asks it for
    one token. While that fails as well every request waits, for `wait_for_server_s` at most. That
    wait counts neither as an attempt nor within `total_timeout_s`; it does count within the
    deadlines of a rollout. `state` says in one line what is waited for.

    While the server is overloaded (429, 5xx, late answers) fewer requests are in flight than are
    asked for, unless `adapts_concurrency` is false: half as many after each round trip that fails,
    none before the time that Retry-After names, and gradually more with each answer. The others
    wait for their turn, which is no attempt either; nor is a refusal for load beside others.

    With `logprobs` the server is asked for those of the answer's tokens, which are recorded; so are
    token ids where it gives them, as vLLM does with `extra={"return_token_ids": true}`.

    What a server tells as reasoning is recorded apart from the answer, and sent in no later
    prompt; with `think_tags` so is what an answer begins with in `<think>`. `extra` joins the
    body as it is, for what one server takes and others do not.

    Where `answer_cache` is set, what was answered before is taken from there, and costs no token.
    `cache_hits` counts these answers.
    """

    answer_cache: AnswerCache | None = None
    cache_hits = 0

    def __init__(
        self,
        argument: str,
        *,
        api_key_env: str = "OPENAI_API_KEY",
        system: str | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] | None = None,
        sends_seed: bool = True,
        think_tags: bool = False,
        logprobs: bool = False,
        extra: Mapping[str, Any] | None = None,
        max_retries: int = 4,
        backoff_s: float = 0.5,
        max_backoff_s: float = 30.0,
        connect_timeout_s: float = 10.0,
        read_timeout_s: float = 300.0,
        total_timeout_s: float = 900.0,
        wait_for_server_s: float = 600.0,
        max_reply_bytes: int = 16 * 1024 * 1024,
        adapts_concurrency: bool = True,
    ) -> None:
        self.model, self.base_url = _model_and_url(argument)
        self._system = system
        self._sends_seed = sends_seed
        self._think_tags = think_tags
        self._logprobs = logprobs
        self._options = _without_none(
            temperature=temperature, top_p=top_p, stop=None if stop is None else list(stop)
        )
        self._max_tokens = max_tokens
        self._extra = dict(extra or {})
        self._server = RetryingServer(
            self.base_url,
            key=key_from(api_key_env, subject="openai"),
            look=self._look,
            max_retries=max_retries,
            backoff=Backoff(backoff_s, max_backoff_s),
            connect_timeout_s=connect_timeout_s,
            read_timeout_s=read_timeout_s,
            total_timeout_s=total_timeout_s,
            wait_for_server_s=wait_for_server_s,
            max_reply_bytes=max_reply_bytes,
            adapts_concurrency=adapts_concurrency,
        )

    async def __call__(self, request: Request) -> Reply:
        """Ask the model. Raises PolicyError where no proper answer came.

        ModelLengthError says that the prompt does not fit the model's context.
        """
        asked = self._asked(request)
        cached = await self._cached(asked)
        if cached is not None:
            return cached
        body = await self._server.asking(asked.seed).answer(lambda: self._attempt(asked))
        try:
            reply = self._reply(asked, body)
        except MalformedReplyError as error:
            raise UnreadableReplyError(
                f"{self._server.name} sent a reply that cannot be read: {error.what}: "
                f"{self._server.shown(error.found)}. Check that it speaks the OpenAI API at this "
                "address."
            ) from None
        if self.answer_cache is not None and not self._server.has_key_in(body):
            await self.answer_cache.put(body, *self._cache_key(asked))
        return reply

    @property
    def state(self) -> str:
        """What the policy waits for, in one line for a person; empty while it waits for answers."""
        return self._server.state

    @property
    def wait_for_server_s(self) -> float:
        """How long a server that is away is waited for. An evaluation may set it."""
        return self._server.wait_for_server_s

    @wait_for_server_s.setter
    def wait_for_server_s(self, wait_s: float) -> None:
        self._server.wait_for_server_s = wait_s

    async def probe(self, *, wait_s: float = 0.0) -> None:
        """Ask for one token, to see whether anything will be answered.

        Raises ServerRefusalError where the server refuses the key, the model or the address, or
        has no quota left, and ServerAwayError where nobody is there within `wait_s`.
        """
        await self._server.outage.end(wait_s)

    def would_send(self, request: Request) -> dict[str, Any]:
        """Return the request as it would be sent: its `url` and its JSON `body`. Asks nobody."""
        asked = self._asked(request)
        return {"url": self.base_url + asked.path, "body": json.loads(asked.content)}

    async def aclose(self) -> None:
        """Close the connections. A later request opens new ones."""
        await self._server.aclose()

    def _reply(self, asked: _Asked, body: bytes) -> Reply:
        is_chat = asked.path == CHAT_PATH
        return read_reply(body, is_chat=is_chat, think_tags=self._think_tags)

    async def _cached(self, asked: _Asked) -> Reply | None:
        """Return the answer that is kept to this request; None where there is none to be read."""
        if self.answer_cache is None:
            return None
        body = await self.answer_cache.get(*self._cache_key(asked))
        if body is None:
            return None
        try:
            reply = self._reply(asked, body)
        except MalformedReplyError:
            return None
        self.answer_cache.hits += 1
        self.cache_hits += 1
        return replace(reply, usage=Usage())  # it costs nothing this time

    def _cache_key(self, asked: _Asked) -> tuple[bytes, ...]:
        # The seed is in the body too, but not where the server refuses one: and even there the
        # repeats of an episode are not one answer.
        return self.base_url.encode(), asked.path.encode(), b"%d" % asked.seed, asked.content

    def _asked(self, request: Request) -> _Asked:
        body = request_body(request, system=self._system, sends_seed=self._sends_seed)
        limits = [limit for limit in (self._max_tokens, request.token_budget) if limit is not None]
        if limits:
            body["max_tokens"] = min(limits)
        if self._logprobs:
            # A finished prompt asks for so many alternatives instead.
            body["logprobs"] = True if request.prompt is None else 1
        body = {"model": self.model, **body, **self._options, **self._extra}
        # Escaped ASCII: no text that a model wrote can fail to be encoded.
        content = json.dumps(body).encode()
        return _Asked(request_path(request), content, _most_tokens(body), request.seed)

    async def _attempt(self, asked: _Asked) -> bytes:
        try:
            return await self._server.post(asked.path, asked.content)
        except PromptTooLongError as error:
            length = error.context_length
            if length is None or asked.max_tokens is None or asked.max_tokens < length:
                raise ModelLengthError(str(error)) from None
            raise ServerRefusalError(
                f"{error}. max_tokens={asked.max_tokens} leaves no room for a prompt: lower it."
            ) from None

    async def _look(self) -> ServerReply:
        """Ask for one token."""
        answer = await self._look_at("/chat/completions", messages=[_HELLO])
        if answer.status != 404:
            return answer
        # A server of finished prompts alone may have no chat.
        other = await self._look_at("/completions", prompt=_HELLO["content"])
        return answer if other.status == 404 else other

    async def _look_at(self, path: str, **prompt: Any) -> ServerReply:
        limits = {name: 1 for name in _LIMITS if name in self._extra} or {"max_tokens": 1}
        body = {"model": self.model, "stream": False, **prompt, **self._extra, **limits}
        return await self._server.post_look(path, json.dumps(body).encode())


def _model_and_url(argument: str) -> tuple[str, str]:
    match = _ARGUMENT.fullmatch(argument)
    if match is None:
        raise BadArguments(
            f"The policy 'openai:{argument}' names no model and address. Write "
            "openai:MODEL@BASE_URL, for example openai:my-model@http://localhost:8000/v1.",
            subject="openai",
        )
    check_address(match["url"], of=repr(match["model"]), subject="openai")
    return match["model"], match["url"].rstrip("/")


def _without_none(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _most_tokens(body: Mapping[str, Any]) -> int | None:
    limits = [body[name] for name in _LIMITS if isinstance(body.get(name), int)]
    return max(limits, default=None)

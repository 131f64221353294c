"""Ask a model behind any server that speaks the OpenAI API.

A server that fails is an error on the episode and never an answer. The key comes from an
environment variable and goes into one header; nothing that is logged or raised holds it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import httpx  # heavy: 0.1 s

from gem.conversation import Reply, Request
from gem.errors import BadArguments, ModelLengthError
from gem.seeding import stream
from gem_eval.errors import (
    PolicyError,
    RequestRefusedError,
    ServerRefusalError,
    UnreadableReplyError,
)
from gem_eval.policies.chat_api import MalformedReplyError, read_reply, request_body, request_path
from gem_eval.policies.outage import Outage
from gem_eval.policies.refusals import context_length, refusal
from gem_eval.policies.server import Answer, NoAnswerError, Server, SilentError, TooLongError

__all__ = ["Backoff", "OpenAIPolicy", "retry_after_s"]

_ARGUMENT = re.compile(r"(?P<model>.+?)@(?P<url>https?://.+)", re.DOTALL)
_SHOWN = 300
_HELLO = {"role": "user", "content": "Hello."}
_LIMITS = ("max_tokens", "max_completion_tokens")
_LOOK_S = 30.0  # a server that is silent for longer may load its model: it is there
_MOST_OUTAGES = 5  # that one request waits for


class Backoff(NamedTuple):
    """How long to wait before trying again: doubling from `first_s` to `longest_s`, jittered."""

    first_s: float
    longest_s: float

    def delay_s(self, attempt: int, seed: int, retry_after_s: float | None = None) -> float:
        """Return the wait after a failed attempt, the first being 0. What a server asks counts.

        Half of it is jitter, keyed by the request's seed: many requests do not come back at once.

        >>> Backoff(1.0, 30.0).delay_s(9, seed=0, retry_after_s=7.0)
        30.0
        >>> Backoff(1.0, 30.0).delay_s(0, seed=0, retry_after_s=7.0)
        7.0
        """
        grown: float = self.first_s * 2 ** min(attempt, 30)
        if retry_after_s is None:
            grown *= 0.5 + stream("backoff", seed, attempt).random() / 2
        return min(max(grown, retry_after_s or 0.0), self.longest_s)


class _PassingError(Exception):
    """A failed attempt that another may mend: its text, and what the server asks to wait."""

    def __init__(self, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class _AwayError(_PassingError):
    """There was nobody who answers."""


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

    While nobody is behind the address (no connection, 502, 503, 504) every request waits, for
    `wait_for_server_s` at most, and one of them all looks for the server. That wait counts
    neither as an attempt nor within `total_timeout_s`; it does count within the deadlines of a
    rollout. `state` says in one line what is waited for.

    What a server tells as reasoning is recorded apart from the answer, and sent in no later
    prompt; with `think_tags` so is what an answer begins with in `<think>`. `extra` joins the
    body as it is, for what one server takes and others do not.
    """

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
        extra: Mapping[str, Any] | None = None,
        max_retries: int = 4,
        backoff_s: float = 0.5,
        max_backoff_s: float = 30.0,
        connect_timeout_s: float = 10.0,
        read_timeout_s: float = 300.0,
        total_timeout_s: float = 900.0,
        wait_for_server_s: float = 600.0,
        max_reply_bytes: int = 16 * 1024 * 1024,
    ) -> None:
        self.model, self.base_url = _model_and_url(argument)
        self.wait_for_server_s = wait_for_server_s
        self._system, self._sends_seed = system, sends_seed
        self._think_tags = think_tags
        self._options = _without_none(
            temperature=temperature, top_p=top_p, stop=stop and list(stop)
        )
        self._max_tokens, self._extra = max_tokens, dict(extra or {})
        self._max_retries, self._backoff = max_retries, Backoff(backoff_s, max_backoff_s)
        self._read_timeout_s, self._total_timeout_s = read_timeout_s, total_timeout_s
        self._key = _key(api_key_env)
        self._server = Server(
            self.base_url,
            key=self._key,
            connect_timeout_s=connect_timeout_s,
            read_timeout_s=read_timeout_s,
            max_reply_bytes=max_reply_bytes,
        )
        self._outage = Outage(self.base_url, self._look)

    async def __call__(self, request: Request) -> Reply:
        """Ask the model. Raises PolicyError where no proper answer came.

        ModelLengthError says that the prompt does not fit the model's context.
        """
        body = await self._answer(self._asked(request))
        try:
            return read_reply(body, is_chat=request.prompt is None, think_tags=self._think_tags)
        except MalformedReplyError as error:
            raise UnreadableReplyError(
                f"{self._at} sent a reply that cannot be read: {error.what}: "
                f"{self._shown(error.found)}. Check that it speaks the OpenAI API at this address."
            ) from None

    @property
    def state(self) -> str:
        """What the policy waits for, in one line for a person; empty while it waits for answers."""
        return self._outage.state

    async def probe(self, *, wait_s: float = 0.0) -> None:
        """Ask for one token, to see whether anything will be answered.

        Raises ServerRefusalError where the server refuses the key, the model or the address, or
        has no quota left, and ServerAwayError where nobody is there within `wait_s`.
        """
        await self._outage.end(wait_s)

    async def aclose(self) -> None:
        """Close the connections. A later request opens new ones."""
        await self._outage.aclose()
        await self._server.aclose()

    @property
    def _at(self) -> str:
        return f"The server at {self.base_url}"

    def _asked(self, request: Request) -> _Asked:
        body = request_body(request, system=self._system, sends_seed=self._sends_seed)
        limits = [limit for limit in (self._max_tokens, request.token_budget) if limit is not None]
        if limits:
            body["max_tokens"] = min(limits)
        body = {"model": self.model, **body, **self._options, **self._extra}
        # Escaped ASCII: no text that a model wrote can fail to be encoded.
        content = json.dumps(body).encode()
        return _Asked(request_path(request), content, _most_tokens(body), request.seed)

    async def _answer(self, asked: _Asked) -> bytes:
        """Ask, and again where that may help."""
        now = asyncio.get_running_loop().time
        due = now() + self._total_timeout_s
        attempt = outages = 0
        while True:
            try:
                return await asyncio.wait_for(self._attempt(asked), due - now())
            except asyncio.TimeoutError:
                raise self._late() from None
            except _AwayError as error:
                passing: _PassingError = error
                before = now()
                was_away = await self._outage.end(self.wait_for_server_s)
                due += now() - before
            except _PassingError as error:
                passing, was_away = error, False
            if was_away and outages < _MOST_OUTAGES:
                # It was the server's fault and no attempt; but a request may be what ends it.
                outages += 1
                delay_s = self._backoff.delay_s(0, asked.seed)
            else:
                self._give_up_after(attempt, passing)
                delay_s = self._backoff.delay_s(attempt, asked.seed, passing.retry_after_s)
                attempt += 1
            if now() + delay_s >= due:
                raise self._late()
            await asyncio.sleep(delay_s)

    def _give_up_after(self, attempt: int, error: _PassingError) -> None:
        if attempt >= self._max_retries:
            tries = "1 attempt" if attempt == 0 else f"{attempt + 1} attempts"
            raise PolicyError(
                f"{error} (after {tries}). Check that the server runs and has room."
            ) from None

    def _late(self) -> PolicyError:
        return PolicyError(
            f"{self._at} did not finish an answer within {self._total_timeout_s:g} s, further "
            "attempts included. Check the server, or raise total_timeout_s."
        )

    async def _attempt(self, asked: _Asked) -> bytes:
        try:
            answer = await self._server.post(asked.path, asked.content)
        except SilentError as error:
            raise PolicyError(
                f"{self._at} accepted the request and went silent for more than "
                f"{self._read_timeout_s:g} s. Check the server, or raise read_timeout_s."
            ) from error
        except TooLongError as error:
            raise PolicyError(f"{self._at} {error}") from error
        except NoAnswerError as error:
            raise _AwayError(self._no_answer(error)) from error
        if answer.status == 200:
            return answer.body
        raise self._refused(answer, asked)

    def _refused(self, answer: Answer, asked: _Asked) -> Exception:
        """Return the error that a status other than 200 is."""
        told = _text(answer)
        text = self._told(answer)
        kind = refusal(answer.status, told)
        if kind == "model_length":
            length = context_length(told)
            if length is None or asked.max_tokens is None or asked.max_tokens < length:
                return ModelLengthError(text)
            return ServerRefusalError(
                f"{text}. max_tokens={asked.max_tokens} leaves no room for a prompt: lower it."
            )
        if kind == "for_good":
            return ServerRefusalError(f"{text}. {_advice(answer.status)}")
        if kind == "away":
            return _AwayError(text, retry_after_s(answer.headers.get("retry-after")))
        if kind == "busy":
            return _PassingError(text, retry_after_s(answer.headers.get("retry-after")))
        return RequestRefusedError(f"{text}. {_advice(answer.status)}")

    async def _look(self) -> str | None:
        """Say why nobody answers; None where somebody does. Raises ServerRefusalError."""
        try:
            answer = await self._look_at("/chat/completions", messages=[_HELLO])
            if answer.status == 404:  # a server of finished prompts alone may have no chat
                other = await self._look_at("/completions", prompt=_HELLO["content"])
                answer = answer if other.status == 404 else other
        except NoAnswerError as error:
            return self._no_answer(error)
        except (SilentError, TooLongError):
            return None  # that is no answer either, but there is somebody
        if answer.status == 200:
            return None
        kind = refusal(answer.status, _text(answer))
        if kind == "for_good":
            raise ServerRefusalError(f"{self._told(answer)}. {_advice(answer.status)}")
        return self._told(answer) if kind == "away" else None

    async def _look_at(self, path: str, **prompt: Any) -> Answer:
        limits = {name: 1 for name in _LIMITS if name in self._extra} or {"max_tokens": 1}
        body = {"model": self.model, "stream": False, **prompt, **self._extra, **limits}
        content = json.dumps(body).encode()
        read_timeout_s = min(_LOOK_S, self._read_timeout_s)
        return await self._server.post(path, content, read_timeout_s=read_timeout_s)

    def _no_answer(self, error: NoAnswerError) -> str:
        return f"{self._at} gave no answer: {self._shown(str(error))}"

    def _told(self, answer: Answer) -> str:
        told = self._shown(_text(answer))
        return f"{self._at} answered {answer.status}: {told or answer.reason}"

    def _shown(self, text: str) -> str:
        """Return text of the server's as one short line, the key taken out before it is cut."""
        line = " ".join((text.replace(self._key, "***") if self._key else text).split())
        return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def _model_and_url(argument: str) -> tuple[str, str]:
    found = _ARGUMENT.fullmatch(argument)
    if found is None:
        raise BadArguments(
            f"The policy 'openai:{argument}' names no model and address. Write "
            "openai:MODEL@BASE_URL, for example openai:my-model@http://localhost:8000/v1.",
            subject="openai",
        )
    try:
        url = httpx.URL(found["url"])
    except httpx.InvalidURL as error:
        raise BadArguments(
            f"The address of {found['model']!r} is not a URL: {error}. Write it like "
            "http://localhost:8000/v1.",
            subject="openai",
        ) from error
    if url.userinfo or url.query or url.fragment or not url.host:
        raise BadArguments(
            f"The address of {found['model']!r} has a user, a query or a fragment, or no host. "
            "Give the plain address, and the key in the environment variable OPENAI_API_KEY.",
            subject="openai",
        )
    return found["model"], found["url"].rstrip("/")


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise BadArguments(
            f"The key in the environment variable {variable} has characters that no HTTP header "
            "can carry. Set it again.",
            subject="openai",
        )
    return key


def _without_none(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def retry_after_s(header: str | None) -> float | None:
    """Read Retry-After: seconds, or a date; None where it is neither."""
    if header is None:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", header.strip()):
        return float(header)
    try:
        date = parsedate_to_datetime(header)
        return max(0.0, date.timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _text(answer: Answer) -> str:
    return answer.body.decode("utf-8", "replace")


def _most_tokens(body: Mapping[str, Any]) -> int | None:
    limits = [body[name] for name in _LIMITS if isinstance(body.get(name), int)]
    return max(limits, default=None)


def _advice(status: int) -> str:
    if status in {402, 429}:
        return "Check what the key may still spend."
    if status in {401, 403}:
        return "Check the key in the environment variable, and what it may use."
    if status == 404:
        return "Check the address, which usually ends in /v1, and the model's name."
    if 300 <= status < 400:
        return "Give the address that it redirects to: a key is not sent on elsewhere."
    return "Check the model's name and the options."

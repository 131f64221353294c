"""Sample tokens from a server: what `gem.tokens.TokenPolicy` asks, over HTTP.

Token ids go in, and come out with their logprobs; the server tokenises nothing. Knows nothing
about episodes, or about what the servers' APIs look like.
"""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import httpx  # heavy: 0.1 s

import gem
from gem.errors import BadArguments
from gem.tokens import Sampled
from gem_eval.errors import PolicyError
from gem_eval.policies.chat_api import MalformedReplyError
from gem_eval.policies.openai import Backoff, retry_after_s
from gem_eval.policies.token_apis import APIS, Asked, Piece

__all__ = ["TokenServer"]

_SHOWN = 300
_ABORT_S = 5.0
_CONTEXT = ("context length", "context_length", "longer than the model", "max_model_len")


class _RetryableError(Exception):
    """A failed attempt that another may mend: its text, and what the server asks to wait."""

    def __init__(self, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class TokenServer:
    """The inference engine behind an address, as a function from a request to `Sampled`.

        engine = TokenServer("http://localhost:8000/v1", api="vllm", model="m", codec=codec)
        policy = TokenPolicy(engine, codec, max_length=32_768)

    `api` is "vllm" (its OpenAI server, whose address ends in /v1) or "sglang" (its own server).
    `codec` or `stop_ids` say which tokens end a turn. An answer has as many tokens as the policy's
    limits leave, and at most `max_tokens`; one of the two has to be set. `options` join the
    parameters of sampling as they are, by the server's own names. With `sends_seed` each request
    has the seed that its run, episode and turn fix.

    429, 5xx and failed connections are tried again up to `max_retries` times, with growing waits
    that honour Retry-After. An answer that the server breaks off, to load weights for instance,
    goes on from where it was: its tokens are kept. Everything about one request ends within
    `total_timeout_s`. Who stops waiting makes the server stop, too. How many requests are in
    flight is up to the caller.

    The key comes from the environment variable `api_key_env`, and is in no error. `transport` is
    httpx's, for other ways to connect. One engine serves one event loop at a time.

    Raises BadArguments for arguments that do not fit, PolicyError where no proper answer comes.
    """

    def __init__(
        self,
        url: str,
        *,
        api: str,
        model: str | None = None,
        codec: gem.tokens.ChatCodec | None = None,
        stop_ids: Sequence[int] = (),
        max_tokens: int | None = None,
        temperature: float = 1.0,
        options: Mapping[str, Any] | None = None,
        sends_seed: bool = True,
        api_key_env: str = "OPENAI_API_KEY",
        max_retries: int = 4,
        backoff_s: float = 0.5,
        max_backoff_s: float = 30.0,
        connect_timeout_s: float = 10.0,
        total_timeout_s: float = 900.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if api not in APIS:
            raise BadArguments(
                f"A TokenServer was asked for with api={api!r}. There are: {', '.join(APIS)}.",
                subject="api",
            )
        if api == "vllm" and model is None:
            raise BadArguments(
                "A TokenServer of vLLM was asked for without a model. Give model=, the name that "
                f"{url}/models lists.",
                subject="model",
            )
        self.url = url.rstrip("/")
        self._api = APIS[api]
        self._model = {} if model is None else {"model": model}
        self._stop_ids = sorted({*stop_ids, *(() if codec is None else codec.stop_ids)})
        self._max_tokens = max_tokens
        self._options = {"temperature": temperature, **(options or {})}
        self._sends_seed = sends_seed
        self._max_retries = max_retries
        self._backoff = Backoff(backoff_s, max_backoff_s)
        self._connect_timeout_s = connect_timeout_s
        self._total_timeout_s = total_timeout_s
        self._key = os.environ.get(api_key_env, "").strip()
        self._transport = transport
        self._client: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = None
        self._aborting: set[asyncio.Task[None]] = set()

    async def __call__(self, request: gem.Request) -> Sampled:
        """Return what the model says to the request's `prompt_ids`."""
        asked = self._asked(request)
        try:
            return await asyncio.wait_for(self._sampled(asked), self._total_timeout_s)
        except asyncio.TimeoutError:
            raise PolicyError(
                f"{self._at} did not finish an answer within {self._total_timeout_s:g} s, further "
                "attempts included. Check the server, or raise total_timeout_s."
            ) from None

    async def aclose(self) -> None:
        """Close the connections, once the server knows of what was given up."""
        if self._aborting:
            await asyncio.wait(self._aborting)
        if self._client is not None:
            _, client = self._client
            self._client = None
            await client.aclose()

    @property
    def _at(self) -> str:
        return f"The server at {self.url}"

    def _asked(self, request: gem.Request) -> Asked:
        limits = [each for each in (request.token_budget, self._max_tokens) if each is not None]
        if not limits:
            raise BadArguments(
                f"{self._at} was to answer without a limit, and servers then cut after a few "
                "tokens. Set max_tokens, or a limit of the TokenPolicy.",
                subject="max_tokens",
            )
        seed = request.seed if self._sends_seed else None
        ids = request.prompt_ids or ()
        return Asked(ids, min(limits), self._stop_ids, seed, request_id="")

    async def _sampled(self, asked: Asked) -> Sampled:
        """Ask until an answer is whole: one that the server broke off goes on where it was."""
        ids: list[int] = []
        logprobs: list[float] = []
        failures = 0
        while True:
            rest = asked._replace(
                ids=[*asked.ids, *ids],
                max_tokens=asked.max_tokens - len(ids),
                request_id=uuid.uuid4().hex,  # the server may still hold the one before
            )
            try:
                piece = await self._attempt(rest)
            except _RetryableError as error:
                failures = await self._failed(asked, failures, str(error), error.retry_after_s)
                continue
            ids += piece.ids
            logprobs += piece.logprobs
            if piece.finish_reason != "abort":
                return Sampled(ids, logprobs, piece.finish_reason)
            if len(ids) == asked.max_tokens:
                return Sampled(ids, logprobs, "length")
            if piece.ids:
                failures = 0
            else:
                failures = await self._failed(asked, failures, f"{self._at} broke an answer off")

    async def _failed(
        self, asked: Asked, failures: int, text: str, retry_after_s: float | None = None
    ) -> int:
        """Wait after a failed attempt, and return how many there were. Raises PolicyError."""
        if failures >= self._max_retries:
            tries = "1 attempt" if failures == 0 else f"{failures + 1} attempts"
            raise PolicyError(f"{text} (after {tries}). Check that the server runs and has room.")
        await asyncio.sleep(self._backoff.delay_s(failures, asked.seed or 0, retry_after_s))
        return failures + 1

    async def _attempt(self, asked: Asked) -> Piece:
        body = json.dumps({**self._model, **self._api.body(asked, self._options)})
        try:
            reply = await self._http().post(self.url + self._api.path, content=body)
        except asyncio.CancelledError:  # hanging up is not enough for every server
            self._abort(asked)
            raise
        except httpx.TransportError as error:
            what = self._shown(str(error)) or type(error).__name__
            raise _RetryableError(f"{self._at} gave no answer: {what}") from error
        if reply.status_code != 200:
            raise self._refusal(reply, asked)
        try:
            return self._api.read(_parsed(reply), asked)
        except MalformedReplyError as error:
            raise PolicyError(
                f"{self._at} sent a reply that cannot be read: {error.what}: "
                f"{self._shown(error.found)}. Check that its version returns token ids, and api=."
            ) from None

    def _refusal(self, reply: httpx.Response, asked: Asked) -> Exception:
        status, said = reply.status_code, self._shown(reply.text)
        text = f"{self._at} answered {status}: {said or reply.reason_phrase}"
        if status == 429 or status >= 500:
            return _RetryableError(text, retry_after_s(reply.headers.get("retry-after")))
        if any(each in said.lower() for each in _CONTEXT):
            return PolicyError(
                f"{text}. The prompt has {len(asked.ids)} tokens, and {asked.max_tokens} more were "
                "asked for: set the TokenPolicy's max_length to the server's context."
            )
        return PolicyError(f"{text}. Check the address, the model's name, the key and the options.")

    def _abort(self, asked: Asked) -> None:
        """Tell the server that nobody waits any more, without making anybody wait for that."""
        if self._api.abort_path is None:
            return
        sent = self._http().post(
            self.url + self._api.abort_path, json={"rid": asked.request_id}, timeout=_ABORT_S
        )
        task = asyncio.ensure_future(_quietly(sent))
        self._aborting.add(task)  # asyncio itself keeps none alive
        task.add_done_callback(self._aborting.discard)

    def _http(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            headers = {"Content-Type": "application/json"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            client = httpx.AsyncClient(
                headers=headers,
                transport=self._transport,
                timeout=httpx.Timeout(None, connect=self._connect_timeout_s),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
                trust_env=False,  # an engine is near; a proxy would not reach it
            )
            self._client = (loop, client)
        return self._client[1]

    def _shown(self, text: str) -> str:
        """Return text of the server's as one short line, the key taken out before it is cut."""
        line = " ".join((text.replace(self._key, "***") if self._key else text).split())
        return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def _parsed(reply: httpx.Response) -> Any:
    try:
        return reply.json()
    except (ValueError, RecursionError) as error:
        raise MalformedReplyError("it is not JSON", reply.text) from error


async def _quietly(sent: Any) -> None:
    with suppress(httpx.HTTPError):  # then the server hears it by the closed connection alone
        await sent

"""Sample tokens from a server: what `gem.tokens.TokenPolicy` asks, over HTTP.

Token ids go in, and come out with their logprobs; the server tokenises nothing. Knows nothing
about episodes, or about what the servers' APIs look like.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from numbers import Integral
from typing import Any

import gem
from gem.content import ImagePart, Message
from gem.errors import BadArguments
from gem.retries import Backoff
from gem.tokens import Sampled
from gem_eval.errors import PolicyError
from gem_eval.policies.addresses import check_address, key_from
from gem_eval.policies.chat_api import MalformedReplyError
from gem_eval.policies.retrying import (
    PassingError,
    PromptTooLongError,
    RetryingServer,
)
from gem_eval.policies.server import NoAnswerError, ServerReply, SilentError, TooLongError
from gem_eval.policies.token_apis import APIS, Asked, Piece

__all__ = ["TokenServer"]

_ABORT_S = 5.0


class TokenServer:
    """The inference engine behind an address, as a function from a request to `Sampled`.

        engine = TokenServer("http://localhost:8000/v1", api="vllm", model="m", codec=codec)
        policy = TokenPolicy(engine, codec, max_length=32_768)

    `api` is "vllm" (its OpenAI server, whose address ends in /v1) or "sglang" (its own server).
    `codec` or `stop_ids` say which tokens end a turn. An answer has as many tokens as the policy's
    limits leave, and at most `max_tokens`; one of the two has to be set. `options` join the
    parameters of sampling as they are, by the server's own names. With `sends_seed` each request
    has the seed that its run, episode and turn fix.

    What fails is tried again, and a server that is away is waited for, as by `RetryingServer`;
    the request that looks for it asks for one token. An answer that the server breaks off, to
    load weights for instance, goes on from where it was: its tokens are kept, and attempts are
    counted anew. Who stops waiting makes the server stop, too. How many requests are in flight
    is up to the caller. Proxies of the environment are not asked: an engine is near.

    The key comes from the environment variable `api_key_env`, and is in no error.

    Raises BadArguments for arguments that do not fit and for a request with an image, PolicyError
    where no proper answer comes.
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
        wait_for_server_s: float = 600.0,
        max_reply_bytes: int = 64 * 1024 * 1024,
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
        check_address(url, of="a TokenServer", subject="url")
        self.url = url.rstrip("/")
        self._api = APIS[api]
        self._model = {} if model is None else {"model": model}
        self._stop_ids = sorted({*_as_ids(stop_ids), *(() if codec is None else codec.stop_ids)})
        self._max_tokens = max_tokens
        self._options = {"temperature": temperature, **(options or {})}
        self._sends_seed = sends_seed
        self._server = RetryingServer(
            self.url,
            key=key_from(api_key_env, subject="api_key_env"),
            look=self._look,
            max_retries=max_retries,
            backoff=Backoff(backoff_s, max_backoff_s),
            connect_timeout_s=connect_timeout_s,
            read_timeout_s=None,  # nothing comes before an answer is whole, however long it is
            total_timeout_s=total_timeout_s,
            wait_for_server_s=wait_for_server_s,
            max_reply_bytes=max_reply_bytes,
            uses_proxies=False,
        )
        self._aborting: set[asyncio.Task[None]] = set()

    async def __call__(self, request: gem.Request) -> Sampled:
        """Return what the model says to the request's `prompt_ids`."""
        asked = self._asked(request)
        asking = self._server.asking(request.seed)
        ids: list[int] = []
        logprobs: list[float] = []
        while True:
            rest = asked._replace(ids=[*asked.ids, *ids], max_tokens=asked.max_tokens - len(ids))
            piece = await asking.answer(partial(self._attempt, rest))
            ids += piece.ids
            logprobs += piece.logprobs
            if piece.finish_reason != "abort":
                return Sampled(ids, logprobs, piece.finish_reason)
            if len(ids) == asked.max_tokens:
                return Sampled(ids, logprobs, "length")

    @property
    def state(self) -> str:
        """What the engine waits for, in one line for a person; empty while it waits for answers."""
        return self._server.outage.state

    async def aclose(self) -> None:
        """Close the connections, once the server knows of what was given up."""
        if self._aborting:
            await asyncio.wait(self._aborting)
        await self._server.aclose()

    def _asked(self, request: gem.Request) -> Asked:
        limits = [limit for limit in (request.token_budget, self._max_tokens) if limit is not None]
        if not limits:
            raise BadArguments(
                f"{self._server.name} was to answer without a limit, and servers then cut after a "
                "few tokens. Set max_tokens, or a limit of the TokenPolicy.",
                subject="max_tokens",
            )
        if any(map(_has_image, request.messages)):  # the ids that stand for it mean nothing alone
            raise BadArguments(
                f"{self._server.name} was to answer to an image, and a TokenServer sends tokens "
                "alone. Choose an environment of text, or ask the engine in this process, which "
                "takes ImageCodec.images beside the tokens.",
                subject="messages",
            )
        seed = request.seed if self._sends_seed else None
        ids = request.prompt_ids or ()
        return Asked(ids, min(limits), self._stop_ids, seed, request_id="")

    async def _attempt(self, asked: Asked) -> Piece:
        # Every attempt has an id of its own: the server may still hold the one before.
        asked = asked._replace(request_id=uuid.uuid4().hex)
        try:
            body = await self._server.post(self._api.path, self._content(asked))
        except asyncio.CancelledError:  # hanging up is not enough for every server
            self._abort(asked)
            raise
        except PromptTooLongError as error:
            raise PolicyError(
                f"{error}. The prompt has {len(asked.ids)} tokens, and {asked.max_tokens} more "
                "were asked for: set the TokenPolicy's max_length to the server's context."
            ) from None
        try:
            piece = self._api.read(_parsed(body), asked)
        except MalformedReplyError as error:
            raise PolicyError(
                f"{self._server.name} sent a reply that cannot be read: {error.what}: "
                f"{self._server.shown(error.found)}. Check that its version returns token ids, "
                "and api=."
            ) from None
        if piece.finish_reason == "abort" and not piece.ids:
            raise PassingError(f"{self._server.name} broke an answer off")
        return piece

    async def _look(self) -> ServerReply:
        """Ask for one token."""
        asked = Asked([0], 1, self._stop_ids, seed=None, request_id=uuid.uuid4().hex)
        return await self._server.post_look(self._api.path, self._content(asked))

    def _content(self, asked: Asked) -> bytes:
        return json.dumps({**self._model, **self._api.body(asked, self._options)}).encode()

    def _abort(self, asked: Asked) -> None:
        """Tell the server that nobody waits any more, without making anybody wait for that."""
        if self._api.abort_path is None:
            return
        task = asyncio.ensure_future(self._send_abort(self._api.abort_path, asked.request_id))
        self._aborting.add(task)  # asyncio itself keeps none alive
        task.add_done_callback(self._aborting.discard)

    async def _send_abort(self, path: str, request_id: str) -> None:
        content = json.dumps({"rid": request_id}).encode()
        # Where it does not arrive the server hears it by the closed connection alone.
        with suppress(NoAnswerError, SilentError, TooLongError):
            await self._server.post_once(path, content, read_timeout_s=_ABORT_S)


def _as_ids(stop_ids: Sequence[object]) -> list[int]:
    """Return ids of tokens. Raises BadArguments for texts, as `ChatCodec` does."""
    ids = []
    for stop_id in stop_ids:
        # True is an Integral as well, and would stand for the token 1.
        if isinstance(stop_id, bool) or not isinstance(stop_id, Integral):
            raise BadArguments(
                f"A TokenServer was given stop_ids with {stop_id!r:.60} in them, and they are ids "
                "of tokens. Give those of the texts: tokenizer.convert_tokens_to_ids(text).",
                subject="stop_ids",
            )
        ids.append(int(stop_id))
    return ids


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedReplyError("it is not JSON", body.decode("utf-8", "replace")) from error


def _has_image(message: Message) -> bool:
    content = message.content
    return not isinstance(content, str) and any(isinstance(part, ImagePart) for part in content)

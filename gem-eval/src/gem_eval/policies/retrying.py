"""Ask a server until it answers: further attempts, deadlines, and waiting while it is away.

What every policy over HTTP shares. Knows nothing about what is asked, or how a reply is read.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import NamedTuple, TypeVar

import httpx  # heavy: 0.1 s

from gem.env import stream
from gem.errors import BadArguments
from gem_eval.errors import (
    PolicyError,
    RequestRefusedError,
    ServerFailureError,
    ServerRefusalError,
)
from gem_eval.policies.outage import Outage
from gem_eval.policies.refusals import context_length, refusal
from gem_eval.policies.server import (
    NoAnswerError,
    ServerConnections,
    ServerReply,
    SilentError,
    TooLongError,
)

__all__ = [
    "Backoff",
    "PassingError",
    "PromptTooLongError",
    "RetryingServer",
    "check_address",
    "key_from",
    "retry_after_s",
]

_SHOWN = 300
_LOOK_S = 30.0  # a server that is silent for longer may load its model: it is there
_MOST_OUTAGES = 5  # that one request waits for
_T = TypeVar("_T")


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


class PassingError(Exception):
    """A failed attempt that another may mend: its text, and what the server asks to wait."""

    def __init__(self, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class _AwayError(PassingError):
    """There was nobody who answers, or what answers fails (5xx): a look tells whether at all."""


class PromptTooLongError(Exception):
    """The prompt, with the answer it leaves room for, does not fit the model's context.

    `context_length` is that context in tokens, where the server tells it.
    """

    def __init__(self, text: str, context_length: int | None) -> None:
        super().__init__(text)
        self.context_length = context_length


class RetryingServer:
    """The server at `url`, asked again where that may help, and waited for while it is away.

    429, 5xx and failed connections are tried again, up to `max_retries` times, with growing
    waits that honour Retry-After; an answer that does not come within `read_timeout_s` is not.
    Everything about one request ends within `total_timeout_s`.

    After a failed connection or a 5xx one of all requests looks for the server, by `look`: the
    smallest request that there is. While that fails as well, the server is away: every request
    waits, for `wait_for_server_s` at most, which counts neither as an attempt nor within
    `total_timeout_s`. Where it is answered, the fault is the request's own.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str,
        look: Callable[[], Awaitable[ServerReply]],
        max_retries: int,
        backoff: Backoff,
        connect_timeout_s: float,
        read_timeout_s: float | None,
        total_timeout_s: float,
        wait_for_server_s: float,
        max_reply_bytes: int,
        uses_proxies: bool = True,
    ) -> None:
        self.wait_for_server_s = wait_for_server_s
        self.total_timeout_s = total_timeout_s
        self.max_retries = max_retries
        self.backoff = backoff
        self.name = f"The server at {url}"
        self._key = key
        self._read_timeout_s = read_timeout_s
        self._look_by = look
        self._server = ServerConnections(
            url,
            key=key,
            connect_timeout_s=connect_timeout_s,
            read_timeout_s=read_timeout_s,
            max_reply_bytes=max_reply_bytes,
            uses_proxies=uses_proxies,
        )
        self.outage = Outage(url, self._look)

    def asking(self, seed: int) -> Asking:
        """Begin a request: from now on its time counts. `seed` keys the jitter of its waits."""
        return Asking(self, seed)

    async def post(self, path: str, content: bytes) -> bytes:
        """Ask once, and return the body of the answer.

        Raises PassingError where another attempt may help, PromptTooLongError, and PolicyError
        where nothing helps.
        """
        try:
            answer = await self._server.post(path, content)
        except SilentError as error:
            raise PolicyError(
                f"{self.name} accepted the request and went silent for more than "
                f"{self._read_timeout_s:g} s. Check the server, or raise read_timeout_s."
            ) from error
        except TooLongError as error:
            raise PolicyError(f"{self.name} {error}") from error
        except NoAnswerError as error:
            raise _AwayError(self._no_answer(error)) from error
        if answer.status == 200:
            return answer.body
        raise self._refused(answer)

    async def post_once(self, path: str, content: bytes, *, read_timeout_s: float) -> ServerReply:
        """Ask once, and return whatever is answered. Raises what `ServerConnections.post` does."""
        return await self._server.post(path, content, read_timeout_s=read_timeout_s)

    async def post_look(self, path: str, content: bytes) -> ServerReply:
        """Ask in order to see whether anybody is there: `post_once`, with little time."""
        read_timeout_s = min(_LOOK_S, self._read_timeout_s or _LOOK_S)
        return await self.post_once(path, content, read_timeout_s=read_timeout_s)

    async def aclose(self) -> None:
        """Close the connections. A later request opens new ones."""
        await self.outage.aclose()
        await self._server.aclose()

    def shown(self, text: str) -> str:
        """Return text of the server's as one short line, the key taken out before it is cut."""
        line = " ".join((text.replace(self._key, "***") if self._key else text).split())
        return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."

    def _refused(self, answer: ServerReply) -> Exception:
        """Return the error that a status other than 200 is."""
        text = _text(answer)
        told = self._told(answer)
        kind = refusal(answer.status, text)
        if kind == "model_length":
            return PromptTooLongError(told, context_length(text))
        if kind == "for_good":
            return ServerRefusalError(f"{told}. {_advice(answer.status)}")
        if kind == "away":
            return _AwayError(told, retry_after_s(answer.headers.get("retry-after")))
        if kind == "busy":
            return PassingError(told, retry_after_s(answer.headers.get("retry-after")))
        return RequestRefusedError(f"{told}. {_advice(answer.status)}")

    async def _look(self) -> str | None:
        """Say why nobody answers; None where somebody does. Raises ServerRefusalError."""
        try:
            answer = await self._look_by()
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

    def _no_answer(self, error: NoAnswerError) -> str:
        return f"{self.name} gave no answer: {self.shown(str(error))}"

    def _told(self, answer: ServerReply) -> str:
        return f"{self.name} answered {answer.status}: {self.shown(_text(answer)) or answer.reason}"


class Asking:
    """One request to a `RetryingServer`. Its deadline is for everything that it takes."""

    def __init__(self, server: RetryingServer, seed: int) -> None:
        self._server = server
        self._seed = seed
        self._due = asyncio.get_running_loop().time() + server.total_timeout_s

    async def answer(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Return what `attempt` does, made again after each PassingError where that may help.

        Who calls it twice has the attempts counted anew, and the deadline goes on.
        """
        now = asyncio.get_running_loop().time
        server = self._server
        attempts = outages = 0
        while True:
            try:
                return await asyncio.wait_for(attempt(), self._due - now())
            except asyncio.TimeoutError:
                raise self._late() from None
            except _AwayError as error:
                passing: PassingError = error
                before = now()
                was_away = await server.outage.end(server.wait_for_server_s)
                self._due += now() - before
            except PassingError as error:
                passing = error
                was_away = False
            if was_away and outages < _MOST_OUTAGES:
                # It was the server's fault and no attempt; but a request may be what ends it.
                outages += 1
                delay_s = server.backoff.delay_s(0, self._seed)
            else:
                self._give_up_after(attempts, passing)
                delay_s = server.backoff.delay_s(attempts, self._seed, passing.retry_after_s)
                attempts += 1
            if now() + delay_s >= self._due:
                raise self._late()
            await asyncio.sleep(delay_s)

    def _give_up_after(self, attempt: int, error: PassingError) -> None:
        if attempt >= self._server.max_retries:
            tries = "1 attempt" if attempt == 0 else f"{attempt + 1} attempts"
            # Who is not away answers others: it fails at this request, or at all that are alike.
            kind = ServerFailureError if isinstance(error, _AwayError) else PolicyError
            raise kind(
                f"{error} (after {tries}). Check that the server runs and has room."
            ) from None

    def _late(self) -> PolicyError:
        return PolicyError(
            f"{self._server.name} did not finish an answer within "
            f"{self._server.total_timeout_s:g} s, further attempts included. Check the server, or "
            "raise total_timeout_s."
        )


def check_address(text: str, *, of: str, subject: str) -> None:
    """Refuse what is no plain HTTP address of `of`. Raises BadArguments, about `subject`."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise BadArguments(
            f"The address of {of} is not a URL: {error}. Write it like http://localhost:8000/v1.",
            subject=subject,
        ) from error
    if url.scheme not in {"http", "https"}:
        raise BadArguments(
            f"The address of {of} begins with neither http:// nor https://. Write it like "
            "http://localhost:8000/v1.",
            subject=subject,
        )
    if url.userinfo or url.query or url.fragment or not url.host:
        raise BadArguments(
            f"The address of {of} has a user, a query or a fragment, or no host. Give the plain "
            "address, and the key in an environment variable, OPENAI_API_KEY by default.",
            subject=subject,
        )


def key_from(variable: str, *, subject: str) -> str:
    """Return the key that an environment variable holds, empty where there is none.

    Raises BadArguments, about `subject`, for one that no header can carry.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise BadArguments(
            f"The key in the environment variable {variable} has characters that no HTTP header "
            "can carry. Set it again.",
            subject=subject,
        )
    return key


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


def _text(answer: ServerReply) -> str:
    return answer.body.decode("utf-8", "replace")


def _advice(status: int) -> str:
    if status in {402, 429}:
        return "Check what the key may still spend."
    if status in {401, 403}:
        return "Check the key in the environment variable, and what it may use."
    if status == 404:
        return (
            "Check the address, which usually ends in /v1 where the API is OpenAI's, and the "
            "model's name."
        )
    if 300 <= status < 400:
        return "Give the address that it redirects to: a key is not sent on elsewhere."
    return "Check the model's name and the options."

"""Ask a server until it answers: further attempts, deadlines, and waiting while it is away.

What every policy over HTTP shares. Knows nothing about what is asked, or how a reply is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from gem.retries import Backoff, retry_after_s
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
from gem_eval.policies.throttle import Throttle

__all__ = [
    "PassingError",
    "PromptTooLongError",
    "RetryingServer",
]

_SHOWN = 300
_LOOK_S = 30.0  # a server that is silent for longer may load its model: it is there
_MOST_OUTAGES = 5  # that one request waits for
_MOST_CROWDED = 10  # halvings: as many as lead from 1,024 at once to a single one
_T = TypeVar("_T")


class PassingError(Exception):
    """A failed attempt that another may mend: its text, and what the server asks to wait.

    `was_crowded` says that the server had too much to do, and that less will be asked of it.
    """

    def __init__(self, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s
        self.was_crowded = False


class _BusyError(PassingError):
    """The server refused the request for load (429)."""


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

    With `adapts_concurrency` fewer requests are in flight while the server is overloaded: it
    refuses for load, fails, or is late (see `Throttle`). To wait for a turn counts neither as an
    attempt nor within `total_timeout_s`, and a refusal for load is no attempt where others were in
    flight beside it.
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
        adapts_concurrency: bool = False,
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
        self._adapts_concurrency = adapts_concurrency
        # One for each event loop: who waits for a turn is woken on the loop on which it waits.
        self._throttles: WeakKeyDictionary[asyncio.AbstractEventLoop, Throttle] = (
            WeakKeyDictionary()
        )
        self._server = ServerConnections(
            url,
            key=key,
            connect_timeout_s=connect_timeout_s,
            read_timeout_s=read_timeout_s,
            max_reply_bytes=max_reply_bytes,
            uses_proxies=uses_proxies,
        )
        self.outage = Outage(url, self._look)

    @property
    def state(self) -> str:
        """What is waited for beside answers, in one line; empty where that is nothing."""
        throttles = list(self._throttles.items())
        states = [throttle.state for loop, throttle in throttles if not loop.is_closed()]
        return next(filter(None, [self.outage.state, *states]), "")

    def throttle(self) -> Throttle | None:
        """Return what says how many requests this event loop may send; None for any number."""
        if not self._adapts_concurrency:
            return None
        loop = asyncio.get_running_loop()
        throttle = self._throttles.get(loop)
        if throttle is None:
            # A timer of a throttle holds its loop, which would else hold both for ever.
            for other in [each for each in self._throttles if each.is_closed()]:
                del self._throttles[other]
            throttle = self._throttles[loop] = Throttle()
        return throttle

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

    def has_key_in(self, body: bytes) -> bool:
        """Say whether the server echoes the key in what it sent."""
        return bool(self._key) and self._key.encode() in body

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
            return _BusyError(told, retry_after_s(answer.headers.get("retry-after")))
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
        self._now = asyncio.get_running_loop().time
        self._due = self._now() + server.total_timeout_s

    async def answer(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Return what `attempt` does, made again after each PassingError where that may help.

        Who calls it twice has the attempts counted anew, and the deadline goes on.
        """
        server = self._server
        backoff = server.backoff
        attempts = 0
        outages = 0
        crowded = 0
        while True:
            try:
                return await self._in_turn(attempt)
            except asyncio.TimeoutError:
                raise self._late() from None
            except _AwayError as error:
                passing: PassingError = error
                before = self._now()
                was_away = await server.outage.end(server.wait_for_server_s)
                self._due += self._now() - before
            except PassingError as error:
                passing = error
                was_away = False
            if was_away and outages < _MOST_OUTAGES:
                # It was the server's fault and no attempt; but a request may be what ends it.
                outages += 1
                delay_s = backoff.delay_s(0, self._seed)
            elif passing.was_crowded and crowded < _MOST_CROWDED:
                # That there were too many is no fault of this one; but it may be too large itself.
                delay_s = backoff.delay_s(crowded, self._seed, passing.retry_after_s)
                crowded += 1
            else:
                self._give_up_after(attempts, passing)
                delay_s = backoff.delay_s(attempts, self._seed, passing.retry_after_s)
                attempts += 1
            if self._now() + delay_s >= self._due:
                raise self._late()
            await asyncio.sleep(delay_s)

    async def _in_turn(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Make one attempt when its turn has come. Raises asyncio.TimeoutError where it is late."""
        throttle = self._server.throttle()
        if throttle is None:
            return await asyncio.wait_for(attempt(), self._due - self._now())
        before = self._now()
        turn = await throttle.begin()
        self._due += self._now() - before
        try:
            answer = await asyncio.wait_for(attempt(), self._due - self._now())
        except (_AwayError, _BusyError) as error:
            pause_s = min(error.retry_after_s or 0.0, self._server.backoff.longest_s)
            is_crowded = throttle.overloaded(turn, pause_s)
            # Where it fails otherwise it may be this request that it fails at.
            error.was_crowded = is_crowded and isinstance(error, _BusyError)
            raise
        except asyncio.TimeoutError:
            throttle.overloaded(turn)
            raise
        except PolicyError as error:
            if isinstance(error.__cause__, SilentError):
                throttle.overloaded(turn)
            raise
        else:
            throttle.answered(turn)
            return answer
        finally:
            throttle.end()  # last: whom it lets begin depends on how this turn went

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

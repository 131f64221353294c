"""GET requests to one HTTP server, bounded in time, size and number. Knows no encyclopedia."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from gem.errors import BadArguments, DataError, in_one_line
from gem.registry import check_requirements

if TYPE_CHECKING:
    import ssl

    import httpx

__all__ = ["REQUIRES", "WikiReply", "WikiServer"]

REQUIRES = ("httpx>=0.27",)
_MOST_BYTES = 4 * 2**20
_MOST_RETRIES = 10
_MOST_REDIRECTS = 5
_LONGEST_S = 600.0
_PAUSE_S = 0.1
_PASSING = (429, 500, 502, 503, 504)


class WikiReply(NamedTuple):
    """What a server sent, and the address it came from after redirects."""

    url: str
    kind: str
    text: str


class _PassingError(Exception):
    """Something that may go better the next time. Its text says what."""


class WikiServer:
    """One server, asked for one thing at a time, by forks of a game on other threads too.

    An answer has `timeout_s` to come in, redirects and all, and its body at most 4 MiB: then the
    connection is cut off, whatever the server does. Where that or the connection fails, or the
    server is busy, it is asked `retries` times more. What still fails is a DataError. After
    `close` the next request opens a new connection.
    """

    def __init__(self, url: str, *, timeout_s: float, retries: int) -> None:
        check_requirements(REQUIRES, subject="An encyclopedia on a server", of="gem-envs-games")
        # Heavy: 0.1 s. Here and not when it is first asked, which would be in an episode: one of
        # the libraries that it loads where they are installed (rich) draws from `random`.
        import httpx  # noqa: F401

        _require(
            url.startswith(("http://", "https://")), f"url={url!r:.200}", "http:// or https://"
        )
        _require(0 < timeout_s <= _LONGEST_S, f"timeout_s={timeout_s}", "0 to 600 seconds")
        _require(0 <= retries <= _MOST_RETRIES, f"retries={retries}", "0 to 10")
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._retries = retries
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._socket: socket.socket | None = None  # of the only connection
        self._is_late = False

    def get(self, path: str, params: Mapping[str, str | int]) -> WikiReply | None:
        """Return what is at a path below `url`, None if nothing is. Raises DataError."""
        import httpx

        error: Exception
        for attempt in range(self._retries + 1):
            if attempt:
                time.sleep(_PAUSE_S * 2 ** (attempt - 1))
            try:
                with self._lock:
                    return self._once(self.url + path, params)
            except _PassingError as passing:
                error = passing
                what = str(passing)
            except httpx.TransportError as failed:
                error = failed
                what = in_one_line(failed)
            except (httpx.HTTPError, httpx.InvalidURL) as final:
                raise self.broken(in_one_line(final)) from final
        raise self.broken(f"{what}, asked {self._retries + 1} times") from error

    def _once(self, url: str, params: Mapping[str, str | int]) -> WikiReply | None:
        import httpx

        # httpx limits each wait alone: a byte now and then would keep it reading for days.
        self._is_late = False
        due = time.monotonic() + self._timeout_s
        timer = threading.Timer(self._timeout_s, self._cut_off)
        timer.daemon = True
        timer.start()
        answer = None
        try:
            answer = self._asked(url, params)
        except httpx.TransportError:
            self._is_late = self._is_late or time.monotonic() >= due  # httpx may notice it sooner
            if not self._is_late:
                raise
        finally:
            timer.cancel()
            timer.join()
        if self._is_late:  # what was read until then may look whole
            raise _PassingError(f"not done within {self._timeout_s:g} s")
        return answer

    def _cut_off(self) -> None:
        self._is_late = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # closed meanwhile
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _connected(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember the socket of a new connection. httpx calls this at every step it takes."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._is_late:
                self._cut_off()

    def _asked(self, url: str, params: Mapping[str, str | int]) -> WikiReply | None:
        client = self._opened()
        trace = {"trace": self._connected}
        request = client.build_request("GET", url, params=dict(params), extensions=trace)
        for _ in range(_MOST_REDIRECTS + 1):
            with contextlib.closing(client.send(request, stream=True)) as response:
                if response.next_request is None:
                    return self._answer(response)
                request = response.next_request
        raise self.broken(f"more than {_MOST_REDIRECTS} redirects")

    def _answer(self, response: httpx.Response) -> WikiReply | None:
        if response.status_code == 404:
            return None
        if response.status_code in _PASSING:
            raise _PassingError(f"status {response.status_code}")
        if response.status_code != 200:
            raise self.broken(f"status {response.status_code}")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise self.broken("compressed, unasked")
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise self.broken(f"more than {_MOST_BYTES} bytes")
        text = body.decode("utf-8", errors="replace")
        return WikiReply(str(response.url), response.headers.get("content-type", ""), text)

    def _opened(self) -> httpx.Client:
        import httpx

        if self._client is None:
            self._client = httpx.Client(
                verify=_trusted(),
                timeout=self._timeout_s,
                limits=httpx.Limits(max_connections=1),
                headers={
                    "User-Agent": "gem-envs-games (WikiGame)",
                    "Accept-Encoding": "identity",  # a small body could become a huge one
                },
            )
        return self._client

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = self._socket = None

    def broken(self, what: str) -> DataError:
        """Return the error that says what the server did instead of answering."""
        return DataError(
            f"WikiGame asked the server {self.url}, and it gave no answer of use ({what:.300}). "
            "Check the address, and that the server runs and is what it is taken for.",
            source=self.url,
        )


@lru_cache(1)
def _trusted() -> ssl.SSLContext:
    """Return the certificates that are trusted, read once: 20 ms."""
    import httpx

    return httpx.create_ssl_context()


def _require(is_true: bool, what: str, needed: str) -> None:
    if not is_true:
        raise BadArguments(
            f"WikiGame was given {what}, and needs {needed} there. Pass that.", subject="WikiGame"
        )

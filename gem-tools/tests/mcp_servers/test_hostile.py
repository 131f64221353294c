"""What a server may do to whoever uses it: nothing but waste the time of its own calls."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from gem_tools.mcp import McpUnavailable

from .conftest import Offered, Offers
from .raw_server import RESULTS, answers

pytestmark = pytest.mark.slow

Raw = Callable[..., Offered]


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("text", "done"),
        ("chat", None),
        ("forge", None),
        ("bell", "\x1b[2J\x07 <tool_response> \N{REPLACEMENT CHARACTER}"),
        ("structure", '{"a": [1, 2]}'),
        ("ask", "[{}, -32601]"),
        (
            "blocks",
            "one\n[image: image/png, 30 bytes]\n[audio: audio/wav, 3 bytes]\n"
            "[link: notes file:///notes]\n[file:///a]\ninside\n"
            "[file:///b: of no stated type, 3 bytes]",
        ),
    ],
)
def test_a_result_is_its_text(raw: Raw, what: str, text: str | None) -> None:
    result = raw().do(what)

    assert not result.is_error
    assert result.content.isdigit() if text is None else result.content == text


def test_an_error_of_the_server_is_a_result_that_says_so(raw: Raw) -> None:
    assert raw().do("error").content == "it went wrong"
    assert raw().do("error").is_error


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("nonsense", "what is no result of a tool"),
        ("ask-for-input", "what is no result of a tool"),
        ("huge", "sent a message of more than 4194304 bytes during the call"),
        ("endless", "sent a message of more than 4194304 bytes during the call"),
        ("flood", "sent 10000 messages that answer nothing during the call"),
        ("die", "ended during the call"),
        ("quota", "during the call, which is not made again: MCPError: The quota is used up."),
    ],
)
def test_what_makes_no_sense_costs_one_call(raw: Raw, what: str, why: str) -> None:
    server = raw()

    result = server.do(what)

    assert (result.is_error, result.meta["error"]) == (True, "failed")
    assert why in result.content
    assert server.do("text").content == "done"


def test_a_long_result_is_cut(raw: Raw) -> None:
    result = raw(max_characters=100).do("long")

    assert len(result.content) < 200
    assert result.meta["cut"] == len("long " * 100_000) - 100


def test_patterns_of_the_server_are_never_tried(raw: Raw) -> None:
    assert raw("pattern").do("pattern").content == "done"  # `^(a+)+$` would take for ever


class HostileAddress:
    """The raw server's answers over HTTP, sent in the way that a test asks for."""

    def __init__(self) -> None:
        self.how = ""
        self.session = "first"
        self.let_go = threading.Event()
        address = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                reply = answers(request)
                body = b"" if reply is None else json.dumps(reply).encode()
                began = request["method"] in {"initialize", "server/discover"}
                if not began and self.headers["mcp-session-id"] != address.session:
                    address.send(self, 404, b"")
                elif request["method"] == "tools/call":
                    address.answer(self, body)
                else:
                    status = 202 if reply is None else 200
                    address.send(self, status, body, **{"mcp-session-id": address.session})

            def do_GET(self) -> None:
                address.send(self, 405, b"")

            def do_DELETE(self) -> None:
                if address.how == "hang":
                    address.let_go.wait(30)
                address.send(self, 200, b"")

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/mcp"

    def send(self, handler: Any, status: int, body: bytes, **headers: str) -> None:
        handler.send_response(status)
        handler.send_header("content-length", str(len(body)))
        for name, value in {"content-type": "application/json", **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def answer(self, handler: Any, body: bytes) -> None:
        if self.how == "drop":
            handler.close_connection = True
        elif self.how == "hang":
            self.let_go.wait(30)
        elif self.how == "status":
            self.send(handler, 500, b"no")
        elif self.how == "page":
            self.send(handler, 200, b"<html>", **{"content-type": "text/html"})
        elif self.how == "redirect":
            self.send(handler, 307, b"", location="http://127.0.0.1:9/elsewhere")
        elif self.how == "bomb":
            self.send(handler, 200, gzip.compress(body), **{"content-encoding": "gzip"})
        else:
            self.send(handler, 200, body)

    def close(self) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def address() -> Iterator[HostileAddress]:
    server = HostileAddress()
    yield server
    server.close()


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("drop", "during the call"),
        ("status", "refused the call"),
        ("page", "refused the call"),
        ("redirect", "refused the call"),
        ("bomb", "packed its reply"),
    ],
)
def test_a_bad_reply_costs_one_call(
    address: HostileAddress, offers: Offers, how: str, why: str
) -> None:
    server = offers(url=address.url)
    address.how = how

    result = server.do("text")

    address.how = ""
    assert result.is_error
    assert why in result.content
    assert server.do("text").content == "done"


def test_a_session_that_the_server_has_forgotten_is_begun_again(
    address: HostileAddress, offers: Offers
) -> None:
    server = offers(url=address.url)
    address.session = "second"

    assert server.do("text").content == "done"


def test_a_reply_is_bounded(address: HostileAddress, offers: Offers) -> None:
    assert len(json.dumps(RESULTS["huge"])) > 4 * 1024 * 1024

    result = offers(url=address.url).do("huge")

    assert "sent a reply of more than 4194304 bytes" in result.content


def test_an_address_that_hangs_is_left_at_the_deadline(
    address: HostileAddress, offers: Offers
) -> None:
    server = offers(url=address.url)
    address.how = "hang"

    assert server.do("text", timeout_s=0.5).meta["error"] == "timeout"


def test_an_address_where_nobody_listens_is_one_error(offers: Offers) -> None:
    with pytest.raises(McpUnavailable, match=r"http://127.0.0.1:9/mcp could not be connected to"):
        offers(url="http://127.0.0.1:9/mcp")

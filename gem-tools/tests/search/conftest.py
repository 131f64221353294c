"""What the tests of search share: a corpus, indexes of it, and real servers on loopback."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

import pytest

CORPUS = Path(__file__).with_name("corpus.jsonl")

_SERVE = [sys.executable, "-m", "gem", "serve-search"]

Answer = tuple[Any, ...]
"""A status, a body, and perhaps headers."""


class BuildsIndex(Protocol):
    """Returns the folder of an index of the corpus, which an engine built."""

    def __call__(self, engine: Any = "tantivy", language: Any = "english") -> Path: ...


@pytest.fixture(scope="session")
def index_of(tmp_path_factory: pytest.TempPathFactory) -> BuildsIndex:
    """Return a function that builds an index of the corpus, each once."""
    built: dict[tuple[str, str], Path] = {}

    def index_of(engine: Any = "tantivy", language: Any = "english") -> Path:
        pytest.importorskip(engine)
        from gem_tools.search import build_index

        if (engine, language) not in built:
            folder = tmp_path_factory.mktemp("indexes") / f"{engine}-{language}"
            build_index(CORPUS, folder, engine=engine, language=language)
            built[engine, language] = folder
        return built[engine, language]

    return index_of


class SearchServer:
    """`gem-env serve-search` in a process of its own, and where it listens."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gem",
                "serve-search",
                str(folder),
                *(options or ["--port", "0"]),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        found = re.search(r"http://\S+:(\d+)/retrieve", self.said)
        assert found is not None, self.said
        self.url = found[0]
        self.port = found[1]

    def end(self) -> tuple[int, str]:
        """Wait until it has ended; return its exit status and what it said on stderr."""
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


Serves = Callable[..., SearchServer]


@pytest.fixture
def serves() -> Iterator[Serves]:
    """Return a function that starts a server of an index; each is killed at the end."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    servers: list[SearchServer] = []

    def start(folder: Path, *options: str) -> SearchServer:
        servers.append(SearchServer(folder, *options))
        return servers[-1]

    yield start
    for server in servers:
        server.process.kill()
        server.end()


@pytest.fixture(scope="module")
def server(index_of: BuildsIndex) -> Iterator[SearchServer]:
    """Return a server of the corpus that the tests of a module share."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    server = SearchServer(index_of())
    yield server
    server.process.kill()
    server.end()


class Stub:
    """A server whose answers a test writes: each gets a body, in turn, the last one for ever.

    An answer of None drops the connection; None in place of one hangs until the test is over.
    """

    def __init__(self, *answers: Callable[[bytes], Answer | None] | None) -> None:
        self.bodies: list[bytes] = []
        self.let_go = threading.Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                stub.bodies.append(body)
                answer = answers[min(len(stub.bodies), len(answers)) - 1]
                self.close_connection = True
                if answer is None:
                    stub.let_go.wait(30)
                    return
                answered = answer(body)
                if answered is None:
                    return
                status, content, *headers = answered
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                # It closes the connection: a client that is not told may still ask through it.
                self.send_header("connection", "close")
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/retrieve"

    def close(self) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


Stubs = Callable[..., Stub]


@pytest.fixture
def stub() -> Iterator[Stubs]:
    """Return a function that starts a server with the answers that it is given."""
    pytest.importorskip("httpx")  # the client asks by it
    stubs: list[Stub] = []

    def start(*answers: Callable[[bytes], Answer | None] | None) -> Stub:
        stubs.append(Stub(*answers))
        return stubs[-1]

    yield start
    for each in stubs:
        each.close()

"""Wikis on loopback, by MediaWiki's action API and as kiwix-serve does; and servers that drip."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from gem_envs_games.wiki_game import Page, bundled

Params = dict[str, str]
Reply = tuple[int, str, bytes]

BOOK = "wikipedia_en_small"
PART = 8  # links in one answer of the action API
ALIASES = {"USA": "United States", "Everest": "Mount Everest"}
EXTRA = {"Nile": ["USA", "Never written", "A}b", "Everest"]}
PAGES = bundled().distances_from("Knowledge")


def page_of(title: str) -> Page:
    page = bundled().page(title)
    assert page is not None
    return page


def as_json(value: object) -> Reply:
    return 200, "application/json; charset=utf-8", json.dumps(value).encode()


def links_of(title: str) -> list[str]:
    return [*page_of(title).links, *EXTRA.get(title, [])]


def summary_of(title: str) -> str:
    return page_of(title).summary


def action_api(path: str, params: Params) -> Reply:
    """Answer as `api.php` does with `formatversion=2`."""
    if (params["action"], params["format"], params["formatversion"]) != ("query", "json", "2"):
        return as_json({"error": {"code": "badvalue", "info": "Unrecognized value."}})
    if params.get("list") == "allpages":
        following = [title for title in sorted(PAGES) if title >= params["apfrom"]]
        rows = [{"pageid": 1, "ns": 0, "title": title} for title in following]
        return as_json({"query": {"allpages": rows[: int(params["aplimit"])]}})
    title = ALIASES.get(params["titles"], params["titles"]).replace("_", " ")
    if title not in PAGES:
        missing = {"ns": 0, "title": title, "missing": True}
        return as_json({"batchcomplete": True, "query": {"pages": [missing]}})
    return as_json(_page_in_parts(title, int(params.get("plcontinue", 0))))


def _page_in_parts(title: str, first: int) -> dict[str, Any]:
    links = links_of(title)
    page: dict[str, Any] = {"pageid": 7, "ns": 0, "title": title}
    page["links"] = [{"ns": 0, "title": link} for link in links[first : first + PART]]
    page["links"] += [{"ns": 14, "title": "Category:All"}]
    if not first:
        page["extract"] = summary_of(title)
    reply: dict[str, Any] = {"query": {"pages": [page]}}
    if first + PART < len(links):
        reply["continue"] = {"plcontinue": str(first + PART), "continue": "||"}
    return reply


def kiwix_serve(path: str, params: Params) -> Reply:
    """Answer as kiwix-serve does; this book keeps its articles in the folder A, as old ones do."""
    if path == "/suggest" and params["content"] == BOOK:
        found = [title for title in sorted(PAGES) if title.startswith(params["term"])]
        rows = [
            {"value": escape(title), "label": escape(title), "kind": "path", "path": f"A/{title}"}
            for title in found[: int(params["count"])]
        ]
        return as_json([*rows, {"value": "x ", "label": "containing 'x'...", "kind": "pattern"}])
    inside = path.removeprefix(f"/content/{BOOK}/")
    title = inside.removeprefix("A/").replace("_", " ")
    if inside.startswith("A/") and title in ALIASES:
        return 302, f"/content/{BOOK}/A/{quote(ALIASES[title].replace(' ', '_'))}", b""
    if not inside.startswith("A/") or title not in PAGES:
        return 404, "text/html", b"<p>Not found</p>"
    return 200, "text/html; charset=utf-8", as_html(title).encode()


def as_html(title: str) -> str:
    anchors = "".join(
        f'<li><a class="mw-redirect" href="{quote(link.replace(" ", "_"))}#top">{escape(link)}</a>'
        for link in links_of(title)
    )
    return (
        f"<!DOCTYPE html><html><head><title>{escape(title)}</title>"
        '<style>p { color: red }</style></head><body><p class="mw-empty-elt">\n</p>'
        f"<p>{escape(summary_of(title))}<sup>[1]</sup></p><p>More &amp; more.<ul>{anchors}</ul>"
        '<a href="https://example.org/Outside">o</a><a href="//[broken">b</a><a name="x">n</a>'
        '<a href="../I/m/picture.jpg">p</a><a href="./Picture.svg">s</a><a href="#x">f</a>'
        f'<a href="/content/other_book/A/Nile">b</a><a href="{quote(title)}">self</a></body>'
    )


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that has had enough hangs up."""


class Wiki:
    """A server on loopback. What is put in `faults` is sent first, one for each request."""

    def __init__(self, answer: Callable[[str, Params], Reply]) -> None:
        self.requests: list[str] = []
        self.faults: list[Reply | float] = []
        self.released = threading.Event()
        wiki = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet, or each answer would wait for 40 ms

            def do_GET(self) -> None:
                wiki.requests.append(self.path)
                fault = wiki.faults.pop(0) if wiki.faults else None
                if isinstance(fault, float):  # silence, until the client has given up
                    wiki.released.wait(fault)
                    self.close_connection = True
                    return
                parts = urlsplit(self.path)
                params = {name: values[-1] for name, values in parse_qs(parts.query).items()}
                self.send(*(fault or answer(unquote(parts.path), params)))

            def send(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Location" if status == 302 else "Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Wiki:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Dripping:
    """A server on loopback that sends a little every 10 ms, until it is hung up on."""

    def __init__(self, head: bytes, piece: bytes) -> None:
        self.hung_up = threading.Event()
        dripping = self

        class Handler(BaseRequestHandler):
            def handle(self) -> None:
                self.request.recv(65536)
                self.request.settimeout(0.01)
                try:
                    self.request.sendall(head)
                    while True:
                        self.request.sendall(piece)
                        with contextlib.suppress(TimeoutError):
                            if not self.request.recv(1):
                                break
                except OSError:
                    pass
                dripping.hung_up.set()

        self._server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Dripping:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

"""WikiGame on servers that speak MediaWiki's action API and kiwix-serve's, on loopback."""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest

import gem
from gem.content import observation_text
from gem.errors import BadArguments, DataError
from gem.testing import check_env
from gem_envs_games.wiki_game import bundled

pytest.importorskip("httpx", reason="the extra `wiki` is not installed")

from gem_envs_games.wiki_game.kiwix import Kiwix
from gem_envs_games.wiki_game.mediawiki import MediaWiki

Params = dict[str, str]
Reply = tuple[int, str, bytes]

MEDIAWIKI, KIWIX = "wiki:MediaWiki-v0", "wiki:Kiwix-v0"
BOOK = "wikipedia_en_small"
PART = 8  # links in one answer of the action API
ALIASES = {"USA": "United States", "Everest": "Mount Everest"}
EXTRA = {"Nile": ["USA", "Never written", "A}b", "Everest"]}
PAGES = bundled().distances_from("Knowledge")


def as_json(value: object) -> Reply:
    return 200, "application/json; charset=utf-8", json.dumps(value).encode()


def links_of(title: str) -> list[str]:
    page = bundled().page(title)
    assert page is not None
    return [*page.links, *EXTRA.get(title, [])]


def summary_of(title: str) -> str:
    page = bundled().page(title)
    assert page is not None
    return page.summary


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


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def mediawiki() -> Iterator[Wiki]:
    with Wiki(action_api) as wiki:
        yield wiki


@pytest.fixture
def kiwix() -> Iterator[Wiki]:
    with Wiki(kiwix_serve) as wiki:
        yield wiki


@pytest.fixture(params=[MEDIAWIKI, KIWIX])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Wiki, str, dict[str, Any]]]:
    """Return a server, the id that plays on it, and the arguments that it needs."""
    with Wiki(action_api if request.param == MEDIAWIKI else kiwix_serve) as wiki:
        book = {} if request.param == MEDIAWIKI else {"book": BOOK}
        yield wiki, request.param, {"url": wiki.url, "retries": 0, **book}


Served = tuple[Wiki, str, dict[str, Any]]


def read(wiki: Wiki, title: str, **options: Any) -> tuple[str, str, tuple[str, ...]] | None:
    kiwix = wiki_backend(wiki, **options)
    page = kiwix.page(title)
    kiwix.close()
    return None if page is None else (page.title, page.summary, page.links)


def wiki_backend(wiki: Wiki, *, book: str | None = None, **options: Any) -> MediaWiki | Kiwix:
    return Kiwix(wiki.url, book, **options) if book else MediaWiki(wiki.url, **options)


def test_a_page_of_mediawiki_has_the_links_of_every_part(mediawiki: Wiki) -> None:
    page = read(mediawiki, "Nile")

    nameable = [link for link in links_of("Nile") if link != "A}b"]
    assert page == ("Nile", summary_of("Nile"), tuple(nameable))
    assert len(mediawiki.requests) == -(-len(links_of("Nile")) // PART)


def test_a_page_of_kiwix_has_the_links_that_stay_in_the_book(kiwix: Wiki) -> None:
    page = read(kiwix, "Nile", book=BOOK)

    nameable = [link for link in links_of("Nile") if link != "A}b"]
    assert page == ("Nile", summary_of("Nile"), tuple(nameable))


@pytest.mark.parametrize("book", [None, BOOK])
def test_a_redirect_leads_to_the_page_under_its_own_title(book: str | None) -> None:
    with Wiki(kiwix_serve if book else action_api) as wiki:
        page = read(wiki, "USA", book=book)

    assert page is not None
    assert page[0] == "United States"


@pytest.mark.parametrize("book", [None, BOOK])
@pytest.mark.parametrize("title", ["Never written", "../../etc/passwd", "?action=x", "A|B"])
def test_a_page_that_is_not_there_is_none(book: str | None, title: str) -> None:
    with Wiki(kiwix_serve if book else action_api) as wiki:
        assert read(wiki, title, book=book) is None


@pytest.mark.parametrize("book", [None, BOOK])
def test_a_title_with_odd_characters_is_found(book: str | None) -> None:
    with Wiki(kiwix_serve if book else action_api) as wiki:
        for title in ("Washington, D.C.", "Mercury (planet)", "Frédéric Chopin"):
            page = read(wiki, title, book=book)
            assert page is not None
            assert page[0] == title


def test_an_episode_reproduces_while_the_pages_stay(served: Served) -> None:
    _, env_id, kwargs = served

    with gem.make(env_id, **kwargs) as one, gem.make(env_id, **kwargs) as other:
        assert one.reset(seed=3) == other.reset(seed=3)
        assert one.reset(seed=4) != other.reset(seed=5)
        one.reset(seed=3)
        other.reset(seed=3)
        for _ in range(5):
            action = one.sample_action()
            assert other.sample_action() == action
            assert one.step(action) == other.step(action)


def test_the_game_is_won_by_links(served: Served) -> None:
    _, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env:
        _, info = env.reset(seed=0)
        lines = info["suffix"].splitlines()
        start, target = lines[0].removeprefix("You are on: "), lines[-2].removeprefix("Target: ")
        distances = bundled().distances_to(target)
        here = start
        while here != target:
            here = min(links_of(here), key=lambda title: distances.get(title, 99))
            step = env.step(f"\\boxed{{{here.upper()}}}")

    assert distances[start] > 1
    assert (step.terminated, step.reward, step.info["success"]) == (True, 1.0, True)


def at_the_nile(served: Served, **kwargs: Any) -> gem.Env:
    """Return a game on the page Nile, which has odd links."""
    _, env_id, given = served
    env = gem.make(env_id, **given, variant="eidetic", max_turns=100, **kwargs)
    env.reset(seed=0)
    for title in way_to_the_nile(env.reset(seed=0)[1]["suffix"].splitlines()[0][12:]):
        env.step(f"\\boxed{{{title}}}")
    return env


def way_to_the_nile(here: str) -> Iterator[str]:
    distances = bundled().distances_to("Nile")
    while here != "Nile":
        here = min(links_of(here), key=lambda title: distances.get(title, 99))
        yield here


def test_a_link_that_is_a_redirect_leads_to_its_page(served: Served) -> None:
    with at_the_nile(served) as env:
        step = env.step("\\boxed{USA}")

    assert step.info["suffix"].startswith("You are on: United States\n")


def test_a_link_to_a_page_never_written_is_refused(served: Served) -> None:
    with at_the_nile(served) as env:
        step = env.step("\\boxed{Never written}")

    assert step.info["action_error"] == "invalid"
    assert "was never written" in observation_text(step.observation)


def test_a_restored_snapshot_asks_for_its_page_again(served: Served) -> None:
    _, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env, gem.make(env_id, **kwargs) as copy:
        env.reset(seed=1)
        env.step(env.sample_action())
        copy.restore(env.snapshot())
        action = copy.sample_action()

        assert env.step(action) == copy.step(action)


def test_closing_a_fork_leaves_the_other_playing(served: Served) -> None:
    _, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env:
        env.reset(seed=1)
        env.fork().close()

        assert env.step(env.sample_action()).reward == -0.05


def test_a_page_is_asked_for_once(served: Served) -> None:
    wiki, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env:
        env.reset(seed=1)
        asked = len(wiki.requests)
        for _ in range(10):
            env.step("\\boxed{Nowhere}")

    assert len(wiki.requests) == asked


BUSY = (503, "text/plain", b"busy")
GARBAGE = [
    (200, "application/json", b"not json"),
    (200, "application/json", b'{"query": {"pages": 5}}'),
    (200, "application/json", b'{"query": ' + b"[" * 10_000),
    (200, "application/json", b'{"error": {"code": "readapidenied", "info": "No."}}'),
    (200, "application/json", b"\xff\xfe\x00"),
    (200, "application/json", b'{"query": {}}'),
    (200, "application/json", b" " * (5 * 2**20)),
    (403, "text/plain", b"no"),
    (404, "text/plain", b"no"),
    (302, "http://127.0.0.1:1/away", b""),
    (302, "ftp://127.0.0.1/away", b""),
    (302, "http://[", b""),
    BUSY,
]


@pytest.mark.parametrize("fault", GARBAGE, ids=lambda fault: f"{fault[0]} {fault[2][:20]!r}")
def test_an_answer_of_no_use_is_a_data_error(served: Served, fault: Reply) -> None:
    wiki, env_id, kwargs = served
    wiki.faults = [fault] * 30
    with gem.make(env_id, **kwargs) as env, pytest.raises(DataError, match="no answer of use"):
        env.reset(seed=0)

    assert len(wiki.requests) < 30


def test_a_server_that_is_busy_is_asked_again(served: Served) -> None:
    wiki, env_id, kwargs = served
    wiki.faults = [BUSY]
    with gem.make(env_id, **{**kwargs, "retries": 1}) as env:
        env.reset(seed=0)

    assert wiki.requests[0] == wiki.requests[1]


def test_a_silent_server_is_given_up(served: Served) -> None:
    wiki, env_id, kwargs = served
    wiki.faults = [60.0] * 2
    with gem.make(env_id, **{**kwargs, "retries": 1}, timeout_s=0.05) as env:
        with pytest.raises(DataError, match="asked 2 times"):
            env.reset(seed=0)
        wiki.released.set()


def test_a_server_that_is_away_is_a_data_error(served: Served) -> None:
    _, env_id, kwargs = served
    away = {**kwargs, "url": "http://127.0.0.1:1"}

    with gem.make(env_id, **away) as env, pytest.raises(DataError, match="Check the address"):
        env.reset(seed=0)


def test_an_error_in_the_middle_ends_the_episode_and_not_the_game(served: Served) -> None:
    wiki, env_id, kwargs = served
    with gem.make(env_id, **kwargs) as env:
        env.reset(seed=0)
        wiki.faults = [BUSY]
        with pytest.raises(DataError):
            env.step(env.sample_action())

        assert env.reset(seed=0)[1]["suffix"].startswith("You are on: ")


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<a ",
        "<a href='",
        "<p>",
        "<!--",
        "</p",
        "&",
        "<script>",
        "<![CDATA[",
        "<![<",
        "x",
        "<sup>",
    ],
)
def test_hostile_pages_are_read_in_linear_time(piece: str) -> None:
    text = f"<p>Words.</p><a href='Nile'>{piece * (2**20 // len(piece))}"
    with Wiki(lambda path, params: (200, "text/html", text.encode())) as wiki:
        page = read(wiki, "Congo", book=BOOK, retries=0)

    assert page is not None
    assert page[:2] == ("Congo", "Words.")


def test_hostile_links_are_left_out_and_counted() -> None:
    titles = [f"Page {number}" for number in range(2000)]
    hostile = ["", "}", "\\boxed{Nile", "\u202ex", "a\nb", "x" * 256, "?"]
    links = [{"ns": 0, "title": title} for title in hostile + titles]
    found = {"query": {"pages": [{"title": "Congo", "extract": "E" * 9999, "links": links}]}}
    with Wiki(lambda path, params: as_json(found)) as wiki:
        page = read(wiki, "Congo")

    assert page is not None
    assert page[2] == tuple(titles[:500])


@pytest.mark.parametrize("name", ["titles", "self", "action", "params"])
def test_a_request_for_more_stays_a_request_for_links(name: str) -> None:
    part = {"title": "Congo", "links": [{"ns": 0, "title": "Nile"}]}
    asked: list[Params] = []

    def endless(path: str, params: Params) -> Reply:
        asked.append(params)
        return as_json({"query": {"pages": [part]}, "continue": {name: "delete"}})

    with Wiki(endless) as wiki:
        page = read(wiki, "Congo")

    assert page == ("Congo", "", ("Nile",))
    assert {(params["titles"], params["action"]) for params in asked} == {("Congo", "query")}


def test_links_without_an_end_are_cut() -> None:
    part = {"title": "Congo", "links": [{"ns": 0, "title": "Nile"}]}
    endless = {"query": {"pages": [part]}, "continue": {"plcontinue": "x"}}
    with Wiki(lambda path, params: as_json(endless)) as wiki:
        page = read(wiki, "Congo")

        assert page is not None
        assert len(wiki.requests) == 20


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
DRIPS = {
    "status": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "header": (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "body": (HEAD + b"\r\n[", b" "),
    "chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
}


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


@pytest.mark.parametrize("part", DRIPS)
def test_an_answer_that_never_ends_is_cut_off(part: str) -> None:
    with Dripping(*DRIPS[part]) as server:
        wiki = MediaWiki(server.url, timeout_s=1.0, retries=0)
        with pytest.raises(DataError, match="not done within"):
            wiki.page("Nile")

        assert server.hung_up.wait(60)
        wiki.close()


def test_the_body_of_a_redirect_is_not_read() -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n"
    with Dripping(head, b"x") as server:
        wiki = MediaWiki(server.url, timeout_s=60.0, retries=0)
        with pytest.raises(DataError, match="more than 5 redirects"):
            wiki.page("Nile")
        wiki.close()


def test_a_compressed_answer_is_of_no_use() -> None:
    bomb = gzip.compress(gzip.compress(bytes(2**20)))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: %d\r\n\r\n"
    with Dripping(head % len(bomb) + bomb, b"") as server:
        wiki = MediaWiki(server.url, retries=0)
        with pytest.raises(DataError, match="compressed, unasked"):
            wiki.page("Nile")
        wiki.close()


@pytest.mark.parametrize("env_id", [MEDIAWIKI, KIWIX])
def test_without_an_address_the_data_is_absent(env_id: str) -> None:
    with pytest.raises(DataError, match="Pass url="):
        gem.make(env_id)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"url": "127.0.0.1"},
        {"url": "file:///etc/passwd"},
        {"timeout_s": 0.0},
        {"timeout_s": 1e9},
        {"retries": -1},
        {"retries": 11},
        {"max_turns": 0},
        {"variant": "wander"},
    ],
)
def test_arguments_out_of_bounds_are_refused(served: Served, kwargs: dict[str, Any]) -> None:
    _, env_id, given = served

    with pytest.raises(BadArguments):
        gem.make(env_id, **{**given, **kwargs})


def test_the_ids_wait_and_need_the_extra() -> None:
    for spec in gem.list_envs("wiki:*"):
        assert spec.blocking
        assert spec.requires == ("httpx>=0.27",)


def test_draws_come_from_the_generator_alone(mediawiki: Wiki) -> None:
    wiki = MediaWiki(mediawiki.url)
    drawn = [wiki.random_title(Random(seed)) for seed in range(30)]
    again = [wiki.random_title(Random(seed)) for seed in range(30)]
    wiki.close()

    assert drawn == again
    assert len(set(drawn)) > 15


def test_the_contract_holds_on_a_server(served: Served) -> None:
    _, env_id, kwargs = served

    report = check_env(
        env_id, seeds=range(2), backends=("sync", "thread", "process"), max_turns=3, **kwargs
    )

    assert report.failures == ()

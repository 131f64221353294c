"""What the tests of data share: a hub of their own on the loopback, and files to feed a table."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from gem.testing import registrations_undone

Answer = tuple[int, dict[str, str], bytes]
Publish = Callable[..., None]
WriteRows = Callable[..., str]
ABSENT: Answer = (404, {}, b"")


@pytest.fixture(autouse=True)
def _nothing_stays_registered() -> Iterator[None]:
    with registrations_undone():
        yield


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteRows:
    """Return a function that writes rows as JSONL and returns the file's path."""

    def write(rows: Sequence[Mapping[str, Any]], name: str = "rows.jsonl") -> str:
        path = tmp_path / name
        path.write_bytes(lines(rows))
        return str(path)

    return write


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the library `datasets`, with a cache folder of its own; skip where it is absent."""
    library: ModuleType = pytest.importorskip(
        "datasets", reason="the extra `datasets` is not installed"
    )
    monkeypatch.setattr(library.config, "HF_DATASETS_CACHE", str(tmp_path / "datasets-cache"))
    return library


@pytest.fixture
def images(datasets: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return a Parquet file with two rows of images, none of which can be decoded."""
    import pyarrow as pa

    monkeypatch.setenv("TQDM_DISABLE", "1")
    image, text = datasets.Image(), datasets.Value("string")
    features = datasets.Features(
        {"image": image, "images": datasets.Sequence(image), "more": {"one": image}, "text": text}
    )
    stored = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    columns = {
        "image": pa.array([{"bytes": b"2", "path": "x.png"}, None], stored),
        "images": pa.array([[{"bytes": b"1", "path": None}], []], pa.list_(stored)),
        "more": pa.array([{"one": None}, {"one": None}], pa.struct({"one": stored})),
        "text": ["a", "b"],
    }
    table = pa.table(columns).replace_schema_metadata(features.arrow_schema.metadata)
    datasets.Dataset(table).to_parquet(str(tmp_path / "images.parquet"))
    return (tmp_path / "images.parquet").read_bytes()


@pytest.fixture
def hub(datasets: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """Return a hub on the loopback, which the library takes for the real one."""
    from huggingface_hub import constants, file_download

    served = FakeHub()
    monkeypatch.setattr(constants, "ENDPOINT", served.url)
    template = served.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    # Before 1.0 this module had a name of its own for it.
    monkeypatch.setattr(file_download, "HUGGINGFACE_CO_URL_TEMPLATE", template, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", served.url)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    yield served
    served.stop()


class FakeHub:
    """A hub with the one data set acme/sums: its files, at each commit."""

    def __init__(self) -> None:
        self.commits: dict[str, dict[str, bytes]] = {}
        self.names: dict[str, str] = {}
        self.status = 200
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def publish(self, commit: str, files: Mapping[str, bytes], *, name: str = "main") -> None:
        """Publish files as a commit that a branch or tag then names."""
        self.commits[commit] = dict(files)
        self.names[name] = commit

    def stop(self) -> None:
        """Go down: nobody answers from now on."""
        if not self._thread.is_alive():
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: bytes) -> Answer:
        """Answer a request as the hub does."""
        if self.status != 200:
            return self.status, {}, b""
        parts = path.strip("/").split("/")
        if parts[:4] == ["api", "datasets", "acme", "sums"]:
            kind, revision = parts[4:6] or ("revision", "main")
            return self._facts(kind, self.names.get(revision, revision), body)
        if parts[:4] == ["datasets", "acme", "sums", "resolve"]:
            return self._file(self.names.get(parts[4], parts[4]), "/".join(parts[5:]))
        return ABSENT

    def _facts(self, kind: str, commit: str, body: bytes) -> Answer:
        if commit not in self.commits:
            return ABSENT
        files = [
            {"type": "file", "path": path, "size": len(content), "oid": _tag(content)}
            for path, content in self.commits[commit].items()
        ]
        if kind == "tree":
            return _json(files)
        if kind == "paths-info":
            asked = parse_qs(body.decode()).get("paths") or json.loads(body)["paths"]
            return _json([file for file in files if file["path"] in asked])
        siblings = [{"rfilename": file["path"]} for file in files]
        about = {"id": "acme/sums", "sha": commit, "private": False, "siblings": siblings}
        return _json({**about, "tags": [], "downloads": 0, "likes": 0})

    def _file(self, commit: str, path: str) -> Answer:
        content = self.commits.get(commit, {}).get(path)
        if content is None:
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        return 200, {"ETag": f'"{_tag(content)}"', "X-Repo-Commit": commit}, content


def _tag(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def _json(value: object) -> Answer:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, content = hub.answer(unquote(urlsplit(self.path).path), body)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_HEAD = do_POST = do_GET  # noqa: N815 - the names that the library calls

        def log_message(self, *_: object) -> None:
            pass

    return Handler

"""What is asked must be asked of this machine, and can only be shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from gem_eval.viewing.runs import Run

from .conftest import Client, episode

pytest.importorskip("jinja2", reason="gem-eval's extra `view` is not installed")
pytest.importorskip("starlette", reason="gem-eval's extra `view` is not installed")


MakeRun = Callable[..., Run]


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8500", "localhost", "localhost:1", "[::1]:8500", "192.168.0.7", "BOX:80"]
)
def test_an_address_or_the_own_name_is_answered(make_run: MakeRun, host: str) -> None:
    client = Client(make_run(episode()), host="box")

    assert client.get("/runs/run", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example"])
def test_another_name_is_refused(make_run: MakeRun, host: str) -> None:
    client = Client(make_run(episode()))

    answer = client.get("/runs/run", headers={"host": host})

    assert (answer.status_code, "tiny" in answer.text) == (421, False)


def test_a_refusal_says_which_name_and_what_to_do(make_run: MakeRun) -> None:
    client = Client(make_run(episode()), host="0.0.0.0")

    answer = client.get("/", headers={"host": "gpu-node:8500"})

    assert answer.status_code == 421
    assert "asked for as 'gpu-node:8500'" in answer.text
    assert "start it with --host and this name" in answer.text
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_reading_is_allowed(make_run: MakeRun, method: str) -> None:
    client = Client(make_run(episode()))

    answer = client.request(method, "/runs/run")

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "path", ["/", "/runs/run", "/nothing", "/static/viewer.js", "/favicon.ico"]
)
def test_every_answer_forbids_what_is_inline_or_from_elsewhere(
    make_run: MakeRun, path: str
) -> None:
    client = Client(make_run(episode()))

    for method in ("GET", "HEAD", "POST"):
        answer = client.request(method, path)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_start_and_the_end_pass(make_run: MakeRun) -> None:
    from gem_eval.viewing.app import viewer_app

    sent: list[str] = []
    said = iter(["lifespan.startup", "lifespan.shutdown"])

    async def receive() -> dict[str, str]:
        return {"type": next(said)}

    async def send(message: dict[str, str]) -> None:
        sent.append(message["type"])

    asyncio.run(viewer_app([make_run()])({"type": "lifespan"}, receive, send))  # type: ignore[arg-type]

    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_pages_have_nothing_inline(make_run: MakeRun) -> None:
    client = Client(make_run(episode()))

    for path in ("/runs/run", "/runs/run/episodes/1"):
        text = client.get(path).text
        assert " style=" not in text
        assert " onclick=" not in text
        assert text.count("<script") == text.count('<script src="/static/viewer.js">') == 1

"""`openai:` and a server that nobody here wrote: `transformers serve`, with a model made here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import pytest

import gem_eval

from .tiny_model import make_model

_NEEDED = ("torch", "transformers", "fastapi", "uvicorn")
if not all(map(find_spec, _NEEDED)):
    pytest.skip(f"needs {', '.join(_NEEDED)}: nox -s others", allow_module_level=True)

_STARTS_S = 120


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the name of a policy that asks the server, which runs while the tests do."""
    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    port = _free_port()
    serve = [str(Path(sys.executable).with_name("transformers")), "serve", str(folder)]
    server = subprocess.Popen(
        [*serve, "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", server)
        yield f"openai:{folder}@http://127.0.0.1:{port}/v1"
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _free_port() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    opener = build_opener(ProxyHandler({}))
    until = time.monotonic() + _STARTS_S
    while True:
        try:
            opener.open(url, timeout=5).close()
        except (URLError, OSError):
            assert server.poll() is None, "the server has ended"
            assert time.monotonic() < until, f"the server did not answer in {_STARTS_S} s"
            time.sleep(0.2)
        else:
            return


def test_every_episode_is_answered_and_counted(policy: str, tmp_path: Path) -> None:
    run = gem_eval.evaluate(
        "tiny:Guess",
        policy,
        episodes=12,
        concurrency=6,
        out=tmp_path / "run",
        policy_kwargs={"max_tokens": 8},
    )

    [result] = run.summary.results
    assert (result.episodes, result.errors, result.answers) == (12, 0, sum_of_turns(run))
    assert result.tokens is not None
    assert 0 < result.tokens.completion <= 8 * result.answers
    assert result.tokens.prompt > result.tokens.completion


def sum_of_turns(run: gem_eval.Evaluation) -> int:
    return sum(len(episode.turns) for episode in run.episodes())


def test_a_resumed_run_asks_for_what_is_missing_alone(policy: str, tmp_path: Path) -> None:
    options = {"max_tokens": 4, "temperature": 0}
    short = gem_eval.evaluate(
        "tiny:Guess", policy, episodes=3, out=tmp_path / "run", policy_kwargs=options
    )
    first = [episode.fingerprint() for episode in short.episodes()]

    longer = gem_eval.resume(short.path, episodes=6)

    assert longer.summary.episodes == 6
    assert [episode.fingerprint() for episode in longer.episodes()][:3] == first
    assert longer.summary.counters is not None
    assert longer.summary.counters.episodes == 3

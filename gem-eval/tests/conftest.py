"""What the tests share: small environments, a folder of packs, and a real server on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import gem_eval
from gem import read_episodes, registry
from gem.testing import fake_plugin
from gem_eval import Evaluation
from gem_eval.tracking import listening

Run = Callable[..., "subprocess.CompletedProcess[str]"]

PLAYED = """
    import os

    from gem.env import Env
    from gem import Step


    class Broken(Env):
        "Raise in the step of every second episode."

        def reset(self, seed=None):
            self.is_broken = self.rng.random() < 0.5
            return "Say anything.", {}

        def step(self, action):
            if self.is_broken:
                raise RuntimeError("the wheel came off")
            return Step("", 1.0, True, False, {})

        def sample_action(self):
            return "anything"


    class Silent(Env):
        "Nothing is known about it: no sample, no solution."

        def reset(self, seed=None):
            return "Say anything.", {}

        def step(self, action):
            return Step("", 0.5, True, False, {})


    class Numbered(Env):
        "A finite set of tasks."

        num_tasks = 6

        def reset(self, seed=None, task=None):
            self.number = self.pick_task(task)
            return f"Say {self.number}.", {"task": self.number}

        def step(self, action):
            return Step("", float(action == str(self.number)), True, False, {})

        def solve(self):
            return str(self.number)


    class Deadly(Env):
        "Ends its whole process in the step of some episodes."

        def reset(self, seed=None):
            self.is_deadly = self.rng.random() < 0.2
            return "Say anything.", {}

        def step(self, action):
            if self.is_deadly:
                os._exit(1)
            return Step("", 1.0, True, False, {})

        def sample_action(self):
            return "anything"


    class Picky(Env):
        "Refuses to be made with a bad size."

        def __init__(self, size: int = 3) -> None:
            if size < 1:
                raise ValueError("the size must be 1 or more")
            self.size = size

        def reset(self, seed=None):
            return "Say anything.", {}

        def step(self, action):
            return Step("", 1.0, True, False, {})
"""
MANIFEST = """
    from gem.specs import EnvSpec, PluginManifest, PolicySpec


    def spec(name, target, **facts):
        return EnvSpec(id=f"tiny:{name}", target=target, blocking=False, **facts)


    plugin = PluginManifest(
        name="tiny",
        envs=(
            spec("Guess", "gem.testing.envs:Guess"),
            spec("Echo", "gem.testing.envs:Echo"),
            spec("Lamps", "gem.testing.envs:Lamps"),
            spec("Broken", "gem_eval_tiny.played:Broken"),
            spec("Silent", "gem_eval_tiny.played:Silent", success_return=0.5),
            spec("Numbered", "gem_eval_tiny.played:Numbered"),
            spec("Deadly", "gem_eval_tiny.played:Deadly"),
            spec("Picky", "gem_eval_tiny.played:Picky"),
        ),
        policies=(
            PolicySpec(id="parrot", target="gem_eval_tiny.policies:Parrot", takes_argument="WORD"),
        ),
        hooks=("gem_eval_tiny.listening",),
    )
"""
POLICIES = """
    import asyncio
    import os

    from gem.testing.envs import Guess


    class Parrot:
        def __init__(self, word: str, *, times: int = 1) -> None:
            self.text = word * times

        def __call__(self, request):
            return self.text


    class Bisect:
        name = "not the recorded name"

        async def __call__(self, request):
            return "\\\\boxed{8}"


    class Patient:
        "Wait for ever where a variable says so, so that a run cannot end."

        async def __call__(self, request):
            if "GEM_EVAL_TINY_WAITS" in os.environ:
                await asyncio.Event().wait()
            return "\\boxed{8}"


    class Needy:
        def __init__(self, argument):
            pass


    def shout(request):
        return request.messages[-1].text.upper()


    number = 7
"""
LISTENING = """
    from gem.hooks import hookimpl

    heard = []


    @hookimpl
    def gem_run_started(run):
        heard.append(("started", run.path))


    @hookimpl
    def gem_run_finished(run):
        heard.append(("finished", run.path))
"""
RECORDER = """
    import json
    import os
    import threading


    def note(**what):
        with open(os.environ.get("RECORDED", "recorded.jsonl"), "a") as file:
            file.write(json.dumps(what) + "\\n")


    def fail(where):
        fault = os.environ.get("RECORDER_FAULT", "")
        if fault == f"raise in {where}":
            raise RuntimeError(f"out of paper {os.environ.get('OPENAI_API_KEY', '')}")
        if fault == f"leave in {where}":
            raise SystemExit(5)
        if fault == f"die in {where}":
            os._exit(3)
        if fault == f"hang in {where}":
            threading.Event().wait()


    class plugin:
        "A tracker that writes down what it is told."

        def __init__(self):
            fail("init")

        def begin(self, name, parameters, run_id):
            print("a tracker may print")
            fail("begin")
            note(begin=name, parameters=parameters, run_id=run_id)
            return run_id or "recorded"

        def log(self, figures, step):
            fail("log")
            note(figures=figures, step=step)

        def end(self, *, is_finished, files):
            fail("end")
            note(is_finished=is_finished, files=[path.read_text() for path in files])
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an installed pack, `tiny:*`, and a tracker, to put on a path."""
    files = {"played.py": PLAYED, "policies.py": POLICIES, "listening.py": LISTENING}
    folder = tmp_path_factory.mktemp("site")
    fake_plugin(folder, "recorder", group="gem_eval.trackers.v1", manifest=RECORDER)
    return fake_plugin(folder, "gem-eval-tiny", manifest=MANIFEST, files=files)


@pytest.fixture(scope="module", autouse=True)
def _tiny_is_installed(site: Path) -> Iterator[None]:
    """Let this process find `tiny:*` too, until other tests look."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        registry.refresh()
        yield
    registry.refresh()


@pytest.fixture
def patient_tracking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a run wait for its trackers however long a busy machine takes to start them."""
    monkeypatch.setattr(listening, "_PATIENCE_S", 600.0)
    monkeypatch.setattr(listening, "_SHORT_PATIENCE_S", 600.0)


@pytest.fixture
def variables(site: Path) -> dict[str, str]:
    """Return the environment variables of a process that finds `tiny:*`."""
    kept = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    return {**kept, "PYTHONPATH": str(site), "PYTHONUTF8": "1"}


@pytest.fixture
def gem_env(variables: dict[str, str], tmp_path: Path) -> Run:
    """Return a function that runs `gem-env` in an empty folder of its own."""

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gem", *arguments],
            cwd=tmp_path,
            env={**variables, **more},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def gem_env_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Return a function that does the same in this process, whose current folder is that one.

    It is quicker, and sees what a test replaces here: stdin, a variable, what is registered.
    """
    from gem.cli._main import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()  # what was printed before is not what the command prints
        status = main(arguments)
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, status, printed.out, printed.err)

    return run


class Asked(NamedTuple):
    """One request as the server saw it. The names of headers are in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Answer(NamedTuple):
    """One answer of the server.

    `hangs` sends nothing until the test is over, `drops` nothing at all, and `cuts` half of it.
    With `meets` it is sent once as many requests as the barrier has parties wait there.
    """

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    hangs: bool = False
    drops: bool = False
    cuts: bool = False
    endless: bool = False
    meets: threading.Barrier | None = None


def chat(text: str | None, *, finish: str = "stop", **more: Any) -> Answer:
    """Return the documented answer of POST /chat/completions."""
    message = {"role": "assistant", "content": text, **more}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    return Answer(body=json.dumps({"choices": [choice], "usage": usage}).encode())


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512  # a test may connect hundreds of times at once


class Server:
    """An HTTP server on loopback. It gives `answers` in turn, the last one for ever.

    `at` puts it where another was: its URL.
    """

    def __init__(self, at: str = "http://127.0.0.1:0/v1") -> None:
        self.answers: list[Answer] = [chat("hello")]
        self.asked: list[Asked] = []
        self.over = threading.Event()
        self._lock = threading.Lock()
        port = int(at.rpartition(":")[2].removesuffix("/v1"))
        self._http = _Listener(("127.0.0.1", port), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        """The base URL, as a user would write it."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        """Stop serving, and let go of what hangs."""
        self.over.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def next(self, asked: Asked) -> Answer:
        """Note a request and choose its answer."""
        with self._lock:
            self.asked.append(asked)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(length))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = server.next(Asked(self.path, headers, body))
                if answer.meets is not None:
                    # Only where a request is missing does the time run out, and the test fails.
                    answer.meets.wait(60)
                if answer.hangs:
                    server.over.wait()
                if answer.hangs or answer.drops:
                    self.close_connection = True
                    return
                self._send(answer)

            def _send(self, answer: Answer) -> None:
                self.send_response(answer.status)
                for name, value in answer.headers:
                    self.send_header(name, value)
                if not answer.endless:
                    self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.close_connection = answer.endless or answer.cuts
                body = answer.body[: len(answer.body) // 2] if answer.cuts else answer.body
                try:
                    self.wfile.write(body)
                    while answer.endless and not server.over.is_set():
                        self.wfile.write(b"x" * 65536)
                except OSError:
                    self.close_connection = True  # the other side has had enough

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    served = Server()
    yield served
    served.close()


@pytest.fixture
def answers() -> Any:
    """Return what a server can be told to answer: `answers.Answer` and `answers.chat`."""
    return sys.modules[__name__]


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock a test puts forward by `skipped_s`, so that no wait is real."""

    skipped_s = 0.0

    def time(self) -> float:
        return super().time() + self.skipped_s


@pytest.fixture
def skipping_loop() -> Iterator[SkippingLoop]:
    loop = SkippingLoop()
    yield loop
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


Key = tuple[str, int, int, int]


@pytest.fixture(scope="session")
def fingerprints() -> Callable[[Path], dict[Key, str]]:
    """Return a function from a run folder to the fingerprints of its episodes, each there once."""

    def read(folder: Path) -> dict[Key, str]:
        found: dict[Key, str] = {}
        for episode in read_episodes(folder / "episodes.jsonl"):
            key = (episode.policy, episode.env_index, episode.episode_index, episode.repeat)
            assert key not in found
            found[key] = episode.fingerprint()
        return found

    return read


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Evaluation]:
    """Return a function that evaluates into a folder, named by its first argument."""

    def evaluate(folder: str = "run", **options: Any) -> Evaluation:
        given = {"envs": "tiny:Guess", "policies": ["solver", "random"], "episodes": 20}
        return gem_eval.evaluate(**{**given, "out": tmp_path / folder, **options})

    return evaluate

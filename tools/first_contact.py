"""Try this checkout as a newcomer would: fresh clones, a bare home, the commands of the README.

    python tools/first_contact.py --work FOLDER              every check
    python tools/first_contact.py --work FOLDER readme uv    some of them

What is committed is what is tried. Each check is a function marked with `@check`; it runs commands
by `newcomer.run`, which shows each with the end of what it printed, and says by `newcomer.expect`
what must hold. The exit status is 1 if anything did not. Needs git, the network for what others
have published, and uv for the check `uv`, which pip installs. The port 8000 must be free: the
README's model is served there, by this script.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LOOK_UP = re.compile(r"(?:/simple/|search for versions of )gem[-_]\S+")
OURS = sorted(  # those that `gem-env plugins` lists
    path.parent.name
    for path in ROOT.glob("*/pyproject.toml")
    if "gem.plugins.v1" in path.read_text(encoding="utf-8")
)
LAST_LINES = 12

MAKE_ALL = """
import json, sys
import gem
from gem.registry._availability import lacks

wrong, ready = [], 0
for spec in gem.list_envs():
    try:
        with gem.make(spec.id) as env:
            env.reset(seed=0)
        is_made = True
    except gem.GemError:
        is_made = False
    ready += is_made
    if is_made == bool(lacks(spec)):
        wrong.append(spec.id)
print(json.dumps({"ready": ready, "wrong": wrong}))
"""


class Done(NamedTuple):
    """What a command left: its exit status, and all that it printed."""

    status: int
    text: str


class Newcomer:
    """A user with an empty home, who has cloned this repository and types commands."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.failures: list[str] = []
        self.home = work / "home"
        self.home.mkdir(parents=True, exist_ok=True)

    def clone(self, name: str) -> Path:
        """Return a fresh clone of what is committed here."""
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
        return folder

    def run(self, command: str, folder: Path, *, typed: str = "", **variables: str) -> Done:
        """Run a command line in a shell, `typed` being its input, and show how it ends."""
        print(f"\n$ {command}", flush=True)
        dropped = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        started = time.monotonic()
        done = subprocess.run(
            ["bash", "-ec", command],
            cwd=folder,
            env={**kept, "HOME": str(self.home), "PIP_PROGRESS_BAR": "off", **variables},
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        ends = lines if len(lines) <= LAST_LINES else ["...", *lines[-LAST_LINES:]]
        print("\n".join(f"  {line[:160]}" for line in ends))
        print(f"  (status {done.returncode}, {time.monotonic() - started:.0f} s)", flush=True)
        return Done(done.returncode, done.stdout)

    def expect(self, what: str, *, holds: bool) -> None:
        """Say whether something that must hold does."""
        print(f"  {'ok' if holds else 'FAILED'}: {what}", flush=True)
        if not holds:
            self.failures.append(what)


Check = Callable[[Newcomer], None]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    """Mark a function as a check, which is asked for by its name."""
    CHECKS[function.__name__] = function
    return function


@check
def readme(newcomer: Newcomer) -> None:
    """Follow the README from top to bottom, but for its command that runs every test."""
    clone = newcomer.clone("readme")
    log = newcomer.work / "pip.log"
    log.unlink(missing_ok=True)
    text = (clone / "README.md").read_text(encoding="utf-8")
    with served_model():
        for language, block in FENCE.findall(text):
            if "nox -s tests" in block:
                continue
            if language == "python":
                (clone / "block.py").write_text(block, encoding="utf-8")
                done = newcomer.run(".venv/bin/python block.py", clone)
                newcomer.expect("the Python block runs alone", holds=done.status == 0)
                continue
            typed = "\\boxed{5}\n" * 4 if "gem-env play" in block else ""
            activate = "" if "python3 -m venv" in block else ". .venv/bin/activate\n"
            done = newcomer.run(activate + block.strip(), clone, typed=typed, PIP_LOG=str(log))
            newcomer.expect("the commands of the block succeed", holds=done.status == 0)
    expect_no_look_up(newcomer, log.read_text(encoding="utf-8", errors="replace"))
    expect_all_of_ours(newcomer, clone / ".venv/bin", clone)
    done = newcomer.run("git status --short", clone)
    left = set(done.text.split()) - {"??", "block.py"}
    newcomer.expect("nothing is left in the tree that git does not ignore", holds=not left)


@check
def availability(newcomer: Newcomer) -> None:
    """Make whatever the listing calls ready, offline, and nothing else."""
    python = newcomer.work / "readme/.venv/bin/python"
    if not python.exists():
        newcomer.expect("the check `readme` has installed an environment", holds=False)
        return
    folder = newcomer.work / "readme"
    (folder / "make_all.py").write_text(MAKE_ALL, encoding="utf-8")
    listed = newcomer.run(".venv/bin/gem-env list --available --json", folder).text
    done = newcomer.run(".venv/bin/python make_all.py 2> /dev/null", folder, HF_HUB_OFFLINE="1")
    figures = json.loads(done.text.splitlines()[-1])
    newcomer.expect("what is listed as ready is what can be made", holds=figures["wrong"] == [])
    newcomer.expect(
        f"{figures['ready']} are ready", holds=len(json.loads(listed)) == figures["ready"] > 200
    )


@check
def editable(newcomer: Newcomer) -> None:
    """Install the root as editable, with every extra; a change in the checkout counts at once."""
    clone = newcomer.clone("editable")
    log = newcomer.work / "pip-editable.log"
    log.unlink(missing_ok=True)
    command = "python3 -m venv .venv && .venv/bin/pip install --quiet -e '.[all]'"
    done = newcomer.run(command, clone, PIP_LOG=str(log))
    newcomer.expect("it installs", holds=done.status == 0)
    expect_no_look_up(newcomer, log.read_text(encoding="utf-8", errors="replace"))
    changed = clone / "gem-eval/src/gem_eval/__init__.py"
    changed.write_text(f"{changed.read_text(encoding='utf-8')}\nCHANGED = True\n", encoding="utf-8")
    done = newcomer.run(".venv/bin/python -c 'import gem_eval; print(gem_eval.CHANGED)'", clone)
    newcomer.expect("a change counts at once", holds=done.text == "True\n")


@check
def uv(newcomer: Newcomer) -> None:
    """Run `uv sync` in a fresh clone."""
    clone = newcomer.clone("uv")
    tool = newcomer.work / "uv-tool"
    newcomer.run(f"python3 -m venv {tool} && {tool}/bin/pip install --quiet uv", clone)
    done = newcomer.run(f"{tool}/bin/uv sync --verbose", clone)
    newcomer.expect("it installs", holds=done.status == 0)
    expect_no_look_up(newcomer, done.text)
    expect_all_of_ours(newcomer, clone / ".venv/bin", clone)
    done = newcomer.run("git status --short", clone)
    newcomer.expect("no lock file is left to commit", holds=done.text == "")


@check
def names(newcomer: Newcomer) -> None:
    """Ask for things by parts of their names, by wrong names, and for what is not installed."""
    clone = newcomer.clone("names")
    newcomer.run(
        "python3 -m venv .venv && .venv/bin/pip install --quiet ./gem-core ./gem-envs-games", clone
    )

    def says(command: str, *words: str, status: int = 2, never: str = "Traceback") -> None:
        done = newcomer.run(f".venv/bin/gem-env {command}", clone)
        is_told = all(word in done.text for word in words) and never not in done.text
        newcomer.expect(f"it says {', '.join(words)}", holds=is_told and done.status == status)

    says("list guess", "game:GuessTheNumber-v0", "ta:GuessWho-v0", status=0)
    says("list GAME", "game:Wordle-v0-easy", status=0, never="AIME24")
    says("show 'game:Wordle-*'", "game:Wordle-v0-easy", "game:Wordle-v0-hard", status=0)
    says("show time_limit", "max_turns", status=0)
    says("show nope", "No installed pack provides", never="Did you mean")
    says("show rg:chain_sum", "gem-envs-reasoning", "pip install", "[tasks]")
    says("check ta:2048-v0", "pip install", "gem-envs-games[textarena]")
    says("eval game:Wordle-v0-easy", "gem-eval", "pip install")
    page = newcomer.run(".venv/bin/gem-env show rg:chain_sum", clone).text
    command = re.findall(r"`(pip install [^`]+)`", page)[0]
    log = newcomer.work / "pip-names.log"
    log.unlink(missing_ok=True)
    newcomer.run(f".venv/bin/{command} --quiet", clone, PIP_LOG=str(log))
    expect_no_look_up(newcomer, log.read_text(encoding="utf-8", errors="replace"))
    says("show rg:chain_sum", "Observation (seed 0)", status=0, never="cannot be shown")


GAME = "game:GuessTheNumber-v0-hard"


def installed(newcomer: Newcomer, name: str) -> Path:
    """Return a fresh clone in which core, the games and the evaluation are installed."""
    clone = newcomer.clone(name)
    folders = "./gem-core ./gem-envs-games ./gem-eval"
    newcomer.run(f"python3 -m venv .venv && .venv/bin/pip install --quiet {folders}", clone)
    return clone


@check
def server(newcomer: Newcomer) -> None:
    """Evaluate against a server that dies and comes back, and one whose context is small."""
    clone = installed(newcomer, "server")
    asked = f".venv/bin/gem-env eval {GAME} --policy openai:MODEL@http://127.0.0.1:8000/v1"
    asked += " --concurrency 4 --seed 0"

    def comes_back() -> None:
        with served_model(delay_s=0.05, most=60) as model:
            while model.left > 0 and not is_over.wait(0.05):
                pass
        time.sleep(3)
        with served_model():
            is_over.wait(120)

    is_over = threading.Event()
    away = threading.Thread(target=comes_back)
    away.start()
    done = newcomer.run(f"{asked} --episodes 60 --out runs/back", clone)
    is_over.set()
    away.join()
    newcomer.expect("the run waits for it and goes on", holds=done.status == 0)
    expect_each_once(newcomer, clone / "runs/back", 60)

    with served_model(delay_s=0.05, most=40):
        done = newcomer.run(
            f"{asked} --episodes 60 --wait-for-server 1 --out runs/gone || true", clone
        )
    newcomer.expect("a run whose server stays away stops", holds="--resume runs/gone" in done.text)
    with served_model():
        newcomer.run(".venv/bin/gem-env eval --resume runs/gone", clone)
    expect_each_once(newcomer, clone / "runs/gone", 60)

    with served_model(context=900):
        newcomer.run(f"{asked} --episodes 8 --out runs/long", clone)
    episodes = logged(clone / "runs/long")
    reasons = [
        (episode["stop_reason"], episode["success"], episode["error"]) for episode in episodes
    ]
    newcomer.expect(
        "a prompt over the context is a failure to solve, and no error",
        holds=("model_length", False, None) in reasons,
    )
    done = newcomer.run(f"{asked} --episodes 8 --out runs/absent || true", clone)
    newcomer.expect("a server that is not there costs no episode", holds="8000" in done.text)
    newcomer.expect("its log is empty", holds=logged(clone / "runs/absent") == [])


@check
def options(newcomer: Newcomer) -> None:
    """Give five wrong forms of options: each is one line and status 2."""
    clone = installed(newcomer, "options")
    for wrong in (
        "--policy-kwargs '{\"temperature\": 0'",
        "--policy-kwargs '[1]'",
        "--policy-kwargs '{\"temperature\": 0}' --policy solver",
        "--policy nobody",
        '--env-kwargs \'{"max_turns": "5"}\'',
    ):
        done = newcomer.run(f".venv/bin/gem-env eval {GAME} --policy random {wrong}", clone)
        newcomer.expect(
            "it is one line and status 2",
            holds=done.status == 2 and len(done.text.splitlines()) == 1,
        )


def logged(run: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's log."""
    path = run / "episodes.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def expect_each_once(newcomer: Newcomer, run: Path, planned: int) -> None:
    """Expect every planned episode to be in the log once without an error."""
    well = [episode["episode_index"] for episode in logged(run) if episode["error"] is None]
    newcomer.expect(f"all {planned} are done, none twice", holds=sorted(well) == [*range(planned)])


def expect_no_look_up(newcomer: Newcomer, log: str) -> None:
    """Expect that no index was asked for a distribution of ours."""
    asked = sorted(set(LOOK_UP.findall(log)))
    newcomer.expect(f"no index was asked for one of ours {asked or ''}".strip(), holds=not asked)


def expect_all_of_ours(newcomer: Newcomer, bin_folder: Path, folder: Path) -> None:
    """Expect every distribution of ours to be installed and well."""
    done = newcomer.run(f"{bin_folder}/gem-env plugins --json", folder)
    states = {pack["distribution"]: pack["state"] for pack in json.loads(done.text)}
    newcomer.expect("all of ours are installed and ok", holds=states == dict.fromkeys(OURS, "ok"))


class _Model(BaseHTTPRequestHandler):
    """A model that always guesses 25, behind the OpenAI API."""

    protocol_version = "HTTP/1.1"
    delay_s = 0.0
    context = 10**9  # characters of a request that it reads
    left = 10**9  # requests that it answers before it goes away

    def do_POST(self) -> None:
        """Answer a request for a completion."""
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.delay_s)
        type(self).left -= 1
        if self.left < 0:
            self.close_connection = True
            self.connection.close()
        elif len(asked) > self.context:
            error = {"code": "context_length_exceeded", "message": "The prompt is too long."}
            self._send(400, {"error": error})
        else:
            message = {"role": "assistant", "content": r"\boxed{25}"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._send(200, {"model": "MODEL", "choices": [choice], "usage": usage})

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    """A server that takes its connections with it when it goes."""

    daemon_threads = True

    def __init__(self, model: type[_Model]) -> None:
        self.connections: list[socket.socket] = []
        super().__init__(("127.0.0.1", 8000), model)

    def get_request(self) -> tuple[socket.socket, Any]:
        """Take a connection and remember it."""
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def handle_error(self, *_: object) -> None:
        """Say nothing of a client that has left, or of a connection that was cut."""


@contextmanager
def served_model(
    *, delay_s: float = 0.0, context: int = 10**9, most: int = 10**9
) -> Iterator[type[_Model]]:
    """Serve the model where the README has it, up to its `most` answers."""
    model: type[_Model] = type(
        "Model", (_Model,), {"delay_s": delay_s, "context": context, "left": most}
    )
    server = _Server(model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        for connection in server.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def main() -> int:
    """Run the checks that were asked for and return the exit status."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join(CHECKS))
    parser.add_argument("--work", type=Path, required=True, help="a folder for clones and homes")
    options = parser.parse_args()
    unknown = [name for name in options.checks if name not in CHECKS]
    if unknown:
        parser.error(f"there is no check {unknown[0]!r}: they are {', '.join(CHECKS)}")
    newcomer = Newcomer(options.work.resolve())
    for name in options.checks or CHECKS:
        print(f"\n=== {name}: {str(CHECKS[name].__doc__).splitlines()[0]}")
        CHECKS[name](newcomer)
    print(f"\n{len(newcomer.failures)} failed" if newcomer.failures else "\nAll hold.")
    print("\n".join(newcomer.failures))
    return int(bool(newcomer.failures))


if __name__ == "__main__":
    sys.exit(main())

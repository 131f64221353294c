"""Kill an evaluation of 5,000 episodes with `kill -9`, resume it, and count what is asked again.

Run it with `python benchmarks/killed.py [--episodes N]` where gem-eval and gem-envs-games are
installed. A server in this process answers every request and keeps its seed. A run that nobody
disturbs, one episode at a time, tells which requests an episode has; then the same run, with 128
in flight, is killed on the way and resumed. Counted are the requests of episodes that were in the
log already when the run was killed: none may be asked again. The summaries of both runs are
compared but for times. The results go to benchmarks/results/killed.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web

from gem import Episode, read_episodes

RESULTS = Path(__file__).parent / "results" / "killed.json"
ENV = "game:GuessTheNumber-v0-easy"
IN_FLIGHT = 128
LATENCY_S = 0.02
KILLED_AT = 0.3  # of the episodes
HIGHEST = 10
TOO_LONG_S = 600.0


class Asked(NamedTuple):
    """A request by what tells it from all others of a run: its seed, and how long the chat is."""

    seed: int
    messages: int


class Server:
    """Guesses numbers by halves, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.latency_s = 0.0
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        messages = body["messages"]
        if messages[-1]["content"] != "Hello.":  # by which a run looks whether anybody is there
            self.asked.append(Asked(body["seed"], len(messages)))
        await asyncio.sleep(self.latency_s)
        message = {"role": "assistant", "content": guess(messages)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"choices": [choice]})

    def take_asked(self) -> list[Asked]:
        """Return what was asked since the last call."""
        asked = self.asked
        self.asked = []
        return asked


def guess(messages: list[dict[str, str]]) -> str:
    """Return the middle of what the hints have left."""
    low, high, number = 1, HIGHEST, 0
    for message in messages:
        if message["role"] == "assistant":
            number = int(re.findall(r"\d+", message["content"])[0])
        elif "is higher than" in message["content"]:
            low = number + 1
        elif "is lower than" in message["content"]:
            high = number - 1
    return rf"\boxed{{{(low + high) // 2}}}"


@contextmanager
def served() -> Iterator[Server]:
    """Give a server on loopback, on a thread of its own."""
    server = Server()
    stop: asyncio.Event
    loop: asyncio.AbstractEventLoop
    is_up = threading.Event()

    async def serve() -> None:
        nonlocal stop, loop
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        app = web.Application()
        app.router.add_post("/v1/chat/completions", server.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        is_up.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    is_up.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def command(url: str, out: Path, episodes: int, in_flight: int) -> list[str]:
    """Return the command of an evaluation."""
    words = f"-m gem eval {ENV} --policy openai:m@{url} --episodes {episodes} --seed 0 --json"
    return [sys.executable, *words.split(), "--concurrency", str(in_flight), "--out", str(out)]


def run(words: list[str]) -> None:
    """Run a command to its end."""
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=TOO_LONG_S)


def kill_on_the_way(words: list[str], log: Path, wanted: int) -> None:
    """Start a command, and kill it when its log has so many lines."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + TOO_LONG_S
        while not log.exists() or log.read_bytes().count(b"\n") < wanted:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("The run ended before it could be killed. Ask for more episodes.")
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()


def whole_episodes(log: Path) -> list[Episode]:
    """Return the episodes of a log. What a kill has cut off at its end is none."""
    return list(read_episodes(log))


def measure(episodes: int) -> dict[str, Any]:
    """Play, kill, resume, and count."""
    with served() as server, tempfile.TemporaryDirectory() as folder:
        calm = Path(folder, "calm")
        run(command(server.url, calm, episodes, 1))
        asked = iter(server.take_asked())
        requests: dict[int, set[Asked]] = {}
        for episode in whole_episodes(calm / "episodes.jsonl"):
            requests[episode.episode_index] = {next(asked) for _ in episode.turns}
        assert next(asked, None) is None, "one episode after another asks for its turns alone"

        server.latency_s = LATENCY_S
        killed = Path(folder, "killed")
        log = killed / "episodes.jsonl"
        words = command(server.url, killed, episodes, IN_FLIGHT)
        kill_on_the_way(words, log, int(episodes * KILLED_AT))
        before = Counter(server.take_asked())
        kept = {episode.episode_index for episode in whole_episodes(log)}
        began = time.perf_counter()
        run([sys.executable, "-m", "gem", "eval", "--resume", str(killed), "--json"])
        resumed_s = time.perf_counter() - began
        after = Counter(server.take_asked())

        of_kept = set().union(*(requests[index] for index in kept))
        of_others = set().union(*(found for index, found in requests.items() if index not in kept))
        return {
            "episodes": episodes,
            "requests_undisturbed": sum(map(len, requests.values())),
            "kept": len(kept),
            "asked_before": sum(before.values()),
            "asked_after": sum(after.values()),
            "missing_after": len(of_others),
            "repeated_of_kept": sum((after & Counter(of_kept)).values()),
            "repeated_of_others": sum((before & after).values()),
            "summaries_equal": summary(calm) == summary(killed),
            "resumed_s": round(resumed_s, 1),
        }


def summary(folder: Path) -> Any:
    """Return the figures of a run: without times, its name, and what its last process counted."""
    plain = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    del plain["run"], plain["counters"]
    for result in plain["results"]:
        del result["seconds"]
    return plain


def main() -> None:
    """Measure, print, and keep the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=5_000, help="fewer keep no figures")
    options = parser.parse_args()
    found = measure(options.episodes)
    print(json.dumps(found, indent=2))
    if options.episodes >= 5_000:
        RESULTS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        print(f"Kept in {RESULTS.name}.")
    if found["repeated_of_kept"] or not found["summaries_equal"]:
        raise SystemExit("A finished episode was asked for again, or the figures differ.")


if __name__ == "__main__":
    main()

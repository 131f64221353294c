"""Measure `gem-env view` on a run of 100,000 episodes, one of which has 100,000 turns.

Run it with `python benchmarks/viewer.py [--episodes N] [--turns N] [--rounds N]` where gem-eval's
extra `view` is installed; Linux only. It writes such a run, starts the viewer on it in a process of
its own, and waits until the log was read and summed up. Then it asks for pages, each several times,
and reads the most memory that the process ever had. The run is made up: its log is written by this
script, and is not timed. The results go to benchmarks/results/viewer.json, unless --quick is given.

Where playwright and a Chromium are installed it also scrolls through the token page of an episode
of 20,000 tokens and counts frames; `--part tokens` measures that alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from gem import Episode
from gem_eval.finding import example_episode, example_turn
from gem_eval.run_folder import RunFolder
from gem_eval.settings import settings_from

RESULTS = Path(__file__).parent / "results" / "viewer.json"
ENVS = ("game:GuessTheNumber-v0-hard", "game:Mastermind-v0-hard", "game:Sudoku-v0-easy")
POLICIES = ("solver", "random")
MIB = 1024
BARS = {
    "a page, in seconds": 1.0,
    "memory of the server, in MB": 200.0,
    "frames a second while tokens scroll": 30.0,
}
TOKENS = 20_000
SCROLL = """
async step => {
  const took = [];
  const frame = () => new Promise(requestAnimationFrame);
  let last = await frame();
  for (let top = 0; top < document.documentElement.scrollHeight - innerHeight; top += step) {
    scrollTo(0, top);
    const now = await frame();
    took.push(now - last);
    last = now;
  }
  return took;
}
"""
"""Scrolls by so many pixels a frame, and returns how many milliseconds each frame took."""


class Server(NamedTuple):
    """A viewer that runs."""

    address: str
    process: subprocess.Popen[str]


def main() -> None:
    """Measure, print a table, and keep the figures."""
    parser = argparse.ArgumentParser(description="Measure gem-env view on a large run.")
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=100_000, help="of the longest episode")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--part", choices=["pages", "tokens"], help="measure this alone")
    parser.add_argument("--quick", action="store_true", help="a small run, and keep nothing")
    options = parser.parse_args()
    if options.quick:
        options.episodes = 2000
        options.turns = 2000
    results: dict[str, object] = {}
    if options.part is not None:  # what the other part had is kept
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        if options.part != "tokens":
            run = Path(folder, "large")
            write_run(run, options.episodes, options.turns)
            results |= measured(run, options)
            report(results)
        if options.part != "pages":
            frames = scrolled(Path(folder, "tokens"))
            print(f"tokens: {frames}")
            results |= {"tokens": frames, "bars": BARS}
    if not options.quick:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def write_run(path: Path, episodes: int, turns: int) -> None:
    """Write a run of episodes of 5 turns, the last of which has many."""
    settings = settings_from({"envs": list(ENVS), "policies": list(POLICIES), "episodes": episodes})
    folder = RunFolder.create(path, settings, ["gem-env", "eval"], total=episodes)
    template = episode(5).to_json()
    with folder.episodes_path.open("w", encoding="ascii") as log:
        for number in range(episodes - 1):
            log.write(one_of(template, number))
        log.write(one_of(episode(turns).to_json(), episodes - 1))


def one_of(template: str, number: int) -> str:
    """Return a line of the log: one of the episodes, each of which is different."""
    cell = number % (len(ENVS) * len(POLICIES))
    plain = {
        '"env_index":0': f'"env_index":{cell % len(ENVS)}',
        '"policy":"solver"': f'"policy":"{POLICIES[cell // len(ENVS)]}"',
        '"episode_index":0': f'"episode_index":{number // (len(ENVS) * len(POLICIES))}',
        '"seed":1': f'"seed":{number * 2654435761 + 12345}',
    }
    if number % 3 == 0:
        plain['"success":true'] = '"success":false'
    if number % 1000 == 7:
        error = '"stop_reason":"policy_error","error":"RuntimeError: server answered 503"'
        plain['"stop_reason":"terminated","error":null'] = error
        plain['"success":true'] = '"success":null'
    # What is replaced stands outside of the turns but for the beginning, which has the first two.
    beginning, turns, end = template.partition('"turns":')
    rest, final, end = end.rpartition('"final_observation":')
    for before, after in plain.items():
        beginning = beginning.replace(before, after)
        end = end.replace(before, after)
    return f"{beginning}{turns}{rest}{final}{end}\n"


def episode(turns: int) -> Episode:
    """Return an episode of so many turns, of about 400 bytes each."""
    words = "At turn 3, you guessed 17, and the target number is higher. " * 3
    played = example_turn(
        "It is between 18 and 24, so I take the middle. \\boxed{21}",
        words,
        suffix="Enter your next guess.",
        reward_parts={"step": 0.0},
        info={"success": False},
        step_s=0.0001,
        policy_s=0.5,
    )
    return example_episode(
        *(played,) * turns,
        env_id=ENVS[0],
        env_kwargs={"max_number": 50},
        seed=1,
        policy="solver",
        final_observation="The end.",
        total_reward=1.0,
        success=True,
        versions={"gem-core": "0.1.0"},
        duration_s=2.5,
    )


def measured(run: Path, options: argparse.Namespace) -> dict[str, object]:
    """Return the figures of a viewer that reads the run, and of one that has its index."""
    cache = run.parent / "cache"
    last = options.episodes
    pages = {
        "first page": "",
        "filtered": "?outcome=failed&env=1&policy=solver",
        "sorted, page 100": "?sort=-return&page=100",
        "a text": "?q=between+18",
        "a seed": "?q=12345",
        "a finder": "?finder=loop",
        "a text of conversations": "?q=between+18&within=conversations",
        "an episode": "/episodes/500?outcome=failed&sort=-seed",
        f"turn 1 of {options.turns:,}": f"/episodes/{last}",
        f"turn {options.turns // 2:,} of {options.turns:,}": (
            f"/episodes/{last}?turn={options.turns // 2}"
        ),
    }
    start = time.perf_counter()
    with viewer(run, cache) as server:
        first_s, state = first_page(server)
        wait_until_read(server)
        read_s = time.perf_counter() - start
        times = {name: timed(server, path, options.rounds) for name, path in pages.items()}
        reading_mb = peak_mb(server)
    with viewer(run, cache) as server:
        wait_until_read(server)
        for path in pages.values():
            timed(server, path, 1)
        again_mb = peak_mb(server)
    return {
        "command": "python benchmarks/viewer.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": [round(each, 1) for each in os.getloadavg()[:2]],
        "episodes": options.episodes,
        "turns_of_the_longest": options.turns,
        "log_mb": round((run / "episodes.jsonl").stat().st_size / 1e6, 1),
        "read_and_summed_up_s": round(read_s, 1),
        "first_page_while_it_reads_s": round(first_s, 3),
        "state_then": state,
        "pages_s": times,
        "peak_mb": {"reads the log": reading_mb, "has the index": again_mb},
        "bars": BARS,
    }


def scrolled(path: Path) -> dict[str, object]:
    """Return how many frames a second a browser draws while it scrolls through many tokens."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        return {"not measured": "it needs playwright and a Chromium of the system"}
    write_tokens(path)
    with viewer(path, path.parent / "cache") as server, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        start = time.perf_counter()
        page.goto(f"{server.address}/episodes/1/tokens")
        open_s = time.perf_counter() - start
        found = page.locator(".tk").count()
        took_ms = sorted(page.evaluate(SCROLL, 60))
        browser.close()
    mean_ms = statistics.fmean(took_ms)
    return {
        "tokens": found,
        "open_s": round(open_s, 2),
        "frames": len(took_ms),
        "frames_a_second": round(1000 / mean_ms, 1),
        "frames_a_second_of_the_slowest_percent": round(
            1000 / took_ms[len(took_ms) * 99 // 100], 1
        ),
        "frames_slower_than_30_a_second": sum(took > 1000 / 30 + 0.5 for took in took_ms),
        "load": [round(each, 1) for each in os.getloadavg()[:2]],
    }


def write_tokens(path: Path) -> None:
    """Write a run of one episode of four turns, whose tokens were half given and half said."""
    settings = settings_from({"envs": list(ENVS), "policies": list(POLICIES), "episodes": 1})
    folder = RunFolder.create(path, settings, ["gem-env", "eval"], total=1)
    rng = random.Random(0)
    half = TOKENS // 8
    turns = [
        example_turn(
            "\\boxed{21}",
            token_ids=tuple(rng.randrange(150_000) for _ in range(2 * half)),
            mask=(0,) * half + (1,) * half,
            logprobs=(0.0,) * half + tuple(-(rng.random() ** 4) * 5 for _ in range(half)),
        )
        for _ in range(4)
    ]
    one = example_episode(*turns, env_id=ENVS[0], policy=POLICIES[0])
    folder.episodes_path.write_text(f"{one.to_json()}\n", encoding="ascii")


@contextmanager
def viewer(run: Path, cache: Path) -> Iterator[Server]:
    """Start `gem-env view`, and end it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gem", "view", str(run), "--port", "0"],
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        yield Server(f"{line.partition(' at ')[2].partition(' .')[0]}runs/{run.name}", process)
    finally:
        process.terminate()
        process.communicate()


def first_page(server: Server) -> tuple[float, str]:
    """Return how long a page takes as soon as the viewer serves, and how far the log is then."""
    start = time.perf_counter()
    httpx.get(server.address, timeout=600).raise_for_status()
    took_s = time.perf_counter() - start
    return took_s, str(httpx.get(f"{server.address}/live").json()["text"])


def wait_until_read(server: Server) -> None:
    """Wait until the log was read and summed up."""
    while httpx.get(f"{server.address}/live", timeout=600).json()["state"] == "reading":
        time.sleep(0.1)


def timed(server: Server, path: str, rounds: int) -> dict[str, float]:
    """Return the median and the longest time of a page in seconds, and its size in kB."""
    times = []
    size = 0
    with httpx.Client(timeout=600) as client:
        for _ in range(rounds):
            start = time.perf_counter()
            answer = client.get(f"{server.address}{path}").raise_for_status()
            times.append(time.perf_counter() - start)
            size = len(answer.content)
    median = statistics.median(times)
    return {"median": round(median, 3), "longest": round(max(times), 3), "kb": round(size / 1e3)}


def peak_mb(server: Server) -> float:
    """Return the most memory that the server had so far, in MB of 1,000 kB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return round(int(line.split()[1]) * MIB / 1e6, 1)


def report(results: dict[str, object]) -> None:
    """Print the figures."""
    print(f"{'page':<28} {'median s':>9} {'longest s':>10} {'kB':>6}")
    pages = results["pages_s"]
    assert isinstance(pages, dict)
    for name, times in pages.items():
        print(f"{name:<28} {times['median']:>9.3f} {times['longest']:>10.3f} {times['kb']:>6}")
    for name in ("read_and_summed_up_s", "first_page_while_it_reads_s", "peak_mb", "log_mb"):
        print(f"{name}: {results[name]}")


if __name__ == "__main__":
    main()

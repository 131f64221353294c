"""Measure what a request to a model's server costs the client, in CPU time and in throughput.

Run it with `python benchmarks/requests.py [--rounds N] [--quick]`. A server in a process of its
own answers after 500 ms; each client asks it in a fresh process, with 64, 256 and 1,024 requests
in flight. Clients take turns in an order that changes; a figure is the median over rounds. The
results go to benchmarks/results/requests.json and into docs/benchmarks.md.

Only the standard library is imported here: the packages of other benchmarks may import a package
of this file's name.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "requests.json"
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN = "<!-- written by benchmarks/requests.py -->\n"
END = "<!-- requests as far as here -->"
LATENCY_S = 0.5
IN_FLIGHT = (64, 256, 1024)
NAMES = {
    "aiohttp": "bare aiohttp",
    "openai": "`openai:`",
    "rollout": "`openai:` in a rollout, episodes of 5 turns",
    "inspect_ai": "inspect_ai",
}
WAVES = {64: 20, 256: 10, 1024: 5}  # requests of each place
FEWER = {64: 4, 256: 2, 1024: 1}  # of the client that takes tens of milliseconds for one
MOST_CPU_MS = 1.0
LEAST_SHARE = 0.9
Row = dict[str, Any]


@contextmanager
def served() -> Iterator[str]:
    """Give the address of a server that answers after LATENCY_S."""
    script = ROOT / "benchmarks" / "requests_parts" / "server.py"
    command = [sys.executable, str(script), str(LATENCY_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.kill()


def clients() -> list[str]:
    """Return the clients that are installed."""
    if importlib.util.find_spec("inspect_ai") is None:
        print('inspect_ai is not installed, and left out. Run: pip install "inspect_ai" openai')
        return [name for name in NAMES if name != "inspect_ai"]
    return list(NAMES)


def measured(client: str, url: str, in_flight: int, waves: int) -> Row:
    """Return the figures of one client, asked in a process of its own."""
    side = [sys.executable, "-m", "benchmarks.requests_parts.side"]
    done = subprocess.run(
        [*side, client, url, str(in_flight), str(in_flight * waves)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    allowed_s = figures["requests"] / in_flight * LATENCY_S
    return {
        "cpu_ms": figures["cpu_s"] / figures["requests"] * 1e3,
        "share": allowed_s / figures["wall_s"],
        "per_s": figures["requests"] / figures["wall_s"],
    }


def measure(rounds: int, *, is_quick: bool) -> list[Row]:
    """Return a row for each client and number in flight."""
    names = clients()
    rows_by_place: dict[tuple[int, str], list[Row]] = {}
    order = random.Random(0)
    with served() as url:
        for _ in range(rounds):
            for in_flight in IN_FLIGHT:
                for client in order.sample(names, len(names)):
                    is_slow = is_quick or client == "inspect_ai"
                    waves = (FEWER if is_slow else WAVES)[in_flight]
                    if client == "rollout":
                        waves = max(waves, 5)  # an episode of each place
                    figures = measured(client, url, in_flight, waves)
                    rows_by_place.setdefault((in_flight, client), []).append(figures)
    return [
        row(in_flight, client, rows_by_place[in_flight, client])
        for in_flight in IN_FLIGHT
        for client in names
    ]


def row(in_flight: int, client: str, rounds: list[Row]) -> Row:
    """Sum the rounds of one client up."""
    cpu_ms = [round_row["cpu_ms"] for round_row in rounds]
    share = [round_row["share"] for round_row in rounds]
    return {
        "in_flight": in_flight,
        "client": client,
        "cpu_ms": round(statistics.median(cpu_ms), 3),
        "cpu_ms_range": [round(min(cpu_ms), 3), round(max(cpu_ms), 3)],
        "share": round(statistics.median(share), 3),
        "share_range": [round(min(share), 3), round(max(share), 3)],
        "per_s": round(statistics.median(round_row["per_s"] for round_row in rounds), 1),
    }


def bars(rows: list[Row]) -> list[Row]:
    """Hold the figures of `openai:` against what was asked for."""
    ours = {
        client_row["in_flight"]: client_row
        for client_row in rows
        if client_row["client"] == "openai"
    }
    cpu = [
        {
            "bar": f"CPU ms a request, {in_flight:,} in flight",
            "wanted": f"at most {MOST_CPU_MS:g}",
            "measured": ours[in_flight]["cpu_ms"],
            "holds": ours[in_flight]["cpu_ms"] <= MOST_CPU_MS,
        }
        for in_flight in IN_FLIGHT
    ]
    shares = [
        {
            "bar": f"share of what latency allows, {in_flight:,} in flight",
            "wanted": f"at least {LEAST_SHARE:g}",
            "measured": ours[in_flight]["share"],
            "holds": ours[in_flight]["share"] >= LEAST_SHARE,
        }
        for in_flight in IN_FLIGHT[:2]
    ]
    return [*cpu, *shares]


def section(facts: Row) -> Iterator[str]:
    """Yield the lines of the page."""
    yield f"Python {facts['python']}, {facts['machine']}, {', '.join(facts['versions'])};"
    yield f"medians of {facts['rounds']} rounds. Load when it began: {facts['load']}."
    yield ""
    yield "| bar, of `openai:` | wanted | measured | holds |"
    yield "|---|---|---|---|"
    for bar in facts["bars"]:
        holds = "yes" if bar["holds"] else "**no**"
        yield f"| {bar['bar']} | {bar['wanted']} | {bar['measured']:g} | {holds} |"
    yield ""
    yield (
        "| in flight | client | CPU ms a request (least to most) | requests a second | "
        "share of what latency allows (least to most) |"
    )
    yield "|---|---|---|---|---|"
    for client_row in facts["rows"]:
        cpu_least, cpu_most = client_row["cpu_ms_range"]
        least, most = client_row["share_range"]
        yield "| {} | {} | {} | {:,.0f} | {} |".format(
            f"{client_row['in_flight']:,}",
            NAMES[client_row["client"]],
            f"{client_row['cpu_ms']:.2f} ({cpu_least:.2f} to {cpu_most:.2f})",
            client_row["per_s"],
            f"{client_row['share']:.2f} ({least:.2f} to {most:.2f})",
        )


def write(facts: Row) -> None:
    """Keep the figures, and put them between the marks of the page."""
    RESULTS.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{PAGE} lost the marks of this section. Put them back: {BEGIN}{END}")
    text = "\n".join(section(facts))
    PAGE.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", encoding="utf-8")


def main() -> None:
    """Measure, print the tables, and keep the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="few requests, and nothing is kept")
    options = parser.parse_args()
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg()[:2])
    rows = measure(options.rounds, is_quick=options.quick)
    packages = [
        "aiohttp",
        "httpx",
        "httpx-aiohttp",
        *({"inspect_ai"} & {r["client"] for r in rows}),
    ]
    facts = {
        "command": "python " + " ".join(["benchmarks/requests.py", *sys.argv[1:]]),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": load,
        "versions": [f"{name} {metadata.version(name)}" for name in packages],
        "latency_s": LATENCY_S,
        "rounds": options.rounds,
        "bars": bars(rows),
        "rows": rows,
    }
    print("\n".join(section(facts)))
    if not options.quick:
        write(facts)


if __name__ == "__main__":
    main()

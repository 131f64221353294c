"""Measure search: how much of what is relevant it finds, and what it costs at 100,000 documents.

Run it with `python benchmarks/search.py [--documents N] [--rounds R] [--quick]` where gem-tools'
extras `search` and `bm25s` are installed; Linux only. Quality is the mean recall at 5 of each kind
of query over the corpus that gem-tools' tests hold their indexes to. Cost is measured on documents
of words drawn by Zipf's law, each engine in processes of its own: one builds, another opens the
index and answers queries of 3 to 7 rarer words and the two commonest, in rounds of which the
median and the best are shown. Memory is what opening and searching add to the process: its own,
and the mapped files, which the system can drop. The results go to benchmarks/results/search.json;
with --quick, which takes a tenth of everything, they are only printed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from statistics import fmean, median
from typing import Any

from gem_tools.search import build_index, open_index

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "search.json"
CORPUS = ROOT / "gem-tools" / "tests" / "search"
ENGINES = ("tantivy", "bm25s")
VOCABULARY = 50_000
QUERIES = 400
K = 5
MIB = 1024 * 1024


def main() -> None:
    """Measure, or, in a process that this script started, measure one thing, printed as JSON."""
    parser = argparse.ArgumentParser(description="Measure search.")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        part, *arguments = options.part
        print(json.dumps(PARTS[part](*arguments)))
        return
    documents = options.documents
    rounds = options.rounds
    if options.quick:
        documents = documents // 10
        rounds = 1
    quality = {engine: recall(engine) for engine in ENGINES}
    show("recall at 5", quality)
    costs = cost(documents, rounds)
    show(f"{documents:,} documents", costs)
    if not options.quick:
        supervise(documents, rounds, quality, costs)


def recall(engine: Any) -> dict[str, float]:
    """Return the mean recall at 5 of each kind of query, and of all."""
    lines = (CORPUS / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    asked: list[dict[str, Any]] = [json.loads(line) for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        build_index(CORPUS / "corpus.jsonl", f"{folder}/index", engine=engine)
        hit_lists = open_index(f"{folder}/index").search([query["query"] for query in asked], 5)
    shares: dict[str, list[float]] = {}
    for question, hits in zip(asked, hit_lists, strict=True):
        share = len({hit.id for hit in hits} & {*question["relevant"]}) / len(question["relevant"])
        shares.setdefault(question["kind"], []).append(share)
    every = [share for kind in shares.values() for share in kind]
    return {kind: round(fmean(parts), 3) for kind, parts in {**shares, "all": every}.items()}


def cost(documents: int, rounds: int) -> dict[str, dict[str, float]]:
    """Build and search with each engine, the rounds of both in turns."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "documents.jsonl")
        write_documents(source, documents)
        built = {engine: alone("build", source, folder, engine) for engine in ENGINES}
        asked: dict[str, list[dict[str, float]]] = {engine: [] for engine in ENGINES}
        for _ in range(rounds):
            for engine in ENGINES:
                asked[engine].append(alone("ask", folder, engine))
    return {engine: built[engine] | summary(asked[engine]) for engine in ENGINES}


def summary(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure, and the best queries per second."""
    figures = {name: round(median(figure[name] for figure in rounds), 3) for name in rounds[0]}
    return {**figures, "best_queries_per_s": max(figure["queries_per_s"] for figure in rounds)}


def alone(*part: object) -> dict[str, float]:
    """Measure one thing in a process of its own."""
    command = [sys.executable, __file__, "--part", *map(str, part)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def words() -> tuple[list[str], list[float]]:
    """Return a vocabulary, the commonest word first, and weights that add up."""
    return (
        [f"w{number:x}" for number in range(VOCABULARY)],
        list(accumulate(1 / (rank + 1) for rank in range(VOCABULARY))),
    )


def write_documents(path: Path, many: int) -> None:
    """Write documents of 60 to 140 words; equal arguments give equal files."""
    rng = random.Random(0)
    vocabulary, weights = words()
    with path.open("w", encoding="utf-8") as file:
        for number in range(many):
            drawn = rng.choices(vocabulary, cum_weights=weights, k=rng.randint(60, 140))
            row = {"id": str(number), "title": f"t{number}", "text": " ".join(drawn)}
            file.write(json.dumps(row) + "\n")


def queries() -> Iterator[str]:
    """Yield queries of rarer words, each with the two commonest."""
    rng = random.Random(1)
    vocabulary, _ = words()
    for _ in range(QUERIES):
        rare = rng.sample(vocabulary[200:20_000], rng.randint(3, 7))
        yield " ".join([*rare, *vocabulary[:2]])


def build(source: str, folder: str, engine: Any) -> dict[str, float]:
    """Build an index, and say how long it took and what is on disk."""
    start = time.perf_counter()
    cpu = time.process_time()
    manifest = build_index(source, f"{folder}/{engine}", engine=engine)
    return {
        "index_s": round(time.perf_counter() - start, 2),
        "index_cpu_s": round(time.process_time() - cpu, 2),
        "build_peak_mib": round(status_kib("VmHWM") / 1024, 1),
        "disk_mib": round(sum(manifest.files.values()) / MIB, 1),
    }


def ask(folder: str, engine: str) -> dict[str, float]:
    """Open an index that was built, and answer queries one by one and in a batch."""
    warm = open_index(f"{folder}/{engine}")  # the engine's import is not what opening costs
    del warm
    asked = list(queries())
    own = status_kib("RssAnon")
    mapped = status_kib("RssFile")
    start = time.perf_counter()
    index = open_index(f"{folder}/{engine}")
    opened_s = time.perf_counter() - start
    times = [timed(lambda query=query: index.search([query], K)) for query in asked]  # type: ignore[misc]
    cpu = time.process_time()
    together_s = timed(lambda: index.search(asked, K))
    cpu = time.process_time() - cpu
    return {
        "open_ms": opened_s * 1000,
        "p50_ms": median(times) * 1000,
        "p99_ms": sorted(times)[int(len(times) * 0.99)] * 1000,
        "queries_per_s": round(len(asked) / sum(times), 1),
        "queries_per_s_batch": len(asked) / together_s,
        "queries_per_cpu_s": len(asked) / cpu,
        "own_mib": (status_kib("RssAnon") - own) / 1024,
        "mapped_mib": (status_kib("RssFile") - mapped) / 1024,
    }


def timed(call: Callable[[], object]) -> float:
    """Return how many seconds a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def status_kib(name: str) -> int:
    """Return one of this process's own figures of memory."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1])


def show(title: str, figures: dict[str, dict[str, float]]) -> None:
    """Print a table with a column for each engine."""
    print(f"{title:<24}" + "".join(f"{engine:>12}" for engine in figures))
    for name in next(iter(figures.values())):
        print(f"{name:<24}" + "".join(f"{column[name]:>12.3f}" for column in figures.values()))
    print()


def supervise(documents: int, rounds: int, quality: dict[str, Any], costs: dict[str, Any]) -> None:
    """Write the results."""
    results = {
        "command": "python benchmarks/search.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "documents": documents,
        "rounds": rounds,
        "queries": QUERIES,
        "recall_at_5": quality,
        "cost": costs,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


PARTS: dict[str, Callable[..., dict[str, float]]] = {"build": build, "ask": ask}

if __name__ == "__main__":
    main()

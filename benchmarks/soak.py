"""Roll out for minutes while the worst happens to one episode in a hundred, and lose none.

Run it with `python benchmarks/soak.py [--minutes M]`; Linux only. One rollout plays episodes of
512 environments in two worker processes. Which episodes have a fault, and which one, is drawn from
their seeds by the environment itself (tests/execution/hazards.py): an error, a hang, one that no
signal can end, a crash, an exit, more memory than there is, and answers that cannot be carried.
The policy takes a quarter of a second for an answer. The memory of this process, and that of all
that it started, is read once a second; its slope is that of a line fitted to the second half.

Every episode must come once, those with a fault end as that fault says, and the others as if
nothing had happened: a sample of them is played again in this process, one after the other. Where
that does not hold the exit status is 1. A run of 5 minutes or more writes
benchmarks/results/soak.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import linear_regression, median
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # where the workers look for it, too

from tests.execution.hazards import FAULTS, TURNS, Hazard, fault_of
from tests.execution.playing import spec_of
from tests.execution.residue import descendants

import gem
from gem.rollouts import PlannedEpisode, RolloutStats

RESULTS = Path(__file__).parent / "results" / "soak.json"
LEAST_KEPT_MINUTES = 5
MIB = 1 << 20
WORKERS = 2
RATE = 0.01
ANSWER_S = 0.25
STEP_TIMEOUT_S = 0.5
MOST_MEMORY_BYTES = 4 << 30
MOST_COMPARED = 1000
SPEC = spec_of(Hazard, blocking=False, rate=RATE)


class Sample(NamedTuple):
    """What was held at a time: megabytes in this process and in all others, descriptors here."""

    minutes: float
    parent_mib: float
    workers_mib: float
    descriptors: int


class Ledger:
    """What came of the planned episodes, in memory that does not grow with their number."""

    def __init__(self, planned: int) -> None:
        self.planned = planned
        self.played = 0
        self._times = bytearray(planned)  # how often each episode came
        self.injected: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.kept: dict[PlannedEpisode, str] = {}
        self._keep_every = max(1, planned // MOST_COMPARED)

    def enter(self, episode: gem.Episode) -> None:
        """Count an episode, and note it if it is not as it must be."""
        self.played += 1
        self._times[episode.episode_index] += 1
        kind, turn = fault_of(episode.seed, RATE)
        problem = _problem(episode, kind, turn)
        if kind:
            self.injected[kind] += 1
        if problem and len(self.wrong) < 100:
            self.wrong.append(f"episode {episode.episode_index}, {kind or 'no fault'}: {problem}")
        if not kind and episode.episode_index % self._keep_every == 0:
            place = PlannedEpisode(0, episode.episode_index, 0, episode.seed, None)
            self.kept[place] = episode.fingerprint()

    @property
    def lost(self) -> int:
        """How many never came."""
        return self._times.count(0)

    @property
    def repeated(self) -> int:
        """How many came more than once."""
        return self.planned - self.lost - self._times.count(1)


def _problem(episode: gem.Episode, kind: str, turn: int) -> str | None:
    reason, text = FAULTS.get(kind, ("truncated", ""))
    if (episode.stop_reason, text in (episode.error or "")) != (reason, True):
        return f"it ended by {episode.stop_reason}: {episode.error!r:.200}"
    turns = max(turn, 0) if kind else TURNS
    if len(episode.played_turns) != turns:
        return f"it has {len(episode.played_turns)} turns, and must have {turns}"
    return None


async def answer(request: gem.Request) -> str:
    """Answer after a while that depends on the request alone."""
    await asyncio.sleep(ANSWER_S * (0.5 + request.seed % 1024 / 1024))
    return answer_at_once(request)


def answer_at_once(request: gem.Request) -> str:
    """Say what `answer` says."""
    return f"go {request.seed % 7}"


def main() -> int:
    """Soak, print what came of it, and keep it if it was long."""
    parser = argparse.ArgumentParser(description="Roll out for minutes among faults.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--envs", type=int, default=512)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    results = asyncio.run(soak(options.minutes, options.envs, options.seed))
    report(results)
    if options.minutes >= LEAST_KEPT_MINUTES:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return 0 if results["holds"] else 1


async def soak(minutes: float, num_envs: int, seed: int) -> dict[str, Any]:
    """Run for about so long, and return every figure."""
    rate = await episodes_per_s(num_envs, seed + 1)
    ledger = Ledger(max(num_envs, round(rate * minutes * 60)))
    stats = RolloutStats()
    samples = list[Sample]()
    async with sampled(samples, ledger, minutes):
        async for episode in rollout(ledger.planned, num_envs, seed, stats):
            ledger.enter(episode)
    equal = await played_again(ledger.kept)
    clean = not (ledger.lost or ledger.repeated or ledger.wrong)
    return {
        "command": "python benchmarks/soak.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "envs": num_envs,
        "workers": WORKERS,
        "planned": ledger.planned,
        "played": ledger.played,
        "lost": ledger.lost,
        "repeated": ledger.repeated,
        "wrong": ledger.wrong,
        "faults": dict(sorted(ledger.injected.items())),
        "errors": stats.errors,
        "compared": len(ledger.kept),
        "equal": equal,
        "holds": clean and stats.errors == ledger.injected.total() and equal == len(ledger.kept),
        "stats": stats.as_dict(),
        "memory": {name: figures(samples, name) for name in ("parent_mib", "workers_mib")},
        "descriptors": [min(sample.descriptors for sample in samples), samples[-1].descriptors],
        "samples": [list(sample) for sample in samples[:: max(1, len(samples) // 60)]],
    }


def rollout(episodes: int, num_envs: int, seed: int, stats: RolloutStats | None = None) -> Any:
    """Begin the run that is measured, or one like it."""
    return gem.rollout(
        answer,
        SPEC,
        episodes=episodes,
        seed=seed,
        concurrency=num_envs,
        backend="process",
        num_workers=WORKERS,
        step_timeout_s=STEP_TIMEOUT_S,
        backend_options={"most_memory_bytes": MOST_MEMORY_BYTES},
        stats=stats,
    )


async def episodes_per_s(num_envs: int, seed: int) -> float:
    """Return how many episodes end in a second, between the first and the last of a short run."""
    times = [time.monotonic() async for _ in rollout(2 * num_envs, num_envs, seed)]
    half = len(times) // 4, len(times) * 3 // 4
    return (half[1] - half[0]) / (times[half[1]] - times[half[0]])


async def played_again(kept: dict[PlannedEpisode, str]) -> int:
    """Return how many of these episodes are the same when played here, one after the other."""
    again = gem.rollout(answer_at_once, SPEC, plan=list(kept), concurrency=1)
    places = {place.episode_index: fingerprint for place, fingerprint in kept.items()}
    return sum([episode.fingerprint() == places[episode.episode_index] async for episode in again])


@asynccontextmanager
async def sampled(samples: list[Sample], ledger: Ledger, minutes: float) -> Any:
    """Read the memory once a second meanwhile, and show how far the run is."""
    task = asyncio.ensure_future(_sample(samples, ledger, minutes))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _sample(samples: list[Sample], ledger: Ledger, minutes: float) -> None:
    began = time.monotonic()
    shown_at = 0.0
    while True:
        now = time.monotonic() - began
        others = [own_mib(process) for process in descendants()]
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        samples.append(Sample(now / 60, own_mib(os.getpid()), sum(others), descriptors))
        if sys.stderr.isatty() or now - shown_at >= 30:
            shown_at = now
            show(samples[-1], ledger, minutes)
        await asyncio.sleep(1)


def own_mib(process: int) -> float:
    """Return a process's anonymous memory, forked pages in part; 0 where it has just ended.

    Mapped files are left out: what of a library counts depends on who else on the machine has it.
    """
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:")) / 1024


def show(sample: Sample, ledger: Ledger, minutes: float) -> None:
    """Write a line of progress."""
    print(
        f"{sample.minutes:.1f} of about {minutes:g} min: {ledger.played:,} of {ledger.planned:,} "
        f"episodes, {ledger.injected.total():,} faults, {sample.parent_mib:.0f} and "
        f"{sample.workers_mib:.0f} MiB",
        end="\r" if sys.stderr.isatty() else "\n",
        file=sys.stderr,
        flush=True,
    )


def figures(samples: Sequence[Sample], name: str) -> dict[str, float]:
    """Return medians of the second half's first and last quarter, and the slope over it."""
    points = list(_second_half(samples, name))
    part = max(1, len(points) // 4)
    minutes, values = zip(*points, strict=True)
    slope = linear_regression(minutes, values).slope if len(points) > 1 else 0.0
    return {
        "at_half": round(median(values[:part]), 2),
        "at_end": round(median(values[-part:]), 2),
        "most": round(max(getattr(sample, name) for sample in samples), 2),
        "slope_mib_a_minute": round(slope, 3),
    }


def _second_half(samples: Sequence[Sample], name: str) -> Iterator[tuple[float, float]]:
    for sample in samples[len(samples) // 2 :]:
        yield sample.minutes, getattr(sample, name)


def report(results: dict[str, Any]) -> None:
    """Print the figures."""
    faults = results["faults"]
    stats = results["stats"]
    kinds = ", ".join(f"{kind} {number}" for kind, number in faults.items())
    equal = f"{results['equal']} of {results['compared']} played again are the same"
    print(f"{stats['elapsed_s'] / 60:.1f} minutes, {results['envs']} environments")
    print(f"{results['played']:,} of {results['planned']:,} episodes came, {results['lost']} lost")
    print(f"{sum(faults.values()):,} faults ({kinds}), {results['errors']:,} episodes ended by one")
    print(f"{len(results['wrong'])} wrong, {equal}")
    print(f"{stats['steps_per_s']:,.0f} steps/s, {stats['episodes_per_s']:,.0f} episodes/s")
    print(f"{'memory, MiB':<14} {'at half':>9} {'at end':>9} {'most':>9} {'slope a minute':>15}")
    for name, row in results["memory"].items():
        cells = "{at_half:>9.1f} {at_end:>9.1f} {most:>9.1f} {slope_mib_a_minute:>15.3f}"
        print(f"{name.partition('_')[0]:<14} {cells.format(**row)}")
    for line in results["wrong"]:
        print(line)
    print("nothing was lost" if results["holds"] else "DOES NOT HOLD")


if __name__ == "__main__":
    sys.exit(main())

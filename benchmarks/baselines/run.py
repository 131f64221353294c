"""Train the arms of the experiments that have no result yet, the first seed of all before the next.

Run it with `python benchmarks/baselines/run.py [EXPERIMENT ...] [--processes N] [--max-minutes M]`.
It may be killed and run again at any moment, and two of them share the work: what is done is done.
Results go into benchmarks/baselines/results, a line an arm; commit them as they come. An arm whose
settings were changed is trained again. First of all come the arms of `a_tuning`: all others take
the learning rates that it decides. `--list` says how much is done, `--prune` drops lines of arms
that are no longer there.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from multiprocessing import get_context, parent_process
from pathlib import Path

# The parts are modules, here and in the processes that are started.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.baselines.arms import EXPERIMENTS, TUNING, Arm, arms_of, is_tuned, read
from benchmarks.baselines.progress import left
from benchmarks.baselines.records import Results, claimed

from gem.errors import GemError


def main() -> int:
    """Train what is left to train, in some processes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=", ".join(EXPERIMENTS))
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--max-minutes", type=float, default=None, metavar="M")
    parser.add_argument("--list", action="store_true", help="say how much is done, and end")
    parser.add_argument("--prune", action="store_true", help="drop what is stale, and end")
    options = parser.parse_args()
    for name in options.experiments:
        if name not in EXPERIMENTS:
            parser.error(f"There is no experiment {name!r}: take of {', '.join(EXPERIMENTS)}.")
    names = options.experiments or list(EXPERIMENTS)
    if options.list or options.prune:
        for name in names:
            print(_pruned(name) if options.prune else _done(name))
        return 0
    minutes = options.max_minutes
    until = None if minutes is None else time.time() + 60 * minutes
    status = _worked(names, until, options.processes)
    for name in names:
        print(_done(name))
    return status


def _worked(names: list[str], until: float | None, processes: int) -> int:
    """Work in this process, or in several that end with it. Returns a status to exit with."""
    if processes == 1:
        work(names, until)
        return 0
    # A plain end by a signal would leave the others at work: they end where this one exits.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    spawning = get_context("spawn")
    workers = [
        spawning.Process(target=work, args=(names, until), daemon=True) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return max(abs(worker.exitcode or 0) for worker in workers)


def ordered(names: list[str]) -> list[Arm]:
    """Return all arms in the order in which they are trained.

    The first seed of all experiments comes first, so that a part of the work says something of each
    question. What is marked as `last`, because it takes long, comes after all else.
    """
    arms = [arm for name in names for arm in arms_of(name)]
    names = sorted(names)
    lasts = {name for name in names if read(name).get("last", False)}
    # Python's sort keeps the order of equals: experiments by name, arms as their file has them.
    return sorted(arms, key=lambda arm: (arm.experiment in lasts, arm.seed))


def work(names: list[str], until: float | None) -> None:
    """Train one arm after another until none is left or the time is over."""
    if not is_tuned():
        # All else waits for the learning rates, also for those that another process finds.
        while _train(ordered([TUNING]), until) and not is_tuned():
            time.sleep(5)
    if is_tuned():
        _train(ordered(names), until)


def _train(arms: list[Arm], until: float | None) -> bool:
    """Train what is not done of these. Returns whether there is time for more.

    An arm that cannot be trained holds up no other: once all others are done it ends the process.
    """
    from benchmarks.baselines.training_arm import trained  # heavy: torch

    failed = []
    for number, arm in enumerate(arms, start=1):
        parent = parent_process()
        is_alone = parent is not None and not parent.is_alive()
        if is_alone or (until is not None and time.time() > until):
            return False
        results = Results(arm.experiment)
        if arm.digest in results.lines():
            continue
        with claimed(arm) as is_free:
            # Asked again: it may have been done between the first look and the claim.
            if not is_free or arm.digest in results.lines():
                continue
            try:
                line = trained(arm)
            except GemError as error:
                failed.append(f"{arm.experiment} {arm.task} {arm.name} seed {arm.seed}: {error}")
                continue
            results.add(line)
        print(f"{number}/{len(arms)} {_summary(arm, line)}", flush=True)
    if failed:
        sys.exit("\n".join([f"{len(failed)} arms cannot be trained:", *failed]))
    return True


def _summary(arm: Arm, line: dict[str, object]) -> str:
    summary = f"{arm.experiment} {arm.task} {arm.name} seed {arm.seed}: {line['cpu_s']} CPU s"
    final = line.get("final")
    if isinstance(final, dict):
        drawn = final["drawn"]
        summary += f", success {drawn['success']:.2f}, {drawn['turns']:.2f} turns"
    return summary


def _done(name: str) -> str:
    arms = arms_of(name)
    lines = Results(name).of(arms)
    seconds = sum(line["cpu_s"] for line in lines)
    longest = max((line["cpu_s"] for line in lines), default=0)
    return (
        f"{name:14}{len(lines):5} of {len(arms)} arms, {seconds / 3600:.2f} CPU hours, the longest "
        f"{longest:.0f} s, {left(arms, lines)}"
    )


def _pruned(name: str) -> str:
    return f"{name}: {Results(name).keep(arms_of(name))} stale lines dropped"


if __name__ == "__main__":
    sys.exit(main())

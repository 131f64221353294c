"""Plant bugs in the trainer and see whether the doctor names them; and let it look at healthy runs.

Run it with `python benchmarks/doctor.py [--only NAME] [--processes N]`: about five minutes on two
cores. Each bug of `doctor_parts` is planted in the shipped source of a process of its own,
which then trains for 50 updates; it counts as found where a check names it that is there for it.
The healthy trainings are of all estimators, both policies and three games. It prints a line
a training, writes benchmarks/results/doctor.json, and exits with status 1 where fewer than nine in
ten bugs are found, a healthy run has a finding that is no note, or a look takes a minute.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# The root is where `benchmarks` is found, here and by a type checker.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.doctor_parts.bugs import BUGS
from benchmarks.doctor_parts.planting import Bug, plant, unplantable
from benchmarks.doctor_parts.tasks import HEALTHY, TASKS

RESULTS = Path(__file__).parent / "results" / "doctor.json"
SOURCE = Path(__file__).parents[1] / "gem-baselines" / "src" / "gem_baselines"
LEAST_FOUND = 0.9
MOST_CPU_S = 60.0


def main() -> int:
    """Train all, look at all, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="NAME", help="those whose name begins so")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), metavar="N")
    options = parser.parse_args()
    unfit = unplantable(BUGS, SOURCE)
    if unfit:
        print("\n".join(unfit))
        return 1
    jobs: list[tuple[str, Bug | None, int]] = [(bug.name, bug, 0) for bug in BUGS]
    jobs += [(f"healthy {place + 1}", None, place) for place in range(len(HEALTHY))]
    jobs = [job for job in jobs if job[0].startswith(options.only)]
    spawning = multiprocessing.get_context("spawn")
    rows = []
    # A process each: what is planted in one stays there.
    with spawning.Pool(options.processes, maxtasksperchild=1) as pool:
        for row in pool.imap(looked_at, jobs):
            print(_line(row), flush=True)
            rows.append(row)
    problems = missed(rows)
    if not options.only:
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    bugs = [row for row in rows if row["kind"] == "bug"]
    healthy = [row for row in rows if row["kind"] == "healthy"]
    print(
        f"{sum(row['found'] for row in bugs)} of {len(bugs)} bugs found, "
        f"{sum(bool(row['findings']) for row in healthy)} alarms in {len(healthy)} healthy runs, "
        f"at most {max(row['look_cpu_s'] for row in rows):.1f} CPU s a look."
    )
    print("\n".join(problems) or "All is reached.")
    return 1 if problems else 0


def looked_at(job: tuple[str, Bug | None, int]) -> dict[str, Any]:
    """Train one, let the doctor look at it, and return what it says.

    No module of the doctor, and none that it imports, has a bug planted.
    """
    name, bug, place = job
    if bug is None:
        task, settings = HEALTHY[place]
    else:
        task, settings = bug.task, bug.settings
        plant(bug.changes)
    since = time.process_time()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "run")
        _train(task, settings, folder)
        trained_s = time.process_time() - since
        since = time.process_time()
        found = _diagnosed(folder)
        look_s = time.process_time() - since
    alarms = [each for each in found["findings"] if each["severity"] != "note"]
    checks = sorted({each["check"] for each in alarms})
    return {
        "name": name,
        "kind": "healthy" if bug is None else "bug",
        "words": f"{task} {json.dumps(dict(settings))}" if bug is None else bug.words,
        "task": task,
        "findings": checks,
        "found": bug is not None and bool(set(checks) & set(bug.checks)),
        "sentences": [each["sentence"] for each in alarms],
        "train_cpu_s": round(trained_s, 1),
        "look_cpu_s": round(look_s, 2),
    }


def _train(task: str, settings: Mapping[str, Any], folder: Path) -> None:
    from gem_baselines.training import Experiment, train
    from gem_baselines.training.experiment import set_values

    assignments = [f"{name}={json.dumps(value)}" for name, value in settings.items()]
    train(Experiment.of(set_values(TASKS[task], assignments)), folder)


def _diagnosed(folder: Path) -> dict[str, Any]:
    from gem_baselines.doctor.diagnosis import diagnosed
    from gem_baselines.doctor.reading import read_training

    return diagnosed(read_training(folder)).to_json()


def _line(row: Mapping[str, Any]) -> str:
    verdict = "found" if row["found"] else "missed"
    if row["kind"] == "healthy":
        verdict = "ALARM" if row["findings"] else "healthy"
    return f"{verdict:8}{row['name']:32}{', '.join(row['findings']) or 'nothing'}"


def missed(rows: list[dict[str, Any]]) -> list[str]:
    """Say what was not reached."""
    problems = []
    bugs = [row for row in rows if row["kind"] == "bug"]
    found = sum(row["found"] for row in bugs)
    if bugs and found < LEAST_FOUND * len(bugs):
        problems.append(f"{found} of {len(bugs)} bugs are found, fewer than nine in ten.")
    for row in rows:
        if row["kind"] == "healthy" and row["findings"]:
            problems.append(f"{row['name']} ({row['words']}): {'; '.join(row['sentences'])}")
        if row["look_cpu_s"] > MOST_CPU_S:
            problems.append(f"{row['name']}: a look takes {row['look_cpu_s']:.0f} CPU s.")
    return problems


if __name__ == "__main__":
    sys.exit(main())

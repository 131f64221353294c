"""Measure the memory of many environments over one data set, against that of one.

Run it with `python benchmarks/shared_table.py [--envs N] [--megabytes M]` where gem-envs-math's
extra `data` is installed; Linux only. It generates a table of problems, lets a process of its own
write it as Arrow, and measures in another one: after the import, with one environment, and with
all of them, each of which has played and every row of the table read. Anonymous memory is what
environments hold themselves; file memory is the mapped table, which the system can drop. The
results go to benchmarks/results/shared_table.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gem

RESULTS = Path(__file__).parent / "results" / "shared_table.json"
KIB = 1024
FIELDS = {"Pss_Anon": "anonymous_kib", "Pss_File": "file_kib"}


def main() -> None:
    """Measure, or, in a process that this script started, measure once and print it as JSON."""
    parser = argparse.ArgumentParser(description="Measure memory over one shared table.")
    parser.add_argument("--envs", type=int, default=1024)
    parser.add_argument("--megabytes", type=int, default=40)
    parser.add_argument("--measure", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure, options.envs)))
        return
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.jsonl"
        write_table(table, options.megabytes * 10**6)
        command = [sys.executable, __file__, "--measure", str(table), "--envs"]
        run(command, 1, folder)  # writes the Arrow file that the other process maps
        phases = run(command, options.envs, folder)
        size = table.stat().st_size
    report(phases, options.envs, size)


def write_table(path: Path, size: int) -> None:
    """Write problems of about a kilobyte each until the file has `size` bytes."""
    filler = "Mind that nothing else in this text has any bearing on the answer. " * 15
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < size:
            problem = f"{number}. {filler}What is {number} plus {number + 1}?"
            file.write(json.dumps({"problem": problem, "answer": 2 * number + 1}) + "\n")
            number += 1


def run(command: list[str], num_envs: int, folder: str) -> list[dict[str, float]]:
    """Measure in a process of its own, with its own cache folder."""
    done = subprocess.run(
        [*command, str(num_envs)],
        env={**os.environ, "HF_HOME": folder},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    phases: list[dict[str, float]] = json.loads(done.stdout)
    return phases


def measured(path: str, num_envs: int) -> list[dict[str, float]]:
    """Return memory after the import, with one environment, and with all of them."""
    import datasets  # noqa: F401 - its own cost, paid before the first environment

    phases = [memory(0, 0.0)]
    envs: list[gem.Env] = []
    for wanted in (1, num_envs):
        start = time.perf_counter()
        envs += [gem.make("math:GSM8K", data=path) for _ in range(wanted - len(envs))]
        made_s = time.perf_counter() - start
        for task in range(max(wanted, envs[0].num_tasks or 0)):  # every environment, every row
            env = envs[task % wanted]
            env.reset(seed=task, task=task % (env.num_tasks or 1))
            assert env.step(str(env.solve())).reward == 1.0
        phases.append(memory(wanted, made_s))
    return phases


def memory(num_envs: int, made_s: float) -> dict[str, float]:
    """Return this process's memory by kind; pages that processes share count in part."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    values = {name: int(rest.split()[0]) for name, _, rest in (x.partition(":") for x in lines[1:])}
    kinds = {label: values[name] for name, label in FIELDS.items()}
    return {"envs": num_envs, "made_s": round(made_s, 4), **kinds}


def report(phases: list[dict[str, float]], num_envs: int, size: int) -> None:
    """Print the figures and keep them."""
    _, one, every = phases
    grown = (every["anonymous_kib"] - one["anonymous_kib"]) * KIB
    results = {
        "command": "python benchmarks/shared_table.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "table_bytes": size,
        "phases": phases,
        "bytes_per_further_env": round(grown / max(1, num_envs - 1)),
        "further_envs_over_table": round(grown / size, 4),
    }
    print(f"{'environments':>12} {'anonymous MiB':>14} {'file MiB':>9} {'made in s':>10}")
    for phase in phases:
        kinds = (phase[kind] / KIB for kind in FIELDS.values())
        print("{:>12} {:>14.1f} {:>9.1f} {:>10.3f}".format(phase["envs"], *kinds, phase["made_s"]))
    further = results["bytes_per_further_env"]
    print(f"A further environment costs {further} bytes; the table has {size}.")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

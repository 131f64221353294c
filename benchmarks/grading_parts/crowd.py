"""What many mathematical environments hold, in a process of its own that prints it as JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROWS = [{"problem": f"What is gcd({n}, 6)?", "answer": rf"\gcd({n}, 6)"} for n in range(1, 101)]


def main() -> None:
    """Make one environment, then as many as argv says; all of them play, and ask math-verify."""
    import gem
    from gem_envs_math.judging import pool

    folder = tempfile.TemporaryDirectory()
    table = Path(folder.name) / "rows.jsonl"
    table.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    envs: list[Any] = []
    replies = {}
    for name, count in (("one", 1), ("all", int(sys.argv[1]))):
        envs += [gem.make("math:Math12K", data=str(table)) for _ in range(count - len(envs))]
        for at, env in enumerate(envs):
            env.reset(task=at % len(ROWS))
            env.step(rf"\boxed{{\gcd(6, {at % len(ROWS) + 1})}}")
        facts = pool.stats()
        replies[name] = {
            "own_kib": pss_kib("self"),
            "grader_kib": sum(map(pss_kib, (facts["server"], *facts["workers"]))),
            "workers": len(facts["workers"]),
        }
    folder.cleanup()
    print(json.dumps(replies))


def pss_kib(process: int | str) -> int:
    """Return the memory of a process, of shared pages its share."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    main()

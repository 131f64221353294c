"""Count the machine's instructions of an episode or a step, beside other checkouts.

Run it with `python benchmarks/instructions.py [--beside CHECKOUT ...]`; it needs valgrind. What
other programs do meanwhile changes nothing, so two versions can be compared to half a percent on
a busy machine. Counted is a whole process that plays much less one that plays little, with the
garbage collector off and the hashes of texts fixed, so that imports and what is made once are
left out. Of environments in worker processes the parent's part is counted; it depends a little on
when answers come. With `--pairs N` the figures are medians of N, with the least and the most.

`--beside` counts the same of another checkout of this repository, which is called by its folder's
name, and says how much more this one takes. With it and without `--quick` or `--only` the figures
go to benchmarks/results/instructions.json. What is played here works on every commit since
`gem.make_vec` has had backends.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import gem

HERE = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).parent / "results" / "instructions.json"
PACKS = ("gem-core", "gem-envs-games")
GAME = "game:GuessTheNumber-v0"
COUNTER_TURNS = 50
NUM_ENVS = 64
OURS = "now"
QUICK = "rollout of a game, at most 6 turns"
# Of its tools the one that only counts is the quickest.
VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


class Counter(gem.Env):
    """Counts its turns, so that what is left is ours."""

    max_turns = COUNTER_TURNS

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.count = 0
        return "Count.", {}

    def step(self, action: str) -> gem.Step:
        self.count += 1
        return gem.Step("Go on.", 1.0, False, self.count >= COUNTER_TURNS, {})


# By this module's name, and not by `__main__`: worker processes import it.
SPEC = gem.EnvSpec(id="instructions:Counter", target="instructions:Counter", blocking=False)


class Case(NamedTuple):
    """What is counted: two amounts of it, whose difference is divided by what it has more."""

    unit: str
    play: Callable[[int, int], None]
    size: int
    """The most turns of an episode, or how many environments, as `play` takes it."""
    little: int
    much: int


def guess(turn: int) -> str:
    """Return the action of a turn: numbers from 1 upwards, by threes."""
    return f"\\boxed{{{3 * turn + 1}}}"


def play_rollout(episodes: int, turns: int) -> None:
    """Play episodes of a game by `gem.rollout`, all of them at once."""
    asyncio.run(_roll_out(GAME, episodes, max_turns=turns))


def play_rollout_of_64(episodes: int, turns: int) -> None:
    """Play episodes of the counter, 64 in flight."""
    asyncio.run(_roll_out(SPEC, episodes, max_turns=turns, concurrency=NUM_ENVS))


def play_rollout_at_once(episodes: int, turns: int) -> None:
    """Play episodes of the counter, all of them in flight at once."""
    asyncio.run(_roll_out(SPEC, episodes, max_turns=turns, concurrency=episodes))


def play_rollout_in_workers(episodes: int, turns: int) -> None:
    """Play episodes of the counter in two worker processes, 64 in flight."""
    options = {"backend": "process", "num_workers": 2, "concurrency": NUM_ENVS}
    asyncio.run(_roll_out(SPEC, episodes, max_turns=turns, **options))


async def _roll_out(env: Any, episodes: int, **options: Any) -> None:
    def policy(request: gem.Request) -> str:
        return guess(request.turn)

    async for episode in gem.rollout(policy, env, episodes=episodes, seed=0, **options):
        assert not episode.is_error, episode.error


def play_episodes(episodes: int, turns: int) -> None:
    """Play episodes of a game by `reset` and `step`."""
    env = gem.make(GAME)
    for seed in range(episodes):
        env.reset(seed=seed)
        for turn in range(turns):
            step = env.step(guess(turn))
            if step.terminated or step.truncated:
                break


def play_steps(steps: int, turns: int) -> None:
    """Step one environment that `gem.make` made; a reset follows after so many turns."""
    env = gem.make(SPEC)
    for _ in range(steps // turns):
        env.reset()
        for _ in range(turns):
            env.step("one")


def play_vector(steps: int, num_envs: int) -> None:
    """Step so many environments in lock-step, in this thread."""
    _step_vector(steps, num_envs, backend="sync")


def play_vector_in_workers(steps: int, num_envs: int) -> None:
    """Step so many environments in lock-step, in two worker processes."""
    _step_vector(steps, num_envs, backend="process", num_workers=2)


def _step_vector(steps: int, num_envs: int, **options: Any) -> None:
    envs = gem.make_vec(SPEC, num_envs=num_envs, seed=0, **options)
    envs.reset()
    actions = ["one"] * num_envs
    for _ in range(steps // num_envs):
        envs.step(actions)
    envs.close()


CASES = {
    "guarded step": Case("step", play_steps, COUNTER_TURNS, 5_000, 155_000),
    "step in SyncVectorEnv of 64": Case("step", play_vector, NUM_ENVS, 3_200, 99_200),
    "rollout of 64 in flight, 10 turns": Case("episode", play_rollout_of_64, 10, 64, 1_024),
    "rollout of 4,096 in flight, 2 turns": Case("episode", play_rollout_at_once, 2, 64, 4_096),
    "vector of 64 in 2 workers, parent": Case(
        "step", play_vector_in_workers, NUM_ENVS, 3_200, 48_000
    ),
    "rollout of 64 in 2 workers, 10 turns, parent": Case(
        "episode", play_rollout_in_workers, 10, 64, 640
    ),
    "rollout of a game, at most 2 turns": Case("episode", play_rollout, 2, 20, 1_020),
    QUICK: Case("episode", play_rollout, 6, 20, 820),
    "rollout of a game, at most 50 turns": Case("episode", play_rollout, 50, 20, 420),
    "reset and steps of a game, at most 50": Case("episode", play_episodes, 50, 20, 2_020),
}
"""What is counted. The difference is about a thousand million instructions, which a start is too:
of that some millions differ from run to run."""


def installed(checkout: Path, folder: Path) -> Path:
    """Make a virtual environment with core and the games of a checkout; return its Python.

    Nothing else is in it: packs of this checkout, with their hooks, do not fit an older core.
    """
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    packs = [str(checkout / pack) for pack in PACKS]
    pip = [str(python), "-m", "pip", "install", "--quiet", "-c", str(HERE / "constraints.txt")]
    subprocess.run([*pip, *packs, "numpy"], check=True)
    return python


def counted(python: Path, name: str, amount: int) -> int:
    """Return the instructions of a process that plays so much of a case."""
    # Worker processes import this module from its folder.
    environ = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(Path(__file__).parent)}
    played = [str(python), __file__, "--play", name, str(amount)]
    # Once without valgrind: the first process that imports a module writes its compiled form.
    subprocess.run(played, env=environ, check=True)
    under = [*VALGRIND, *played]
    done = subprocess.run(under, env=environ, check=True, capture_output=True, text=True)
    # The workers that it starts are programs of their own, which valgrind does not follow.
    [number] = re.findall(r"I +refs: +([\d,]+)", done.stderr)
    return int(number.replace(",", ""))


def measured(name: str, pythons: Mapping[str, Path], *, pairs: int, jobs: int) -> dict[str, Any]:
    """Count a case by each Python, ours first, print a line, and return its row."""
    case = CASES[name]
    tasks = [
        (python, name, amount)
        for python in pythons.values()
        for amount in (case.little, case.much) * pairs
    ]
    # Side by side: the counts do not depend on it.
    with ThreadPoolExecutor(jobs) as pool:
        counts = list(pool.map(lambda task: counted(*task), tasks))
    a_unit = [
        (much - little) / (case.much - case.little)
        for little, much in zip(counts[::2], counts[1::2], strict=True)
    ]
    rows = {
        checkout: figures(a_unit[number * pairs : (number + 1) * pairs])
        for number, checkout in enumerate(pythons)
    }
    now = rows.pop(OURS)
    line = f"{name:<45} {now['median']:>11,.0f} instructions of a {case.unit}"
    for checkout, row in rows.items():
        row["more"] = round(now["median"] / row["median"] - 1, 4)
        line += f"; {checkout} {row['median']:,.0f}: {row['more']:+.1%}"
    print(line, flush=True)
    return {"case": name, "unit": case.unit, OURS: now, "beside": rows}


def figures(counts: list[float]) -> dict[str, float]:
    """Return the median of the pairs, and where there are several the least and the most."""
    median = {"median": round(statistics.median(counts), 1)}
    if len(counts) == 1:
        return median
    return {**median, "least": round(min(counts), 1), "most": round(max(counts), 1)}


def main() -> None:
    """Print a line for each case, and keep the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--beside", type=Path, action="append", default=[], metavar="CHECKOUT",
        help="another checkout; may be given several times",
    )  # fmt: skip
    parser.add_argument("--only", action="append", choices=list(CASES), help="a case by name")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK!r} alone")
    parser.add_argument("--pairs", type=int, default=1, help="how often each is counted")
    parser.add_argument("--jobs", type=int, default=2, help="how many are counted at once")
    parser.add_argument("--play", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        name, amount = options.play
        # As a pack's is, it is known by its id: of what only a module names, every record has the
        # digest of the module's file, which is looked at again.
        gem.register(SPEC)
        gc.disable()  # cycles of garbage stay until the process ends, which frees them
        CASES[name].play(int(amount), CASES[name].size)
        return
    if shutil.which("valgrind") is None:
        print("Nothing was counted: valgrind is not installed. Install it with the system's tools.")
        return
    names = options.only or ([QUICK] if options.quick else list(CASES))
    with tempfile.TemporaryDirectory(prefix="instructions-") as temporary:
        checkouts = {OURS: HERE, **{path.resolve().name: path for path in options.beside}}
        pythons = {
            name: installed(checkout, Path(temporary) / name)
            for name, checkout in checkouts.items()
        }
        rows = [measured(name, pythons, pairs=options.pairs, jobs=options.jobs) for name in names]
    if options.beside and names == list(CASES):
        facts = {"python": platform.python_version(), "machine": platform.machine(), "rows": rows}
        RESULTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

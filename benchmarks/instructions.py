"""Count the machine's instructions of an episode: of a rollout, and of the steps alone.

Run it with `python benchmarks/instructions.py [--beside CHECKOUT]`; it needs valgrind. What other
programs do meanwhile changes nothing, so two versions can be compared to half a percent on a busy
machine. Counted is a whole process that plays 60 episodes less one that plays 20, with the garbage
collector off and the hashes of texts fixed. `--beside` counts the same of another checkout of this
repository and says how much more this one takes.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import gem

HERE = Path(__file__).resolve().parent.parent
PACKS = ("gem-core", "gem-envs-games")
GAME = "game:GuessTheNumber-v0"
FEW = 20
MANY = 60
CASES = {
    "rollout, at most 2 turns": ("rollout", 2),
    "rollout, at most 6 turns": ("rollout", 6),
    "rollout, at most 50 turns": ("rollout", 50),
    "steps alone, at most 50": ("steps", 50),
}


def guess(turn: int) -> str:
    """Return the action of a turn: numbers from 1 upwards, by threes."""
    return f"\\boxed{{{3 * turn + 1}}}"


async def play_rollout(episodes: int, turns: int) -> None:
    """Play episodes by `gem.rollout`, all of them at once."""

    def policy(request: gem.Request) -> str:
        return guess(request.turn)

    rollout = gem.rollout(policy, GAME, episodes=episodes, seed=0, max_turns=turns)
    async for episode in rollout:
        assert not episode.is_error, episode.error


def play_steps(episodes: int, turns: int) -> None:
    """Play episodes by `reset` and `step`."""
    env = gem.make(GAME)
    for seed in range(episodes):
        env.reset(seed=seed)
        for turn in range(turns):
            step = env.step(guess(turn))
            if step.terminated or step.truncated:
                break


def play(kind: str, episodes: int, turns: int) -> None:
    """Play what is counted. Cycles of garbage stay until the process ends, which frees them."""
    gc.disable()
    if kind == "rollout":
        asyncio.run(play_rollout(episodes, turns))
    else:
        play_steps(episodes, turns)


def counted(checkout: Path, kind: str, episodes: int, turns: int) -> int:
    """Return the instructions of a process that plays so many episodes."""
    sources = [str(checkout / pack / "src") for pack in PACKS]
    environ = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(sources)}
    played = [sys.executable, __file__, "--play", kind, str(episodes), str(turns)]
    # Once without valgrind: the first process that imports a module writes its compiled form.
    subprocess.run(played, env=environ, check=True)
    under = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *played]
    done = subprocess.run(under, env=environ, check=True, capture_output=True, text=True)
    [number] = re.findall(r"Collected : (\d+)", done.stderr)
    return int(number)


def an_episode(checkout: Path, kind: str, turns: int) -> float:
    """Return the instructions of one episode."""
    few = counted(checkout, kind, FEW, turns)
    return (counted(checkout, kind, MANY, turns) - few) / (MANY - FEW)


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="another checkout")
    parser.add_argument("--quick", action="store_true", help="the second case alone")
    parser.add_argument("--play", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        kind, episodes, turns = options.play
        play(kind, int(episodes), int(turns))
        return
    if shutil.which("valgrind") is None:
        print("Nothing was counted: valgrind is not installed. Install it with the system's tools.")
        return
    names = list(CASES)[1:2] if options.quick else list(CASES)
    for name in names:
        ours = an_episode(HERE, *CASES[name])
        line = f"{name:<26} {ours:>11,.0f} instructions an episode"
        if options.beside is not None:
            beside = an_episode(options.beside.resolve(), *CASES[name])
            line += f", beside {beside:,.0f}: {ours / beside - 1:+.1%}"
        print(line, flush=True)


if __name__ == "__main__":
    main()

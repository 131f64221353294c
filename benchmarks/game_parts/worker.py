"""Measure games in one process, as told on standard input; `benchmarks/games.py` starts it.

Runs under any Python that can import a package called `gem`, this project's or gem-llm's, and
imports nothing else but the standard library. Each line read is a JSON object with the name of
a task and its arguments; each line written is its result, or {"error": ...}. Times are of CPU.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import statistics
import sys
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import gem

FORMAT_ERROR = -0.1  # published, and the same in both packages
MOST_TURNS = 2000
ActionMix = dict[str, list[str]]


def ids(pattern: str) -> list[str]:
    """List the environments of this project that match."""
    return [spec.id for spec in gem.list_envs(pattern)]


def probe(id: str, actions: list[str]) -> None:
    """Raise what keeps this id from being played."""
    env = gem.make(id)
    env.reset(seed=0)
    for _ in steps(env, actions):
        pass


def mix(id: str, actions: list[str]) -> dict[str, int]:
    """Count what became of the actions: malformed in either package, refused in ours."""
    counts = {"malformed": 0, "refused": 0, "episodes": 0}
    for _, reward, terminated, truncated, info in steps(gem.make(id), actions):
        counts["malformed"] += bool(terminated) and reward == FORMAT_ERROR
        counts["refused"] += info.get("action_error") == "invalid"
        counts["episodes"] += bool(terminated or truncated)
    return counts


def steps(env: Any, actions: list[str]) -> Iterator[Any]:
    """Step through the actions, with a reset where an episode ends."""
    seeds = itertools.count()
    is_over = True
    for action in actions:
        if is_over:
            env.reset(seed=next(seeds))
        step = env.step(action)
        is_over = step[2] or step[3]
        yield step


def time_steps(id: str, actions: list[str]) -> float:
    """Return seconds a step: the actions one after another, resets left out of the time."""
    env = gem.make(id)
    step = env.step
    ahead = iter(actions)
    seeds = itertools.count()
    spent = 0.0
    blocks = 0
    is_going = True
    while is_going:
        env.reset(seed=next(seeds))
        is_going = False
        blocks += 1
        start = process_time()
        for action in ahead:
            _, _, terminated, truncated, _ = step(action)
            if terminated or truncated:
                is_going = True
                break
        spent += process_time() - start
    return (spent - blocks * clock_cost()) / len(actions)


def time_sampled_steps(id: str, count: int) -> float:
    """Return seconds a step over episodes that `sample_action` played before the time."""
    env = gem.make(id)
    step = env.step
    spent = 0.0
    taken = 0
    for seed in itertools.count():
        if taken >= count:
            break
        actions = list(sampled(env, seed))
        env.reset(seed=seed)
        start = process_time()
        for action in actions:
            step(action)
        spent += process_time() - start - clock_cost()
        taken += len(actions)
    return spent / taken


def sampled(env: Any, seed: int) -> Iterator[str]:
    """Play an episode by `sample_action`, and yield what it answered."""
    env.reset(seed=seed)
    for _ in range(MOST_TURNS):
        action: str = env.sample_action()
        yield action
        if any(env.step(action)[2:4]):
            return


def time_resets(id: str, first: int, count: int, least: int, budget_s: float) -> list[float]:
    """Return milliseconds of each reset; under `count` of them where the budget is spent."""
    env = gem.make(id)
    times = list[float]()
    spent = 0.0
    for seed in range(first, first + count):
        start = process_time()
        env.reset(seed=seed)
        spent += (seconds := process_time() - start)
        times.append(seconds * 1e3)
        if spent > budget_s and len(times) >= least:
            break
    return times


def state(id: str, episodes: int, repeats: int) -> dict[str, float]:
    """Return the largest snapshot's bytes beyond the generator's, and the time it takes there.

    One episode in ten is played by `solve`, where it answers, the others by `sample_action`.
    """
    env = gem.make(id)
    most = -1
    worst = env
    for seed in range(episodes):
        env.reset(seed=seed)
        for _ in range(MOST_TURNS):
            size = bytes_beyond_generator(env.snapshot())
            if size > most:
                most = size
                worst = env.fork()
            action = (None if seed % 10 else env.solve()) or env.sample_action()
            if any(env.step(action)[2:4]):
                break
    return {"bytes": most, "us": 1e6 * statistics.median(save_and_restore(worst, repeats))}


def bytes_beyond_generator(snapshot: Any) -> int:
    """Return how long a snapshot is as JSON, the spec included, the generator's state not."""
    generator = json.dumps(snapshot.state.get("rng"), separators=(",", ":"))
    return len(snapshot.to_json()) - len(generator)


def save_and_restore(env: Any, repeats: int) -> Iterator[float]:
    """Yield the seconds of a snapshot and a restore, many times."""
    cost = clock_cost()
    for _ in range(repeats):
        start = process_time()
        env.restore(env.snapshot())
        yield process_time() - start - cost


def clock_cost() -> float:
    """Return the seconds that an empty pair of readings of the clock shows."""
    pairs = ((process_time(), process_time()) for _ in range(25))
    return statistics.median(after - before for before, after in pairs)


TASKS: dict[str, Callable[..., Any]] = {
    task.__name__: task
    for task in (ids, probe, mix, time_steps, time_sampled_steps, time_resets, state)
}


def answer(line: str, actions: ActionMix) -> dict[str, Any]:
    """Do one task. Whatever a game raises is an answer."""
    call = json.loads(line)
    task = TASKS[call["task"]]
    arguments = call["arguments"]
    if "actions" in arguments:  # the number of them to take
        arguments["actions"] = actions[arguments["id"]][: arguments["actions"]]
    try:
        return {"result": task(**arguments)}
    except Exception as error:  # noqa: BLE001 - a line of the report
        return {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"}


def main() -> None:
    """Answer until the input ends. Anything that a package prints goes to stderr."""
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - says its own name in errors
        actions: ActionMix = json.load(file)
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    gc.collect()
    gc.freeze()  # so that a collection costs what the game holds, not what its package imports
    with contextlib.suppress(BrokenPipeError):
        for line in sys.stdin:
            print(json.dumps(answer(line, actions)), file=replies, flush=True)


if __name__ == "__main__":
    main()

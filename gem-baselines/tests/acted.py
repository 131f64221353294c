"""Policies and a game that do one odd thing each, named by this file and their class."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gem.conversation import Request
from gem.env import Env, Step
from gem.episode import Episode
from gem.errors import BadArguments
from gem_baselines.learning_policy import Batch, Floats, Per
from gem_baselines.training.advantages import Credit, Estimator, Terms, discounted


class Counter:
    """Answers with the number of its updates, and learns to count."""

    name = "counter"

    def __init__(self, seed: int = 0) -> None:
        self.is_greedy = False
        self.seed = seed
        self.updates = 0

    def __call__(self, request: Request) -> str:
        return f"\\boxed{{{1 + (self.updates + request.seed) % 3}}}"

    def update(self, batch: Batch) -> Mapping[str, float]:
        self.updates += 1
        return {"updates": float(self.updates)}

    def values(self, episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
        return [np.zeros(len(episode.turns)) for episode in episodes]

    def save(self, folder: Path) -> None:
        (folder / "updates.json").write_text(json.dumps(self.updates))

    def restore(self, folder: Path) -> None:
        self.updates = json.loads((folder / "updates.json").read_text())

    def describe(self) -> Mapping[str, Any]:
        return {"seed": self.seed}


class Steady(Counter):
    """Answers the same to every request between two updates."""

    def __call__(self, request: Request) -> str:
        return f"\\boxed{{{1 + self.updates % 3}}}"


class Greedy(Counter):
    """Takes its most probable answer from the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.is_greedy = True


class Watching(Counter):
    """Notes the seed of every request, and whether it was evaluated greedily by it."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.seeds: list[tuple[int, bool]] = []

    def __call__(self, request: Request) -> str:
        self.seeds.append((request.seed, self.is_greedy))
        return super().__call__(request)


class InterruptedUpdate(Counter):
    """Gets a Ctrl-C in the middle of its second update."""

    def update(self, batch: Batch) -> Mapping[str, float]:
        if self.updates == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return super().update(batch)


class InterruptedAnswer(Counter):
    """Gets a Ctrl-C while it plays for its third update."""

    def __call__(self, request: Request) -> str:
        if self.updates == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return super().__call__(request)


class InterruptedEvaluation(Counter):
    """Gets a Ctrl-C while it is evaluated after its second update, once in this process."""

    was_interrupted = False

    def __call__(self, request: Request) -> str:
        kind = type(self)
        if self.updates == 2 and self.is_greedy and not kind.was_interrupted:
            kind.was_interrupted = True
            os.kill(os.getpid(), signal.SIGINT)
        return super().__call__(request)


class Vague(Counter):
    """Describes itself by what no JSON holds."""

    def describe(self) -> Mapping[str, Any]:
        return {"seed": self.seed, "clip": float("inf")}


class Diverging(Counter):
    """Loses its numbers in its third update."""

    def update(self, batch: Batch) -> Mapping[str, float]:
        super().update(batch)
        return {"loss": float("nan") if self.updates == 3 else 0.0}


class CallableAlone:
    """Answers, and has none of the other methods."""

    def __call__(self, request: Request) -> str:
        return "\\boxed{1}"


class Reporting(Counter):
    """Reports as its figures, and expects as a critic, what it is told to."""

    def __init__(self, figures: Any = None, expected: Any = None) -> None:
        super().__init__()
        self.figures = figures
        self.expected = expected

    def update(self, batch: Batch) -> Mapping[str, float]:
        figures: Mapping[str, float] = self.figures
        return figures

    def values(self, episodes: Sequence[Episode], *, per: Per = "turn") -> Sequence[Floats]:
        expected: Sequence[Floats] = self.expected
        return expected


class Nameless(Counter):
    """Describes itself by nothing."""

    def describe(self) -> Mapping[str, Any]:
        return None  # type: ignore[return-value]


def uncredited(episodes: Sequence[Episode], terms: Terms) -> Any:
    """Return advantages that are no Credit."""
    return [discounted(episode, terms.gamma) for episode in episodes]


def misfit(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Credit each episode as a whole."""
    return Credit([np.zeros(1) for _ in episodes])


def refusing(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Refuse whatever was played."""
    raise BadArguments("These rewards cannot be. Give others.", subject="rewards")


def endless(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Divide by a deviation of 0."""
    return Credit([np.full(len(episode.turns), np.inf) for episode in episodes])


def in_columns(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Return a column for each episode, as of a tensor with a last axis of 1."""
    return Credit([np.zeros((len(episode.turns), 1)) for episode in episodes])


def worded(episodes: Sequence[Episode], terms: Terms) -> Credit:
    """Return a word for each turn."""
    words: Any = [["good"] * len(episode.turns) for episode in episodes]
    return Credit(words)


class Careless(Counter):
    """Takes what it restores for a list."""

    def restore(self, folder: Path) -> None:
        super().restore(folder)
        self.updates = len(self.updates)  # type: ignore[arg-type]


class Sweeping(Counter):
    """Removes, from a training in the folder `run`, that of its evaluations."""

    def update(self, batch: Batch) -> Mapping[str, float]:
        shutil.rmtree("run/evaluations", ignore_errors=True)
        return super().update(batch)


def halved(episodes: Sequence[Episode], terms: Terms, *, share: float = 0.5) -> Credit:
    """Credit each turn with a share of its return."""
    return Credit([share * discounted(episode, terms.gamma) for episode in episodes])


compared = Estimator(halved, compares_repeats=True)


class Failing(Counter):
    """Answers no request of some seeds, or of any seed after its second update."""

    def __call__(self, request: Request) -> str:
        if request.seed % 3 == 0 or self.updates == 2:
            raise RuntimeError("No answer.")
        return super().__call__(request)


class Hanging(Env):
    """Asks for one answer, which it ponders for ever in the episodes of every third seed."""

    async def areset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self._hangs = (seed or 0) % 3 == 0
        return "Answer.", {}

    async def astep(self, action: str) -> Step:
        if self._hangs:
            await asyncio.Event().wait()
        return Step("", float(action == "\\boxed{1}"), True, False, {})


class Once(Env):
    """Pays 1 for a boxed 1, in one turn, on the event loop."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Answer.", {}

    def step(self, action: str) -> Step:
        return Step("", float(action == "\\boxed{1}"), True, False, {})

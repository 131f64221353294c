"""Count what a run does while it goes on. Knows nothing about how episodes are run."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from itertools import accumulate

__all__ = ["RolloutStats"]

_PARTS = 8  # of each doubling
_LEAST, _MOST = -29, 20  # exponents of 2: from two nanoseconds to twelve days


def _no_latencies() -> list[int]:
    return [0] * ((_MOST - _LEAST + 1) * _PARTS)


@dataclass(eq=False)
class RolloutStats:
    """What a run has done so far: give one to `gem.rollout(stats=...)`, and read it meanwhile.

    `steps` were answered by environments; `episodes` have ended, `errors` of them by an error.
    `retries` are policy calls that were made again. `deadline_hits` counts what was late, whether
    it ended an episode or was tried again, `restarts` the workers that were replaced. One object
    may count several runs, after one another or together. A step's latency is what its episode
    waited for it, kept to 7 percent in constant memory.

    >>> stats = RolloutStats()
    >>> stats.count_step(0.5)
    >>> stats.steps, round(stats.step_s(0.99), 1)
    (1, 0.5)
    """

    steps: int = 0
    episodes: int = 0
    errors: int = 0
    retries: int = 0
    deadline_hits: int = 0
    restarts: int = 0
    _runs: int = field(default=0, repr=False)
    _since: float = field(default=0.0, repr=False)
    _before_s: float = field(default=0.0, repr=False)
    _latencies: list[int] = field(default_factory=_no_latencies, repr=False)

    @property
    def elapsed_s(self) -> float:
        """Seconds in which a run was going on."""
        return self._before_s + (time.perf_counter() - self._since if self._runs else 0.0)

    def step_s(self, quantile: float) -> float | None:
        """Return the latency, in seconds, that this part of the steps kept to; None before any.

        0.5 asks for the median, 0.99 for the 99th percentile.
        """
        wanted = max(1, math.ceil(quantile * self.steps))
        for place, below in enumerate(accumulate(self._latencies)):
            if below >= wanted:
                exponent, part = divmod(place, _PARTS)
                return math.ldexp(0.5 + (part + 0.5) / (2 * _PARTS), exponent + _LEAST)
        return None

    def as_dict(self) -> dict[str, float | None]:
        """Return every figure as plain data, rates a second and p50 and p99 of steps included."""
        elapsed_s = self.elapsed_s
        return {
            "steps": self.steps,
            "episodes": self.episodes,
            "errors": self.errors,
            "retries": self.retries,
            "deadline_hits": self.deadline_hits,
            "restarts": self.restarts,
            "elapsed_s": elapsed_s,
            "steps_per_s": self.steps / elapsed_s if elapsed_s else None,
            "episodes_per_s": self.episodes / elapsed_s if elapsed_s else None,
            "step_p50_s": self.step_s(0.5),
            "step_p99_s": self.step_s(0.99),
        }

    def begin_run(self) -> None:
        """Let the time run."""
        if not self._runs:
            self._since = time.perf_counter()
        self._runs += 1

    def end_run(self) -> None:
        """Stop the time, unless another run goes on."""
        self._before_s, self._since = self.elapsed_s, time.perf_counter()
        self._runs -= 1

    def count_step(self, seconds: float) -> None:
        """Count a step that took so long."""
        self.steps += 1
        fraction, exponent = math.frexp(seconds + 1e-9)  # what the clock cannot see is not 0
        place = (exponent - _LEAST) * _PARTS + int((fraction - 0.5) * 2 * _PARTS)
        self._latencies[min(place, len(self._latencies) - 1)] += 1

    def count_episode(self, *, is_error: bool) -> None:
        """Count an episode that ended."""
        self.episodes += 1
        self.errors += is_error

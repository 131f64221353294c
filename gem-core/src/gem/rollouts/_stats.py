"""Count what a run does while it goes on. Knows nothing about how episodes are run."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from itertools import accumulate

__all__ = ["RolloutStats"]

_PARTS = 8  # of each doubling: a latency is known to 7 percent
_LEAST = -29  # exponent of 2: two nanoseconds
_MOST = 20  # exponent of 2: twelve days


def _no_latencies() -> list[int]:
    return [0] * ((_MOST - _LEAST + 1) * _PARTS)


@dataclass(eq=False)
class RolloutStats:
    """What a run has done so far: give one to `gem.rollout(stats=...)`, and read it meanwhile.

    `steps` were answered by environments; `episodes` have ended, `errors` of them by an error.
    `successes` of them solved their task. `calls` are answers of the policy that were waited for,
    until they came or failed; `retries` are those that were made again. `deadline_hits` counts
    what was late, whether it ended an episode or was tried again, `restarts` the workers that were
    replaced. One object may count several runs, after one another or together. A step's or a
    call's latency is what its episode waited for it, kept to 7 percent in constant memory. A lag is
    how late the event loop was with what was due, looked at twenty times a second: it stands still
    while a coroutine computes or sleeps without `await`, and `longest_lag_s` is for how long.

    >>> stats = RolloutStats()
    >>> stats.count_step(0.5)
    >>> stats.steps, round(stats.step_s(0.99), 1)
    (1, 0.5)
    """

    steps: int = 0
    episodes: int = 0
    errors: int = 0
    successes: int = 0
    calls: int = 0
    retries: int = 0
    deadline_hits: int = 0
    restarts: int = 0
    longest_lag_s: float = 0.0
    _lags: int = field(default=0, repr=False)
    _runs: int = field(default=0, repr=False)
    _since: float = field(default=0.0, repr=False)
    _before_s: float = field(default=0.0, repr=False)
    _latencies: list[int] = field(default_factory=_no_latencies, repr=False)
    _call_latencies: list[int] = field(default_factory=_no_latencies, repr=False)
    _lag_latencies: list[int] = field(default_factory=_no_latencies, repr=False)
    _waiting: dict[object, float] = field(default_factory=dict, repr=False)  # the oldest first

    @property
    def elapsed_s(self) -> float:
        """Seconds in which a run was going on."""
        return self._before_s + (time.perf_counter() - self._since if self._runs else 0.0)

    def step_s(self, quantile: float) -> float | None:
        """Return the latency, in seconds, that this part of the steps kept to; None before any.

        0.5 asks for the median, 0.99 for the 99th percentile.
        """
        return _quantile(self._latencies, self.steps, quantile)

    def call_s(self, quantile: float) -> float | None:
        """Return the same of the calls of the policy."""
        return _quantile(self._call_latencies, self.calls, quantile)

    def lag_s(self, quantile: float) -> float | None:
        """Return the same of the lags of the event loop."""
        return _quantile(self._lag_latencies, self._lags, quantile)

    @property
    def calls_in_flight(self) -> int:
        """How many answers of the policy are waited for now."""
        return len(self._waiting)

    @property
    def oldest_call_s(self) -> float:
        """How long, in seconds, the oldest of them has been waited for; 0 where there is none."""
        since = next(iter(self._waiting.values()), None)
        return 0.0 if since is None else time.perf_counter() - since

    def as_dict(self) -> dict[str, float | None]:
        """Return every figure as plain data, rates a second and p50 and p99 included."""
        elapsed_s = self.elapsed_s
        return {
            "steps": self.steps,
            "episodes": self.episodes,
            "errors": self.errors,
            "successes": self.successes,
            "calls": self.calls,
            "retries": self.retries,
            "deadline_hits": self.deadline_hits,
            "restarts": self.restarts,
            "elapsed_s": elapsed_s,
            "steps_per_s": self.steps / elapsed_s if elapsed_s else None,
            "episodes_per_s": self.episodes / elapsed_s if elapsed_s else None,
            "step_p50_s": self.step_s(0.5),
            "step_p99_s": self.step_s(0.99),
            "call_p50_s": self.call_s(0.5),
            "call_p99_s": self.call_s(0.99),
            "lag_p50_s": self.lag_s(0.5),
            "lag_p99_s": self.lag_s(0.99),
            "longest_lag_s": self.longest_lag_s,
        }

    def begin_run(self) -> None:
        """Let the time run."""
        if not self._runs:
            self._since = time.perf_counter()
        self._runs += 1

    def end_run(self) -> None:
        """Stop the time, unless another run goes on."""
        # In this order: what has elapsed is counted from the old beginning.
        self._before_s = self.elapsed_s
        self._since = time.perf_counter()
        self._runs -= 1

    def count_step(self, seconds: float) -> None:
        """Count a step that took so long."""
        self.steps += 1
        self._latencies[_place(seconds)] += 1

    def begin_call(self, caller: object) -> None:
        """Note that an answer of the policy is waited for. A caller waits for one at a time."""
        self._waiting[caller] = time.perf_counter()

    def end_call(self, caller: object) -> None:
        """Count the call that this caller began."""
        self.calls += 1
        self._call_latencies[_place(time.perf_counter() - self._waiting.pop(caller))] += 1

    def count_lag(self, seconds: float) -> None:
        """Count a look at the event loop, which was so late."""
        self._lags += 1
        self._lag_latencies[_place(seconds)] += 1
        self.longest_lag_s = max(self.longest_lag_s, seconds)

    def count_episode(self, *, is_error: bool, is_success: bool = False) -> None:
        """Count an episode that ended."""
        self.episodes += 1
        self.errors += is_error
        self.successes += is_success


def _place(seconds: float) -> int:
    # What the clock cannot see is not 0, whose exponent would say nothing.
    fraction, exponent = math.frexp(seconds + 1e-9)
    place = (exponent - _LEAST) * _PARTS + int((fraction - 0.5) * 2 * _PARTS)
    return min(place, (_MOST - _LEAST + 1) * _PARTS - 1)


def _quantile(latencies: list[int], count: int, quantile: float) -> float | None:
    # Before any has been counted no part reaches the one that is wanted: None.
    wanted = max(1, math.ceil(quantile * count))
    for place, below in enumerate(accumulate(latencies)):
        if below >= wanted:
            # The middle of the part stands for all that are in it.
            exponent, part = divmod(place, _PARTS)
            return math.ldexp(0.5 + (part + 0.5) / (2 * _PARTS), exponent + _LEAST)
    return None

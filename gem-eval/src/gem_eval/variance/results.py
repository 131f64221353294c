"""What a run says of its noise, as frozen data. Knows nothing about how it was played."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict

__all__ = ["Noise", "NoisePart", "points_of"]

_POINTS = 100.0  # a point is a hundredth of a score

Interval = tuple[float, float] | None


class NoisePart(BaseModel):
    """What one source adds to the variance of one episode's score, and to the mean of a run.

    `variance` is unbiased and may lie below 0, which counts as 0 in `points` and `share`. `points`
    is the standard deviation of the mean score of as many tasks as were played, each once, in
    hundredths of the score, were there no other source. `share` is of the noise on the same tasks.
    `why_zero` says why there is none; with `is_unseen` there may be some that the run cannot show.
    """

    model_config = ConfigDict(frozen=True)

    variance: float
    variance_ci95: Interval
    points: float
    points_ci95: Interval
    share: float | None = None
    why_zero: str = ""
    is_unseen: bool = False


class Noise(BaseModel):
    """How noisy a score is, and by whom. `parts` has each player, both together, the environment.

    `mean` is the score of the first player over `tasks` tasks, each played with `agents` seeds of
    this one and `users` of the other, and graded `judges` times. `left_out` are tasks of which an
    episode, or a grading of one, ended by an error; `unfinished` those that lack one. `tasks_drawn`
    is what other tasks would add, `same_tasks` the noise of all parts, and `new_tasks` that with
    the tasks. `leader` is the part that adds most, where it is told from every other by these
    tasks; `first` is the largest, told apart or not, and None where there is no noise.
    """

    model_config = ConfigDict(frozen=True)

    env_id: str
    policy: str
    mean: float
    mean_ci95: Interval
    tasks: int
    left_out: int
    unfinished: int
    agents: int
    users: int
    judges: int
    parts: Mapping[str, NoisePart]
    tasks_drawn: NoisePart
    same_tasks: NoisePart
    new_tasks: NoisePart
    first: str | None
    leader: str | None

    def deviation(
        self,
        tasks: int,
        *,
        agents: int = 1,
        users: int = 1,
        judges: int = 1,
        new_tasks: bool = False,
    ) -> float:
        """Return the standard deviation of the mean score of a run of so many tasks.

        Each of them is played with so many seeds of each player, every one with every other, and
        each episode graded so often. With `new_tasks` the tasks are drawn anew in each run.
        """
        first, *others = (max(part.variance, 0.0) for part in self.parts.values())
        if len(others) == 2:
            [user, judge] = others
            both = 0.0
        else:
            [user, both, judge] = others
        pairs = agents * users
        total = first / agents + user / users + both / pairs + judge / (pairs * judges)
        if new_tasks:
            total += max(self.tasks_drawn.variance, 0.0)
        return math.sqrt(total / tasks)

    def __str__(self) -> str:
        """Say it in plain lines."""
        from gem_eval.variance.printing import lines_of

        return "\n".join(lines_of(self))

    def sources(self) -> Iterator[tuple[str, NoisePart]]:
        """Yield each source by name, with the tasks first."""
        yield "tasks", self.tasks_drawn
        yield from self.parts.items()


def points_of(variance: float, tasks: int) -> float:
    """Return the standard deviation of a mean of so many scores, in points.

    >>> points_of(0.25, 100)
    5.0
    """
    return _POINTS * math.sqrt(max(variance, 0.0) / tasks)

"""Count in how many episodes something was found, by finder, run, environment and policy.

Takes one episode after another and keeps a few figures of each: a log of any length goes through.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gem.episode import Episode
from gem_eval import intervals
from gem_eval.finding.finder import Finding

__all__ = ["Cell", "Place", "Seen", "Tally"]


class Cell(NamedTuple):
    """What is counted together: a run, an environment and a policy."""

    run: str
    env_id: str
    policy: str


class Place(NamedTuple):
    """Where something was found. Runs count from 0, in the order in which they were read.

    Of two the later one is of the later run, or further down in its log; a turn of None comes
    first. So the newest are the largest.
    """

    run_number: int
    line: int
    turn: int


class Seen(NamedTuple):
    """A finding, where it is, and what was played there."""

    place: Place
    finding: Finding
    cell: Cell
    seed: int
    task: int | None


class _Look(NamedTuple):
    """What a tally needs of an episode that was looked at."""

    run_number: int
    line: int
    by_seat: Sequence[tuple[Cell, Sequence[Finding]]]
    group: int
    seed: int
    task: int | None


class Tally:
    """The counts so far, and of each finder the newest findings, `most` at most.

    An episode that an error ended may be tried again further down in the log, and counts by its
    last try alone: it is held back until `finish`.
    """

    def __init__(self, most: int) -> None:
        self.episodes = 0
        self.with_findings = 0
        self._most = most
        self._sizes: dict[Cell, Counter[int]] = defaultdict(Counter)
        self._hits: dict[tuple[str, Cell], Counter[int]] = defaultdict(Counter)
        self._newest: dict[str, list[tuple[Place, int, Seen]]] = defaultdict(list)
        self._seen = 0
        self._held: dict[tuple[object, ...], _Look] = {}

    def add(
        self,
        episode: Episode,
        by_policy: Sequence[tuple[str, Sequence[Finding]]],
        *,
        run: str,
        run_number: int,
        line: int,
        is_alone: bool = False,
    ) -> None:
        """Take in an episode and what was found in it. `line` counts the lines of its log from 1.

        `by_policy` has the findings of each seat with who sat there. Episodes of one task are
        alike, and so are those of one seed. With `is_alone` this one is like none, whatever its
        task.
        """
        group = episode.episode_index
        if episode.task is not None and not is_alone:
            group = episode.task
        elif episode.seats:  # several numbers may have one seed there, each in another rotation
            group = episode.seed
        look = _Look(
            run_number=run_number,
            line=line,
            by_seat=[
                (Cell(run, episode.env_id, policy), findings) for policy, findings in by_policy
            ],
            group=group,
            seed=episode.seed,
            task=episode.task,
        )
        place = (
            run_number,
            episode.policy,
            episode.env_index,
            episode.episode_index,
            episode.repeat,
        )
        self._held.pop(place, None)
        if episode.is_error:
            self._held[place] = look
        else:
            self._count(look)

    def finish(self) -> None:
        """Count the episodes that were not tried again."""
        for look in self._held.values():
            self._count(look)
        self._held.clear()

    @property
    def cells(self) -> list[Cell]:
        """The cells that have an episode, in the order in which they came."""
        return list(self._sizes)

    def size(self, cell: Cell) -> int:
        """Return how many episodes a cell has."""
        return self._sizes[cell].total()

    def hits(self, finder: str, cell: Cell) -> int:
        """Return in how many episodes of a cell a finder found something."""
        return self._hits[finder, cell].total()

    def share(self, finder: str, cell: Cell) -> intervals.Estimate:
        """Estimate the share of episodes in which a finder finds something, by groups."""
        hits = self._hits[finder, cell]
        return intervals.rate(
            [
                [True] * hits[group] + [False] * (size - hits[group])
                for group, size in self._sizes[cell].items()
            ]
        )

    def newest(self, finder: str) -> Iterator[Seen]:
        """Yield what a finder found last, the newest first."""
        for _, _, seen in sorted(self._newest[finder], reverse=True):
            yield seen

    def _count(self, look: _Look) -> None:
        self.episodes += 1
        self.with_findings += any(findings for _, findings in look.by_seat)
        for cell, findings in look.by_seat:
            self._sizes[cell][look.group] += 1
            for finder in {finding.finder for finding in findings}:
                self._hits[finder, cell][look.group] += 1
            for finding in findings:
                self._keep(look, cell, finding)

    def _keep(self, look: _Look, cell: Cell, finding: Finding) -> None:
        turn = -1 if finding.turn is None else finding.turn
        place = Place(look.run_number, look.line, turn)
        seen = Seen(place, finding, cell, look.seed, look.task)
        heap = self._newest[finding.finder]
        # A number of its own: two findings at one place are told apart before what they say is.
        self._seen += 1
        heapq.heappush(heap, (place, self._seen, seen))
        if len(heap) > self._most:
            heapq.heappop(heap)

"""Play until it is decided which policy is better: what is looked at, and when that is enough.

Episodes of an evaluation finish in no order, and which finish first may depend on how they end. So
only whole numbers of the plan are looked at, one after another: what number 17 shows counts once
all of numbers 0 to 17 have been played by both. Whoever looks later, or goes on after a crash,
comes to the same decision at the same number.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gem.rollouts import PlannedEpisode
from gem_eval.comparing.sequential import Evidence
from gem_eval.summary import Decision, Outcome, Verdict

__all__ = ["Race"]

_LEVEL = 0.05

Place = tuple[int, int]  # which environment, and which repeat


class Race:
    """Policies that play the same plan, each compared with the first of them.

    `tolerance` is a difference of success that counts as none. An observation is one number of the
    plan: the mean difference over its environments and repeats, without those that an error ended.
    """

    def __init__(
        self, policies: Sequence[str], plan: Sequence[PlannedEpisode], tolerance: float | None
    ) -> None:
        self.baseline, *candidates = policies
        self._places: dict[int, list[Place]] = defaultdict(list)
        for planned in plan:
            self._places[planned.episode_index].append((planned.env_index, planned.repeat))
        self._outcomes: dict[str, dict[int, dict[Place, Outcome]]] = {
            policy: defaultdict(dict) for policy in policies
        }
        numbers = sorted(self._places)
        self._lanes = [
            _Lane(candidate, numbers, tolerance, level=_LEVEL / len(candidates))
            for candidate in candidates
        ]

    @property
    def is_decided(self) -> bool:
        """Whether there is a verdict on every candidate."""
        return all(lane.verdict != "UNDECIDED" for lane in self._lanes)

    @property
    def runners(self) -> list[str]:
        """The policies that go on playing: those that are undecided, and who they are beside."""
        undecided = [lane.candidate for lane in self._lanes if lane.verdict == "UNDECIDED"]
        return [self.baseline, *undecided] if undecided else []

    @property
    def state(self) -> str:
        """What is known of the first candidate that is undecided, for a line of progress."""
        for decision in self.decisions():
            if decision.verdict == "UNDECIDED" and decision.difference is not None:
                low, high = decision.interval
                return f"undecided {decision.difference:+.3f} [{low:+.3f}, {high:+.3f}]"
        return ""

    def decisions(self) -> tuple[Decision, ...]:
        """Return what is decided so far of each candidate."""
        return tuple(lane.decision(self.baseline) for lane in self._lanes)

    def blocks(self, size: int) -> Iterator[list[int]]:
        """Share the numbers of the plan out, to be played a block after another.

        Blocks begin with about `size` episodes, and grow by what was played before: the first
        policy never has more than a quarter too much when it is decided.
        """
        numbers = sorted(self._places)
        start = 0
        while start < len(numbers):
            of_each = len(self._places[numbers[start]])
            end = start + max(math.ceil(size / of_each), start // 4)
            yield numbers[start:end]
            start = end

    def add(self, outcome: Outcome) -> None:
        """Let the last try of an episode count, and look at what is whole by now."""
        place = (outcome.env_index, outcome.repeat)
        self._outcomes[outcome.policy][outcome.episode_index][place] = outcome
        for lane in self._lanes:
            if outcome.policy in (self.baseline, lane.candidate):
                self._look(lane)

    def keep_decided(self, before: Race) -> None:
        """Let what another look at the same run has decided stay so."""
        self._lanes = [
            old if old.verdict != "UNDECIDED" else new
            for old, new in zip(before._lanes, self._lanes, strict=True)
        ]

    def _look(self, lane: _Lane) -> None:
        while lane.verdict == "UNDECIDED" and lane.next_number is not None:
            number = lane.next_number
            both = [self._outcomes[name][number] for name in (self.baseline, lane.candidate)]
            if any(len(outcomes) < len(self._places[number]) for outcomes in both):
                return
            lane.see(_differences(*both))


class _Lane:
    """One candidate beside the baseline: what was seen, up to the number that decided."""

    def __init__(
        self, candidate: str, numbers: Iterable[int], tolerance: float | None, *, level: float
    ) -> None:
        self.candidate = candidate
        self.verdict: Verdict = "UNDECIDED"
        self.next_number: int | None
        self._tolerance = tolerance
        self._evidence = Evidence(level=level)
        self._numbers = iter(numbers)
        self.next_number = next(self._numbers, None)

    def see(self, differences: Sequence[float]) -> None:
        """Let the next number count. One of which errors left nothing says nothing."""
        if differences:
            self._evidence.add(math.fsum(differences) / len(differences))
            self.verdict = self._decided()
        self.next_number = next(self._numbers, None)

    def _decided(self) -> Verdict:
        evidence = self._evidence
        tolerance = self._tolerance
        if tolerance is not None and evidence.is_within(tolerance):
            return "SAME"
        if evidence.is_above(0.0):
            return "BETTER"
        return "WORSE" if evidence.is_below(0.0) else "UNDECIDED"

    def decision(self, baseline: str) -> Decision:
        """Return the verdict with what it stands on."""
        return Decision(
            candidate=self.candidate,
            baseline=baseline,
            verdict=self.verdict,
            tolerance=self._tolerance,
            tasks=self._evidence.count,
            difference=self._evidence.mean,
            interval=self._evidence.interval(),
        )


def _differences(first: Mapping[Place, Outcome], second: Mapping[Place, Outcome]) -> list[float]:
    return [
        float(second[place].success) - float(outcome.success)
        for place, outcome in first.items()
        if outcome.error is None and second[place].error is None
    ]

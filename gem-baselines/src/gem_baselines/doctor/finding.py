"""A finding of the doctor and a check that makes them. Knows no rule and no way to print."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from gem_baselines.doctor.run import Run

__all__ = ["Check", "Finding", "Place", "Severity"]

Severity = Literal["wrong", "suspect", "note"]
"""How sure a finding is.

"wrong" contradicts what the run itself says it does. "suspect" is what goes wrong as a rule, and
"note" is worth knowing and no fault: notes alone leave a run healthy.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding is seen: an episode of an update, by its number in the batch.

    `turn` and `token`, the place in the sequence, count from 0; `text` is what stands there.
    """

    update: int
    episode: int | None = None
    seed: int | None = None
    turn: int | None = None
    token: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a run: one sentence with the numbers that decided, and the evidence.

    `updates` are those at which it is seen, `figures` the numbers by name, `place` one example.
    """

    check: str
    severity: Severity
    sentence: str
    updates: Sequence[int] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    place: Place | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        # What is not finite is no JSON, and is just what a finding may be about.
        figures = {
            name: value if math.isfinite(value) else None for name, value in self.figures.items()
        }
        return asdict(self) | {"updates": list(self.updates), "figures": figures}


class Check(NamedTuple):
    """A rule with what it looks for, in words.

    `rule` is a pure function. `lacks` says what it would need and a run has not, and is empty where
    it can look.
    """

    name: str
    summary: str
    rule: Callable[[Run], Iterator[Finding]]
    lacks: Callable[[Run], str]

"""What a finder is, and what it says. Knows nothing about where episodes come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gem.episode import Episode
from gem_eval.finding.examples import Example

__all__ = ["Evidence", "Finder", "Finding", "Rule"]

_ID = re.compile(r"[a-z][a-z0-9_]{0,59}")


class Evidence(NamedTuple):
    """What a rule found. `turn` counts from 0, and is None of an episode as a whole.

    `text` is one sentence for a person, with the numbers that decided; it counts turns from 1.
    """

    turn: int | None
    text: str


class Finding(NamedTuple):
    """What a finder found in one episode: `turn` counts from 0, None is the episode as a whole."""

    finder: str
    turn: int | None
    evidence: str


Rule = Callable[[Episode], Iterable[Evidence]]
"""Pure: it reads an episode and nothing else, and the same episode gives the same evidence."""


@dataclass(frozen=True, slots=True)
class Finder:
    """A rule under an id, with the examples that say what it finds and what it spares.

    `summary` says in a few words what is odd. A rule takes time linear in the size of an episode,
    whose texts are a model's. `examples` is called by tests alone; `finder_failures` checks them.
    Raises ValueError on an id that is none.
    """

    id: str
    summary: str
    rule: Rule
    examples: Callable[[], Sequence[Example]]

    def __post_init__(self) -> None:
        if _ID.fullmatch(str(self.id)) is None:  # of a pack, which may be untyped
            raise ValueError(
                f"{self.id!r:.80} is no id of a finder: write small letters, digits and "
                "underscores, a letter first"
            )

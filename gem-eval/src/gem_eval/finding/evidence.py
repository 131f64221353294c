"""Take from a rule what is evidence, and only so much; refuse what is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from gem.cli import one_line
from gem.episode import Episode
from gem_eval.finding.finder import Evidence, Finder, Finding

__all__ = ["MOST_CHARACTERS", "MOST_FINDINGS", "found_by"]

MOST_FINDINGS = 100
"""Of one finder in one episode: a rule that never ends, or finds every turn, stays readable."""

MOST_CHARACTERS = 600
"""Of one evidence: it is a sentence, and a line of a listing."""


def found_by(finder: Finder, episode: Episode) -> list[Finding]:
    """Return what one finder finds. Raises what its rule raises, and TypeError on no evidence."""
    return [
        Finding(finder.id, evidence.turn, one_line(evidence.text[:MOST_CHARACTERS]))
        for evidence in islice(_evidence(finder, episode), MOST_FINDINGS)
    ]


def _evidence(finder: Finder, episode: Episode) -> Iterator[Evidence]:
    given: Iterable[Any] = finder.rule(episode)  # of a pack, which may be untyped
    for found in given:
        if not isinstance(found, Evidence) or not isinstance(found.text, str):
            raise TypeError(f"its rule gave {found!r:.80}, and must give Evidence(turn, text)")
        is_turn = type(found.turn) is int and 0 <= found.turn < len(episode.turns)
        if found.turn is not None and not is_turn:
            raise TypeError(
                f"its rule found turn {found.turn!r:.20} of {len(episode.turns)}, counted from 0"
            )
        yield found

"""Write a diagnosis for a person: what could not be read, findings with evidence, what is well."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from gem.cli import one_line
from gem_baselines.doctor.diagnosis import Diagnosis
from gem_baselines.doctor.finding import Finding, Place

__all__ = ["lines_of"]

_MOST_UPDATES = 6
_LEFT = 10  # columns before a sentence: the longest severity and two spaces


def lines_of(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    """Yield the lines of a report, no wider than a screen but for words that are."""
    yield f"{one_line(str(diagnosis.run.path))}: {_verdict(diagnosis)}"
    for name, number in diagnosis.run.unreadable.items():
        lines = "line" if number == 1 else "lines"
        yield f"{number} {lines} of {one_line(name)} cannot be read. All other lines were read."
    for finding in diagnosis.findings:
        yield ""
        yield f"{finding.severity:{_LEFT}}{finding.check}"
        yield from _indented(finding.sentence, width)
        yield from _indented(_evidence(finding), width)
    if diagnosis.well:
        yield ""
        yield "Well:"
        for name, summary in diagnosis.well.items():
            yield f"  {name:<18}{summary}"
    if diagnosis.unchecked:
        yield ""
        yield "Not checked, for want of:"
        for name, lacking in diagnosis.unchecked.items():
            yield f"  {name:<18}{lacking}"


def _verdict(diagnosis: Diagnosis) -> str:
    counts = [
        f"{number} {severity}"
        for severity in ("wrong", "suspect", "note")
        if (number := sum(each.severity == severity for each in diagnosis.findings))
    ]
    found = ", ".join(counts) or "nothing found"
    looked = len(diagnosis.well) + len({finding.check for finding in diagnosis.findings})
    return f"{found} by {looked} checks, {len(diagnosis.unchecked)} could not look"


def _evidence(finding: Finding) -> str:
    parts = []
    if finding.updates:
        parts.append(_updates(finding.updates))
    if finding.place is not None:
        parts.append(f"see {_place(finding.place)}")
    return "; ".join(parts)


def _updates(updates: Sequence[int]) -> str:
    first = ", ".join(map(str, updates[:_MOST_UPDATES]))
    more = len(updates) - _MOST_UPDATES
    word = "update" if len(updates) == 1 else "updates"
    return f"{word} {first}{f' and {more} more' if more > 0 else ''}"


def _place(place: Place) -> str:
    words = [f"update {place.update}"]
    if place.episode is not None:
        words.append(f"episode {place.episode + 1}")
    if place.seed is not None:
        words.append(f"seed {place.seed}")
    if place.turn is not None:
        words.append(f"turn {place.turn + 1}")
    if place.token is not None:
        words.append(f"token {place.token}")
    where = ", ".join(words)
    return f"{where}: {one_line(place.text)}" if place.text else where


def _indented(text: str, width: int) -> Iterator[str]:
    margin = " " * _LEFT
    yield from textwrap.wrap(
        one_line(text), max(width, 40), initial_indent=margin, subsequent_indent=margin
    )

"""Take the recorded actions again: do the environment and its rewards depend on the seed alone?

It runs environments, which no other check does.
"""

from __future__ import annotations

from collections.abc import Iterator

import gem
from gem.errors import GemError, in_one_line
from gem_baselines.doctor.finding import Check, Finding, Place
from gem_baselines.doctor.run import Run

__all__ = ["REPLAY"]


def replay(run: Run) -> Iterator[Finding]:
    """Find episodes whose rewards or observations do not come again."""
    odd: list[tuple[Place, str]] = []
    number = 0
    for sample in run.samples:
        for shown in sample.shown:
            number += 1
            place = Place(sample.update, shown.number, shown.episode.seed)
            try:
                difference = gem.replay(shown.episode).difference
            except GemError as error:
                yield Finding(
                    "replay",
                    "note",
                    f"The episodes cannot be played again here: {in_one_line(error)}",
                    place=place,
                )
                return
            if difference is not None:
                text = (
                    f"{difference.field} was {difference.recorded!r:.60} and is "
                    f"{difference.replayed!r:.60}"
                )
                odd.append((Place(place.update, place.episode, place.seed, difference.turn), text))
    if odd:
        place, text = odd[0]
        yield Finding(
            "replay",
            "wrong",
            f"{len(odd)} of {number} sampled episodes do not come again from their seed and "
            f"actions: {text}. The environment has changed since, keeps something between episodes,"
            " or draws from more than its seed.",
            sorted({each.update for each, _ in odd}),
            {"episodes": float(len(odd)), "of": float(number)},
            place,
        )


REPLAY = Check(
    "replay",
    "sampled episodes come again from their seeds",
    replay,
    lambda run: "" if any(sample.shown for sample in run.samples) else "samples of updates",
)
"""A check beside those of the rules, which is made on request."""

"""Does self-play go on learning? By play against frozen copies: its own reward cannot say so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gem_baselines.doctor.finding import Check, Finding
from gem_baselines.doctor.run import Run

__all__ = ["CHECKS"]


def collapse(run: Run) -> Iterator[Finding]:
    """Find a policy whose worst pairing with a frozen copy is worse than the reference's."""
    collapsed = run.figure("collapsed")
    fall = run.figure("fall")
    places = np.flatnonzero(collapsed.values)
    if not len(places):
        return
    updates = [int(update) for update in collapsed.updates[places]]
    worst = float(fall.values[places].max())
    is_last = places[-1] == len(collapsed.values) - 1
    when = "Its last look saw one" if is_last else "It went back each time"
    yield Finding(
        "collapse",
        "suspect",
        f"Self-play collapses: at {len(updates)} of {len(collapsed.values)} looks the policy "
        "earned less a game than the frozen copy that is its reference, by up to "
        f"{worst:.3g}, each against the copy and in the seat where it earns least, while its "
        f"reward in self-play did not rise. {when}, and checkpoints/best is the best copy. Take "
        'smaller steps, and fixed opponents: opponents = "pool".',
        updates,
        {"collapses": float(len(updates)), "worst": worst},
    )


def _lacks_looks(run: Run) -> str:
    if not run.settings.get("self_play"):
        return "a training in self-play"
    return "" if len(run.figure("fall").values) else "a monitor: [self_play] monitor = true"


CHECKS = (Check("collapse", "self-play does not unlearn what it knew", collapse, _lacks_looks),)

"""Does self-play go on learning? By play against frozen copies: its own reward cannot say so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gem_baselines.doctor.finding import Check, Finding
from gem_baselines.doctor.run import Run

__all__ = ["CHECKS"]


def collapse(run: Run) -> Iterator[Finding]:
    """Find a policy that earns less against its frozen copies than the best of them does."""
    collapsed = run.figure("collapsed")
    fall = run.figure("fall")
    places = np.flatnonzero(collapsed.values)
    if not len(places):
        return
    updates = [int(update) for update in collapsed.updates[places]]
    worst = float(fall.values[places].max())
    is_last = places[-1] == len(collapsed.values) - 1
    how = "Its last look saw one: take the best copy" if is_last else "It went back each time"
    yield Finding(
        "collapse",
        "suspect",
        f"Self-play collapses: at {len(updates)} of {len(collapsed.values)} looks the policy "
        "earned less a game against its frozen copies than the best of them, by up to "
        f"{worst:.3g}, while its reward in self-play did not rise. {how}. Take smaller steps, and "
        "fixed opponents: "
        'opponents = "pool".',
        updates,
        {"collapses": float(len(updates)), "worst": worst},
    )


def _lacks_looks(run: Run) -> str:
    if not run.settings.get("self_play"):
        return "a training in self-play"
    return "" if len(run.figure("fall").values) else "a monitor: [self_play] monitor = true"


CHECKS = (Check("collapse", "self-play does not unlearn what it knew", collapse, _lacks_looks),)

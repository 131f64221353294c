"""What the address of a page of trainings asks for, and how such an address is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from gem_eval.viewing.trainings.arms import Arm
from gem_eval.viewing.trainings.training import ViewedTraining

__all__ = ["AXES", "TrainingQuery", "arm_address", "part_of", "title_of"]

AXES = {"updates": "updates", "turns": "turns", "cpu": "CPU seconds"}
"""What curves are drawn along, and how it is called."""

_MOST_PLOTS = 24
_USUAL = (
    "evaluation.sampled.success",
    "success",
    "turns",
    "discounted_return",
    "learning.entropy",
    "learning.grad_norm",
)
_PARTS = {
    "evaluation.sampled": "evaluation",
    "evaluation.greedy": "evaluation, greedy",
    "learning": "learning",
}


class TrainingQuery(NamedTuple):
    """The trainings that are shown, by name, which figures of them, along what, whose episodes.

    Nothing chosen is all of them, the usual figures, and the first training.
    """

    of: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    axis: str = "updates"
    episodes: str = ""

    @classmethod
    def read(cls, pairs: Iterable[tuple[str, str]]) -> TrainingQuery:
        """Read it from the pairs of an address. What cannot be asked for is left out."""
        known: dict[str, list[str]] = {"of": [], "figure": [], "x": [], "episodes": []}
        for name, value in pairs:
            if name in known and value not in known[name]:
                known[name].append(value)
        axes = [axis for axis in known["x"] if axis in AXES]
        return cls(
            of=tuple(known["of"]),
            chosen=tuple(known["figure"][:_MOST_PLOTS]),
            axis=axes[0] if axes else "updates",
            episodes=known["episodes"][0] if known["episodes"] else "",
        )

    def visible(self, trainings: Sequence[ViewedTraining]) -> list[ViewedTraining]:
        """Return the trainings that are asked for, all where none of them is here."""
        named = [training for training in trainings if training.name in self.of]
        return named or [*trainings]

    def figures(self, known: Sequence[str]) -> list[str]:
        """Return which of the figures that there are to plot."""
        chosen = [figure for figure in self.chosen if figure in known]
        usual = [figure for figure in _USUAL if figure in known]
        return chosen or usual or [*known[: len(_USUAL)]]

    def address(self, **changes: object) -> str:
        """Return the query of an address, some of it changed."""
        asked = self._replace(**changes)  # type: ignore[arg-type]
        pairs = [("of", name) for name in asked.of]
        pairs += [("figure", figure) for figure in asked.chosen]
        if asked.axis != "updates":
            pairs.append(("x", asked.axis))
        if asked.episodes:
            pairs.append(("episodes", asked.episodes))
        return f"?{urlencode(pairs)}" if pairs else ""


def arm_address(arm: Arm) -> str:
    """Return the address of the page of one arm."""
    names = tuple(training.name for training in arm.trainings)
    return f"/trainings{TrainingQuery(of=names).address()}"


def title_of(figure: str) -> str:
    """Return what a figure is called.

    >>> title_of("success"), title_of("evaluation.greedy.success"), title_of("learning.grad_norm")
    ('Success, training', 'Success, evaluation, greedy', 'Grad norm')
    """
    for prefix, part in _PARTS.items():
        if figure.startswith(f"{prefix}."):
            name = _plain(figure.removeprefix(f"{prefix}."))
            return name if part == "learning" else f"{name}, {part}"
    return f"{_plain(figure)}, training"


def part_of(figure: str) -> str:
    """Return the heading that a figure stands below where one may choose."""
    for prefix, part in _PARTS.items():
        if figure.startswith(f"{prefix}."):
            return part.capitalize()
    return "Training"


def _plain(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:60]

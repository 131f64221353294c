"""A figure drawn from the seed, and a question whose answer only the figure tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Literal

from gem.content import ImagePart, Observation, Part, TextPart
from gem.errors import BadArguments
from gem_envs_math.diagram.angles import angles
from gem_envs_math.diagram.areas import areas
from gem_envs_math.diagram.bars import bars
from gem_envs_math.diagram.clocks import clocks
from gem_envs_math.diagram.grids import grids
from gem_envs_math.diagram.points import points
from gem_envs_math.diagram.sketch import Sketch
from gem_envs_math.problem import MathProblem

__all__ = ["FAMILIES", "LEVELS", "Diagram", "Family"]

Family = Literal["angles", "areas", "bars", "clocks", "grids", "points"]

FAMILIES: Mapping[Family, Callable[[Random, int], Sketch]] = {
    "angles": angles,
    "areas": areas,
    "bars": bars,
    "clocks": clocks,
    "grids": grids,
    "points": points,
}
LEVELS = (1, 2, 3)


class Diagram(MathProblem):
    """One figure, as PNG, and one question with a number as its answer.

    `family` is the kind of figure; without it the seed picks one. `level` goes from 1, to read
    one thing off, to 3, to put several together. The same seed gives the same bytes on every
    machine. Needs Pillow.
    """

    def __init__(
        self,
        *,
        family: Family | None = None,
        level: int = 1,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__("number", format_error_reward=format_error_reward)
        if level not in LEVELS:
            raise BadArguments(
                f"level={level} was asked for. It is one of {', '.join(map(str, LEVELS))}.",
                subject="level",
            )
        if family is not None and family not in FAMILIES:
            raise BadArguments(
                f"family={family!r} was asked for. It is one of {', '.join(FAMILIES)}, or None.",
                subject="family",
            )
        self.family: Family | None = family
        self.level = level
        self.posed: Family = "angles"
        self.key = 0

    def pose(self) -> Observation:
        from gem_envs_math.diagram.rendering import render  # heavy: 0.1 s, Pillow

        self.posed = self.family if self.family is not None else self.rng.choice(tuple(FAMILIES))
        self.key = self.rng.getrandbits(64)
        sketch = self._sketch()
        parts: list[Part] = [ImagePart(render(sketch.shapes)), TextPart(sketch.question)]
        return parts

    def gold(self) -> str:
        return str(self._sketch().answer)

    def episode_info(self) -> dict[str, Any]:
        return {"family": self.posed, "level": self.level}

    def _sketch(self) -> Sketch:
        return FAMILIES[self.posed](Random(self.key), self.level)

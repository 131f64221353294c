"""Questions about images, from a data set."""

from __future__ import annotations

from gem.content import Observation, Part, TextPart
from gem_envs_math.dataset_math import DatasetMath
from gem_envs_math.images import image_part
from gem_envs_math.rows import FIGURES

__all__ = ["VisualMath"]

_MARK = "<image>"


class VisualMath(DatasetMath):
    """One problem of a data set, with the images that it is about.

    The observation is its images, then its question, as parts. `images` of a row is an image or a
    list of them: bytes of a file, a path, an image of Pillow, or `{"bytes": ..., "path": ...}` as
    `datasets` stores one. Where a question says `<image>`, that is left out. Raises DataError
    when a problem is posed whose image cannot be read.
    """

    kinds = FIGURES

    def pose(self) -> Observation:
        problem = self.row
        parts: list[Part] = [image_part(image) for image in problem.images]
        parts.append(TextPart(problem.question.replace(_MARK, "").strip()))
        return parts

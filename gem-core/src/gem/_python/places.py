"""Where in the code an error arose or a thread stands: the line that an author would look at.

Knows nothing about what the code does.
"""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gem.errors import GemError, in_one_line, text_of

__all__ = ["Place", "place_of", "raised", "telling_place", "text_with_place"]

_OURS = str(Path(__file__).parents[1])
_LIBRARY = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
# Below the library's folder, and no part of it.
_INSTALLED = ("site-packages", "dist-packages")


class Place(NamedTuple):
    """One line of code. As text: `words.py, line 8, in step`."""

    path: str
    line: int
    function: str

    @property
    def is_foreign(self) -> bool:
        """Whether it is neither of this package nor of Python's own library."""
        path = Path(self.path)
        if self.path.startswith("<") or path.is_relative_to(_OURS):  # "<frozen ...>", "<string>"
            return False
        is_installed = any(folder in path.parts for folder in _INSTALLED)
        return is_installed or not any(path.is_relative_to(folder) for folder in _LIBRARY)

    def __str__(self) -> str:
        return f"{Path(self.path).name}, line {self.line}, in {self.function}"


def telling_place(places: Sequence[Place]) -> Place | None:
    """Return the innermost place that is foreign, or else the innermost. The last is innermost."""
    for place in reversed(places):
        if place.is_foreign:
            return place
    return places[-1] if places else None


def place_of(error: BaseException) -> str:
    """Say where an error arose, as `words.py, line 8, in step`; empty where it was never raised.

    That is the innermost line of who uses this package, an environment's author above all. A line
    of this package or of Python's library is named only where no other is on the way.
    """
    return str(telling_place(_way_of(error)) or "")


def text_with_place(error: BaseException) -> str:
    """Return what `text_of` does, and after it the author's line in brackets, where there is one.

    An error of this package's own says what to do, and gets no place.
    """
    text = text_of(error)
    place = telling_place(_way_of(error))
    if isinstance(error, GemError) or place is None or not place.is_foreign:
        return text
    # A text of several lines ends with a caret or a note, which the place is no part of.
    return f"{text}\n({place})" if "\n" in text else f"{text} ({place})"


def raised(error: BaseException) -> str:
    """Say in one line what was raised, and where: `KeyError: 'k' (words.py, line 8, in step)`."""
    place = place_of(error)
    return f"{in_one_line(error)} ({place})" if place else in_one_line(error)


def _way_of(error: BaseException) -> list[Place]:
    """Return the lines that an error came through, the innermost last."""
    frames = traceback.walk_tb(error.__traceback__)
    return [Place(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in frames]

"""One line on stderr that says how far a training is.

On a terminal it is redrawn in place, elsewhere written anew every ten seconds. Knows nothing about
what is trained.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

__all__ = ["ProgressLine"]

_REDRAWN_S = 0.25
_WRITTEN_S = 10.0
_COLUMNS = 80  # of a terminal that does not say how many it has


class ProgressLine:
    """Shows the figures of updates while this is entered; on a terminal nothing stays behind."""

    def __init__(self, *, updates: int, done: int) -> None:
        self._updates = updates
        self._done_before = done
        self._began = time.monotonic()
        self._last = -math.inf
        self._is_terminal = sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def show(self, figures: Mapping[str, Any]) -> None:
        """Show the line of an update, if the last one was shown long enough ago."""
        now = time.monotonic()
        wait_s = _REDRAWN_S if self._is_terminal else _WRITTEN_S
        if now - self._last < wait_s:
            return
        self._last = now
        text = self._text(figures, now - self._began)
        if self._is_terminal:
            # One column less than there are: a full line would wrap, and not be redrawn in place.
            width = _columns() - 1
            sys.stderr.write(f"\r\x1b[K{text[:width]}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def _text(self, figures: Mapping[str, Any], elapsed_s: float) -> str:
        update = figures["update"]
        rate = (update - self._done_before) / max(elapsed_s, 1e-9)
        left_s = int((self._updates - update) / rate) if rate > 0 else 0
        parts = [
            f"update {update}/{self._updates}",
            f"{rate:.1f}/s",
            f"{left_s // 60:02}:{left_s % 60:02} left",
            f"success {figures['success']:.3f}",
            f"turns {figures['turns']:.2f}",
            _rewards(figures),
        ]
        if figures["errors"]:
            parts.append(f"errors {figures['errors']}")
        return "  ".join(parts)


def _rewards(figures: Mapping[str, Any]) -> str:
    """Return the mean reward of an episode, of self-play that of each seat instead."""
    # Summed over the seats it would be 0 in every update of most games.
    seats: Mapping[str, Any] = figures.get("self_play", {}).get("seats", {})
    if not seats:
        return f"reward {figures['reward']:.3f}"
    return "  ".join([f"reward of {name} {seat['reward']:.3f}" for name, seat in seats.items()])


def _columns() -> int:
    """Return how wide the terminal of stderr is: stdout may go to another one, or to a file."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
    except (OSError, ValueError):  # no terminal of the system, or one without a size
        return _COLUMNS

"""Ctrl-C, held back but where it can do no harm. Knows nothing about what is interrupted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

__all__ = ["HeldBack"]


class HeldBack:
    """While this is entered, Ctrl-C is noted, and raised only inside `let_through`.

    An update that is half done, or a checkpoint that is half written, is so finished first. What
    was noted and not raised inside is raised at the end. In a thread other than the main one
    Python delivers no Ctrl-C, and this does nothing; nor where the program ignores it, as a job
    in the background does.
    """

    def __init__(self) -> None:
        self._is_asked = False
        self._previous: Any = None

    def __enter__(self) -> HeldBack:
        is_ignored = signal.getsignal(signal.SIGINT) in (None, signal.SIG_IGN)
        if threading.current_thread() is threading.main_thread() and not is_ignored:
            self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        # What was asked for counts more than an error that came meanwhile: that is its cause.
        if self._is_asked and not isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from error

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """Raise KeyboardInterrupt where it was asked for before, or is inside this."""
        if self._previous is None:
            yield
            return
        try:
            # Python's own, also where the program had another: asyncio cancels a run by it alone.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            # Only then the look back: between the two nothing can be noted and not be seen.
            if self._is_asked:
                self._is_asked = False
                raise KeyboardInterrupt
            yield
        finally:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._is_asked = True

"""Let an interrupt wait until what must be done whole is done."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

__all__ = ["Unbroken"]

_MAIN = threading.main_thread().ident


class Unbroken:
    """A block that Ctrl-C does not break: its handler is called right after the block.

    Only Python code of the main thread can be broken, and only by a handler of Python's; else
    this does nothing. Costs some microseconds.
    """

    __slots__ = ("_came", "_handler")

    def __enter__(self) -> None:
        self._handler: Any = None
        self._came: FrameType | None = None
        if threading.get_ident() == _MAIN:
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = frame

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            if self._came is not None:
                self._handler(signal.SIGINT, self._came)

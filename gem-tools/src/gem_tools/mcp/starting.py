"""Become a command that ends with its parent: `python starting.py PARENT COMMAND...`, on Linux.

A parent that is killed cannot end its servers, and one that hangs does not notice that its stdin
is closed. It is run as a file, and imports nothing of ours.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: str, command: list[str]) -> None:
    """Replace this process by the command. Exits with status 127 where that fails."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):  # it died before it could tell
        sys.exit(1)
    try:
        os.execvp(command[0], command)
    except OSError:
        sys.exit(127)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

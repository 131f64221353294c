"""Where the server of a tree of processes is found: a socket whose name only that tree has.

Binding the name settles who starts the server. On Linux the name is no file, so nothing is left
of it, whatever ends the server. Knows nothing about what is said there.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
import tempfile
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from gem.env import process_tree
from gem.errors import GemError

__all__ = ["Place", "is_ours"]

_CREDENTIALS = struct.Struct("3i")  # process, user, group


class Place:
    """The place of what serves `purpose` in the tree with this root, for this Python."""

    def __init__(self, root: process_tree.Root, purpose: str) -> None:
        digest = blake2b(f"{sys.prefix}\n{purpose}".encode(), digest_size=8).hexdigest()
        name = f"gem-{os.geteuid()}-{root}-{digest}"
        self._is_file = sys.platform != "linux"
        self.name = f"{_private_folder()}/{name}" if self._is_file else f"\0{name}"

    def listen(self) -> socket.socket | None:
        """Take the place, with a socket that listens; None where it is taken."""
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(self.name)
            listener.listen(socket.SOMAXCONN)
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE:
                raise
            return None
        return listener

    def connect(self) -> socket.socket | None:
        """Connect to who listens; None where nobody does. Raises GemError on a stranger."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self.name)
        except (ConnectionRefusedError, FileNotFoundError):
            connection.close()
            self._clear()
            return None
        except BaseException:
            connection.close()
            raise
        if not is_ours(connection):
            connection.close()
            raise GemError(
                f"The grader of this program was looked for at {self.name!r}, and another user of "
                "this machine listens there. Start the program again: the place changes with it."
            )
        return connection

    def _clear(self) -> None:
        """Remove the file that a server left which was killed."""
        if self._is_file:
            with suppress(OSError):
                Path(self.name).unlink()


def is_ours(connection: socket.socket) -> bool:
    """Say whether the other end is of the same user. Where no one can tell, its folder is."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(packed)[1] == os.geteuid())


def _private_folder() -> Path:
    """Return a folder that no other user can enter."""
    folder = Path(tempfile.gettempdir()) / f"gem-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
        raise GemError(
            f"The folder {folder} was to hold a socket of this program, and other users can write "
            "into it. Remove it, or set TMPDIR to a folder of yours."
        )
    return folder

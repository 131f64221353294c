"""Write a file or a folder as a draft beside its place, and move it there once it is whole.

Knows nothing about what is in it.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gem_eval.errors import ExportError

__all__ = ["draft_of"]

_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


@contextmanager
def draft_of(out: Path, *, is_folder: bool) -> Iterator[Path]:
    """Give the path of a draft, a new folder or a file to be; move it to `out` at the end.

    Where something is raised, the draft is removed and `out` is not made. Raises ExportError where
    something is at `out` already, before or after, and where it cannot be written.
    """
    _refuse_existing(out)
    draft = out.with_name(f".draft-{os.getpid()}-{out.name}")
    made = [each for each in (out.parent, *out.parent.parents) if not each.exists()]
    try:
        _make_folder(out.parent)
        _remove(draft)  # a process of this number was killed here before
        if is_folder:
            draft.mkdir()
        yield draft
        _move(draft, out, is_folder=is_folder)
    except OSError as error:
        raise ExportError(
            f"The export cannot be written to {out} ({error.strerror or error}). Look at the disk "
            "and at who may write there, or choose another --out.",
        ) from error
    finally:
        with suppress(OSError):  # what went wrong is told already
            _remove(draft)
        with suppress(OSError):  # one that holds something stays, and so do those around it
            for each in made:
                each.rmdir()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:  # which would be understood of the export itself
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is no folder") from error


def _refuse_existing(out: Path) -> None:
    if os.path.lexists(out):  # a broken link, too, is something of somebody
        raise _existing(out)


def _existing(out: Path) -> ExportError:
    return ExportError(
        f"There is something at {out} already, and an export overwrites nothing. Choose another "
        "--out, or remove it first."
    )


def _move(draft: Path, out: Path, *, is_folder: bool) -> None:
    if not is_folder:
        try:
            os.link(draft, out)  # which refuses what another made there meanwhile
            return
        except FileExistsError as error:
            raise _existing(out) from error
        except OSError as error:
            if error.errno not in _NO_LINKS:  # else a file system without links
                raise
    _refuse_existing(out)
    draft.rename(out)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)

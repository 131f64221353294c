"""Write down what this process reads of our files: a line `DIGEST PATH` for each, as it reads it.

Python imports this as it starts, where its folder stands on PYTHONPATH. A contract puts it there,
so the processes that a framework starts (Ray's actors, a trainer's workers) are watched as well,
and a process that is killed has already written its lines. Without the folder that
`GEM_CONTRACT_READS` names nothing is done.
"""

from __future__ import annotations

import hashlib
import os
import sys
from typing import Any

_ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3)) + os.sep
_SITE = f"{os.sep}site-packages{os.sep}"
_CACHE = f"{os.sep}__pycache__{os.sep}"


def _is_ours(path: str) -> bool:
    """Whether a file was installed by one of our distributions, or is of the checkout."""
    if _SITE in path:
        return path.rpartition(_SITE)[2].startswith("gem")
    return path.startswith(_ROOT) and f"{os.sep}." not in path[len(_ROOT) - 1 :]


def _source(path: str) -> str:
    """Return the file that was compiled into this one, or the file itself."""
    folder, cache, name = path.rpartition(_CACHE)
    return f"{folder}{os.sep}{name.partition('.')[0]}.py" if cache else path


def _watch(folder: str) -> None:
    seen: set[str] = set()

    def write_down(event: str, given: tuple[Any, ...]) -> None:
        # Python raises `open` for imports, data files and `os.open` alike, before it opens. What
        # this function raised would reach whoever opens the file.
        if event != "open" or not isinstance(given[0], str) or given[2] & os.O_ACCMODE:
            return  # another event, a file descriptor, or a file that is to be written
        path = _source(os.path.abspath(given[0]))
        if path in seen or not _is_ours(path):
            return
        seen.add(path)  # first: to read the file below is such an event too
        try:
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()[:16]
            # A file for each process, which a fork changes; each line is one small write.
            with open(f"{folder}/{os.getpid()}", "a", encoding="utf-8") as lines:
                lines.write(f"{digest} {path}\n")
        except OSError:
            return  # it is not there: whoever asked will see that

    sys.addaudithook(write_down)


if _folder := os.environ.get("GEM_CONTRACT_READS"):
    _watch(_folder)

"""Write down what this process reads of our files: a line `DIGEST PATH` for each, as it reads it.

Python imports this as it starts, where its folder stands on PYTHONPATH. A contract puts it there,
so the processes that a framework starts (Ray's actors, a trainer's workers) are watched as well,
and a process that is killed has already written its lines. Without the folder that
`GEM_CONTRACT_READS` names nothing is done.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
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


def _read_by(event: str, given: tuple[Any, ...]) -> Iterator[str]:
    """Yield the paths that an event of Python's says are to be read, or that a program is given."""
    # Python raises `open` for imports, data files and `os.open` alike, before it opens.
    if event == "open" and isinstance(given[0], str) and not given[2] & os.O_ACCMODE:
        yield given[0]
    elif event == "subprocess.Popen" and isinstance(given[1], (list, tuple)):
        # A shell, or a Python that imports no `sitecustomize`: the sandbox's, which is given a
        # folder of ours, starts so.
        for word in map(str, given[1]):
            path = os.path.join(given[2] or "", word)
            yield from _modules_in(path) if os.path.isdir(path) else [path]


def _modules_in(folder: str) -> Iterator[str]:
    """Yield the modules in a folder of a package of ours."""
    path = os.path.abspath(folder)
    if _is_ours(path) and (_SITE in path or f"{os.sep}src{os.sep}gem" in path):
        for parent, _, names in os.walk(folder):
            yield from (os.path.join(parent, name) for name in names if name.endswith(".py"))


def _watch(folder: str) -> None:
    seen: set[str] = set()

    def write_down(path: str) -> None:
        path = _source(os.path.abspath(path))
        if path in seen or not _is_ours(path):
            return
        seen.add(path)  # first: to read the file below is such an event too
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()[:16]
        # A file for each process, which a fork changes; each line is one small write.
        with open(f"{folder}/{os.getpid()}", "a", encoding="utf-8") as lines:
            lines.write(f"{digest} {path}\n")

    def hear(event: str, given: tuple[Any, ...]) -> None:
        for path in _read_by(event, given):
            # What is raised here would reach whoever opens the file.
            with contextlib.suppress(OSError, ValueError):  # there is no such file
                write_down(path)

    sys.addaudithook(hear)


if _folder := os.environ.get("GEM_CONTRACT_READS"):
    _watch(_folder)

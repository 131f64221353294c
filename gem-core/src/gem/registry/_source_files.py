"""Python files that belong to no package, imported by their path.

`_importing` asks this where a target names a file. Knows nothing about what a file holds.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

__all__ = ["absolute", "digest", "import_file", "is_file", "path_of", "shortest"]

_DIGITS = 16  # of a digest: enough to tell versions of one file apart, and short enough to read


class _Imported(NamedTuple):
    module: ModuleType
    digest: str
    """Of the text that was run: the file may have been edited since."""


_imported: dict[str, _Imported] = {}
_paths: dict[str, str] = {}
"""The path of each file by its module's name, from before it runs: it may ask for itself."""
# Re-entrant, for a file may load a target of another file while it is imported.
_lock = threading.RLock()


def is_file(module: str) -> bool:
    """Say whether the module of a target is the path of a file."""
    return module.endswith(".py")


def absolute(path: str) -> str:
    """Return a path from the root; `~` is the user's home."""
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111 - these never raise


def shortest(path: str) -> str:
    """Return a path as one would type it here: `./try.py` below the current folder, else whole."""
    here = os.getcwd()  # noqa: PTH109 - as `absolute`
    path = absolute(path)
    is_below = os.path.commonpath([here, path]) == here
    return f"./{os.path.relpath(path, here)}" if is_below else path


def import_file(path: str) -> ModuleType:
    """Import a file as a module, once in a process. Raises whatever the file raises.

    Its folder joins the end of `sys.path`, so that it finds the modules beside it as it does when
    Python runs it.
    """
    path = os.path.realpath(absolute(path))
    with _lock:
        known = _imported.get(path)
        if known is None:
            known = _run_file(path)
            _imported[path] = known
            _digest_in.cache_clear()
        return known.module


def _run_file(path: str) -> _Imported:
    """Import a file that this process has not imported by its path before."""
    text = Path(path).read_bytes()
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.append(folder)
    name = _free_name(path)
    if name in sys.modules:  # it was imported before, as `import try_it` does
        return _Imported(sys.modules[name], _digest_of(text))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Before the file runs: dataclasses and pickle look their own module up by its name.
    sys.modules[name] = module
    _paths[name] = path
    try:
        # The text that was read, whose digest is told. The loader might take what Python compiled
        # before an edit within the same second, which leaves no trace in the file's time.
        exec(compile(text, path, "exec", dont_inherit=True), vars(module))  # noqa: S102 - as import
    except BaseException:
        del sys.modules[name], _paths[name]
        raise
    return _Imported(module, _digest_of(text))


def _free_name(path: str) -> str:
    """Return the name to import a file by: its stem, unless that is another module's.

    A file that is called `random.py` must not take the place of the module `random`. A dot would
    make the module one of a package.
    """
    stem = Path(path).stem.replace(".", "_")
    name = stem
    number = 1
    while not _may_be_named(name, path):
        number += 1
        name = f"{stem}_{number}"
    return name


def _may_be_named(name: str, path: str) -> bool:
    """Say whether a name is free, or already that of this file."""
    module = sys.modules.get(name)
    if module is not None:
        origin = getattr(module, "__file__", None)
    else:
        spec = importlib.util.find_spec(name)
        origin = path if spec is None else spec.origin
    return origin is not None and os.path.realpath(origin) == path


def path_of(module: str) -> str | None:
    """Return the path of the file that was imported here under this module's name."""
    return _paths.get(module)


def digest(path: str) -> str | None:
    """Return a digest of a file: of what was imported here, else of what it holds now.

    None where it cannot be read. It is asked for each episode, and looks no further than at the
    file's state where that is as before.
    """
    path = absolute(path)
    try:
        state = os.stat(path)  # noqa: PTH116 - half the time of Path's
        return _digest_in(path, (state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size))
    except OSError:  # what was imported may be gone by now
        known = _imported.get(os.path.realpath(path))
        return None if known is None else known.digest
    except ValueError:  # a path may hold what no file system takes
        return None


@functools.lru_cache(maxsize=256)
def _digest_in(path: str, state: tuple[int, ...]) -> str:
    """Return the digest of a file in this state; `import_file` forgets what was told before."""
    known = _imported.get(os.path.realpath(path))
    return _digest_of(Path(path).read_bytes()) if known is None else known.digest


def _digest_of(text: bytes) -> str:
    # With the name in front it is told from the version of a distribution.
    return f"sha256:{hashlib.sha256(text).hexdigest()[:_DIGITS]}"

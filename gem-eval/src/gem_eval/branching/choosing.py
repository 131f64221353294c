"""Find an episode in the log of a run, by its line or by how its fingerprint begins."""

from __future__ import annotations

from typing import NamedTuple

from gem import read_episodes
from gem.episode import Episode
from gem_eval.errors import BranchError
from gem_eval.run_folder import RunFolder

__all__ = ["Chosen", "choose"]

_LEAST_PREFIX = 4  # characters of a fingerprint: fewer are of many episodes
_HEXADECIMAL = frozenset("0123456789abcdef")


class Chosen(NamedTuple):
    """An episode and its line in the log, from 1."""

    line: int
    episode: Episode


def choose(folder: RunFolder, which: int | str) -> Chosen:
    """Return the episode that a line's number names, or the beginning of a fingerprint.

    Digits alone are a line. Raises BranchError where there is no such episode, or several; and
    LogError.
    """
    text = str(which).strip().lower()
    if text.isascii() and text.isdecimal():
        return _of_line(folder, text)
    if len(text) < _LEAST_PREFIX or not set(text) <= _HEXADECIMAL:
        raise BranchError(
            f"{which!r:.80} names no episode. Give its line in the log, from 1, as "
            "`gem-env find` and `gem-env compare` show it, or four letters or more of its "
            "fingerprint."
        )
    return _of_fingerprint(folder, text)


def _of_line(folder: RunFolder, text: str) -> Chosen:
    lines = 0
    # The digits of a line that is there are few; those of others may be too many for an int.
    sought = int(text) if len(text) < 19 else 0
    if folder.episodes_path.exists():
        for lines, episode in enumerate(read_episodes(folder.episodes_path), start=1):
            if lines == sought:
                return Chosen(lines, episode)
    raise BranchError(
        f"Line {text:.20} of {folder.path} was asked for, and its log has {lines:,} lines, counted "
        "from 1. Choose one of them."
    )


def _of_fingerprint(folder: RunFolder, prefix: str) -> Chosen:
    """Return the first of the episodes with this fingerprint: in what counts they are equal."""
    found: dict[str, Chosen] = {}
    if folder.episodes_path.exists():
        for line, episode in enumerate(read_episodes(folder.episodes_path), start=1):
            fingerprint = episode.fingerprint()
            if fingerprint.startswith(prefix):
                found.setdefault(fingerprint, Chosen(line, episode))
    if not found:
        raise BranchError(
            f"No episode of {folder.path} has a fingerprint that begins with {prefix!r:.40}. Give "
            "its line in the log instead."
        )
    if len(found) > 1:
        first, second, *_ = found.values()
        raise BranchError(
            f"{prefix!r} begins the fingerprints of {len(found)} episodes of {folder.path}, of "
            f"lines {first.line} and {second.line} the first. Give more of it, or the line."
        )
    [chosen] = found.values()
    return chosen

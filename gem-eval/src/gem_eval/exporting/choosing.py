"""Choose the episodes of a run that are handed on, and count what is left out.

Knows nothing about formats.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gem.episode import Episode
from gem_eval.errors import ExportError
from gem_eval.exporting.stored_log import Entry, StoredLog
from gem_eval.run_folder import RunFolder
from gem_eval.short_names import short_names

__all__ = ["ROUNDING", "Choice", "Source", "chosen_names"]

ROUNDING = 1e-9
"""A return is a sum of floats: by so much it may miss what it is compared with."""

OnProgress = Callable[[float], None]


class Choice(NamedTuple):
    """Which episodes: of these policies and environments, and, with `solved`, only successes.

    `min_return` and `margin` are for the formats that take them.
    """

    policies: frozenset[str]
    envs: frozenset[str]
    solved: bool = False
    min_return: float | None = None
    margin: float | None = None


@dataclass(slots=True)
class Source:
    """The chosen episodes of a run, each read when it is wanted.

    `left_out` counts, by the reason in words, what its last reading passed over.
    """

    folder: RunFolder
    log: StoredLog
    choice: Choice
    on_progress: OnProgress | None = None
    left_out: Counter[str] = field(default_factory=Counter)

    def entries(self, *, part: float = 1.0) -> Iterator[Entry]:
        """Yield the chosen episodes, those that an error ended last.

        It counts what it leaves out from the beginning each time. With `solved`, an error is left
        out as an error, and never as a wrong answer. Reading them all is `part` of the work.
        """
        self.left_out.clear()
        for entry in self.log.last_tries():
            self.tell(part * entry.end / max(self.log.size, entry.end))
            reason = self._reason(entry.episode)
            if reason is None:
                yield entry
            else:
                self.left_out[reason] += 1

    def without_errors(self, *, part: float = 1.0) -> Iterator[Entry]:
        """Yield the chosen episodes that no error ended."""
        for entry in self.entries(part=part):
            if entry.episode.is_error:
                self.left_out["ended by an error"] += 1
            else:
                yield entry

    def tell(self, share: float) -> None:
        """Tell whoever looks what share of the work is done."""
        if self.on_progress is not None:
            self.on_progress(share)

    def _reason(self, episode: Episode) -> str | None:
        """Say why an episode is left out, or return None."""
        if episode.policy not in self.choice.policies:
            return "of another policy"
        if episode.env_id not in self.choice.envs:
            return "of another environment"
        if not self.choice.solved:
            return None
        if episode.is_error:
            return "ended by an error"
        return None if episode.success else "not solved"


def chosen_names(
    folder: RunFolder, policies: Sequence[str] | None, envs: Sequence[str] | None
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the policies and environments of a run that were asked for, all without a word.

    A policy goes by its name or its short one, an environment by its id or a shell pattern.
    Raises ExportError on one that the run does not have.
    """
    settings = folder.record.settings
    short = short_names([ref.name for ref in settings.policies])
    ids = {spec.id: spec.id for spec in settings.envs}
    return (
        _matching("policy", policies, short, folder),
        _matching("environment", envs, ids, folder),
    )


def _matching(
    kind: str, asked: Sequence[str] | None, known: Mapping[str, str], folder: RunFolder
) -> frozenset[str]:
    """Return the names that were asked for; `known` has each whole name with its short one."""
    if asked is None:
        return frozenset(known)
    found: set[str] = set()
    for name in asked:
        matching = {
            whole
            for whole, short in known.items()
            if name in (whole, short) or (kind == "environment" and fnmatch.fnmatch(whole, name))
        }
        if not matching:
            there = ", ".join(known.values())
            raise ExportError(
                f"The {kind} {name!r} is not in {folder.path}. It has {there}: name one of them."
            )
        found |= matching
    return frozenset(found)

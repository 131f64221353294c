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
from gem_eval.line_ups import members_of
from gem_eval.run_folder import RunFolder
from gem_eval.short_names import short_names

__all__ = ["ROUNDING", "Choice", "Source", "chosen_names"]

ROUNDING = 1e-9
"""A return is a sum of floats: by so much it may miss what it is compared with."""

OnProgress = Callable[[float], None]


class Choice(NamedTuple):
    """Which episodes: of these policies and environments, and, with `solved`, only successes.

    `policies` are those of the run, line-ups among them. Of a line-up that is not named whole,
    `members` are the policies whose seats are handed on. `seats` are the names of seats, None for
    all. `min_return` and `margin` are for the formats that take them.
    """

    policies: frozenset[str]
    members: frozenset[str]
    envs: frozenset[str]
    seats: frozenset[str] | None = None
    solved: bool = False
    min_return: float | None = None
    margin: float | None = None


@dataclass(slots=True)
class Source:
    """The chosen episodes of a run, each read when it is wanted, or the parts of their seats.

    `left_out` counts, by the reason in words, what its last reading passed over, `num_read` the
    episodes that it met, and `num_episodes` those of which it gave something.
    """

    folder: RunFolder
    log: StoredLog
    choice: Choice
    on_progress: OnProgress | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    num_read: int = 0
    num_episodes: int = 0

    def entries(self, *, part: float = 1.0) -> Iterator[Entry]:
        """Yield the chosen episodes, or the parts of their seats, those that an error ended last.

        It counts what it leaves out from the beginning each time. With `solved`, an error is left
        out as an error, and never as a wrong answer. Reading them all is `part` of the work.
        """
        self.left_out.clear()
        self.num_read = 0
        self.num_episodes = 0
        for whole in self.log.last_tries():
            self.tell(part * whole.end / max(self.log.size, whole.end))
            self.num_read += 1
            chosen: list[Entry] = []
            for entry in _parts(whole):
                reason = self._reason(entry, whole.episode.policy)
                if reason is None:
                    chosen.append(entry)
                else:
                    self.left_out[reason] += 1
            self.num_episodes += bool(chosen)
            yield from chosen

    def at(self, start: int, *, line: int, seat: int | None) -> Episode:
        """Return the episode that begins at a byte, or the part of one of its seats."""
        episode = self.log.at(start, line=line).episode
        return episode if seat is None else episode.of_seat(seat)

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

    def _reason(self, entry: Entry, line_up: str) -> str | None:
        """Say why an episode, or a part of one that a line-up played, is left out, or None."""
        choice = self.choice
        episode = entry.episode
        if line_up not in choice.policies and episode.policy not in choice.members:
            return "of another policy"
        if episode.env_id not in choice.envs:
            return "of another environment"
        if choice.seats is not None and entry.seat_name not in choice.seats:
            if entry.seat_name is None:
                return "of an environment of one seat"
            return f"of the seat {entry.seat_name:.60}"
        if not self.choice.solved:
            return None
        if episode.is_error:
            return "ended by an error"
        return None if episode.success else "not solved"


def _parts(whole: Entry) -> Iterator[Entry]:
    """Yield the part of each seat of an episode; of one seat the episode itself."""
    if len(whole.episode.seats) < 2:
        yield whole
        return
    for seat, part in enumerate(whole.episode.parts()):
        yield whole._replace(episode=part, seat=seat, whole=whole.episode)


def chosen_names(
    folder: RunFolder, policies: Sequence[str] | None, envs: Sequence[str] | None
) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return what was asked for, all without a word: policies, members of line-ups, environments.

    A policy goes by its name or its short one, an environment by its id or a shell pattern.
    Raises ExportError on one that the run does not have.
    """
    settings = folder.record.settings
    listed = [ref.name for ref in settings.policies]
    members = [member.name for member in members_of(settings.policies)]
    ids = {spec.id: spec.id for spec in settings.envs}
    found = _matching("policy", policies, short_names([*listed, *members]), folder)
    return (
        found & frozenset(listed),
        found & frozenset(members),
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

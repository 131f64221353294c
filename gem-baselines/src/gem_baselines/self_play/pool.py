"""A pool of frozen copies of a policy that learns, kept in order. Knows nothing about games."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gem_baselines.learning_policy import LearningPolicy
from gem_baselines.policies import again

__all__ = ["Frozen", "Pool", "copy_of"]


class Frozen(NamedTuple):
    """A copy of the policy as it was after an update, which learns no more."""

    update: int
    policy: LearningPolicy


class Pool:
    """Frozen copies, the oldest first, of which at most `size` are kept, 2 at least.

    The first and the newest always stay. Of the others the one goes whose neighbours are closest to
    each other, so that what stays covers the whole training.
    """

    def __init__(self, size: int, copies: list[Frozen] | None = None) -> None:
        self._size = size
        self._copies = copies or []

    @property
    def copies(self) -> tuple[Frozen, ...]:
        """The copies, the oldest first."""
        return tuple(self._copies)

    @property
    def newest(self) -> Frozen:
        """The copy that was added last."""
        return self._copies[-1]

    def of_update(self, update: int) -> Frozen:
        """Return the copy of an update that is there."""
        [copy] = [copy for copy in self._copies if copy.update == update]
        return copy

    def add(self, copy: Frozen, keep: Collection[int] = ()) -> None:
        """Add a newer copy. `keep` are updates of copies that stay whatever their neighbours are.

        There is room for the first, the newest and `size` - 2 that are kept.
        """
        self._copies.append(copy)
        if len(self._copies) <= self._size:
            return
        inner = [
            place
            for place in range(1, len(self._copies) - 1)
            if self._copies[place].update not in keep
        ]
        assert inner, "the settings leave room for all that are kept"
        del self._copies[min(inner, key=self._gap_without)]

    def save(self, folder: Path) -> None:
        """Write each copy into a folder of its own, named by its update. Raises OSError."""
        for copy in self._copies:
            own = folder / f"{copy.update:06}"
            own.mkdir(parents=True)
            copy.policy.save(own)

    @classmethod
    def restored(cls, size: int, folder: Path, kind: str, arguments: Mapping[str, Any]) -> Pool:
        """Read what `save` wrote. Raises OSError, ValueError, KeyError, BadArguments."""
        copies = []
        for own in sorted(folder.iterdir(), key=lambda path: int(path.name)):
            policy = again(kind, arguments)
            policy.restore(own)
            copies.append(_named(int(own.name), policy))
        return cls(size, copies)

    def _gap_without(self, place: int) -> int:
        return self._copies[place + 1].update - self._copies[place - 1].update


def copy_of(policy: LearningPolicy, kind: str, update: int) -> Frozen:
    """Return a frozen copy of a policy as it is now, by what it saves."""
    with tempfile.TemporaryDirectory() as folder:
        policy.save(Path(folder))
        frozen = again(kind, policy.describe())
        frozen.restore(Path(folder))
    return _named(update, frozen)


def _named(update: int, policy: LearningPolicy) -> Frozen:
    # Records say so which copy played.
    policy.name = f"{policy.name}@{update}"
    return Frozen(update, policy)

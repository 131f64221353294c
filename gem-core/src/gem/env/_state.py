"""The state of an environment: which attributes are saved, and which may be put back.

Knows nothing about how values are written as data (`gem.env._snapshot`), or about wrappers.
"""

from __future__ import annotations

import random
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from gem.env._lifecycle._phases import ENDED, NEW, RUNNING
from gem.env._snapshot import Snapshot, decode
from gem.errors import SnapshotError, in_one_line

if TYPE_CHECKING:
    from gem.specs import EnvSpec

__all__ = ["Saveable", "method_names", "slot_names"]

S = TypeVar("S", bound="Saveable")


class Saveable:
    """What `Env` keeps and puts back for `snapshot`, `restore` and `fork`.

    State is every attribute of an instance, in its dictionary or in slots, but for those that
    `_unsaved` and the author's `shared` name.
    """

    spec: EnvSpec | None = None
    shared: ClassVar[Sequence[str]] = ()
    """Attributes with read-only data: snapshots leave them out, forks share them."""

    _sampler: random.Random | None = None
    _unsaved: ClassVar[frozenset[str]] = frozenset({"spec", "_sampler", "_spec_json"})
    # Both are read from the class once, as it is defined: a snapshot is taken far more often.
    _slots: ClassVar[tuple[str, ...]] = ()
    _methods: ClassVar[frozenset[str]] = frozenset()

    def _state(self) -> Iterator[tuple[str, Any]]:
        # vars() makes the instance's dictionary real, which slows a step by a fifth on 3.11:
        # only snapshots come here.
        skipped = {*self._unsaved, *self.shared}
        for name, value in vars(self).items():
            if name not in skipped:
                yield name, value
        for name in self._slots:
            if name not in skipped and hasattr(self, name):
                yield name, getattr(self, name)

    def _load(self, state: Mapping[str, Any]) -> None:
        """Put attributes in the place of the present ones. On an error nothing changes."""
        before = dict(self._state())
        try:
            self._set(state)
        except (AttributeError, TypeError, ValueError) as error:
            self._set(before)
            raise SnapshotError(
                f"This snapshot holds attributes that a {type(self).__name__} cannot take "
                f"({in_one_line(error)}). Take it again with the versions installed here."
            ) from error
        # Its stream begins again from the seed that was just put back.
        self._sampler = None

    def _set(self, state: Mapping[str, Any]) -> None:
        # All names are read before any is deleted: `_state` walks the dictionary that changes.
        superfluous = [name for name, _ in self._state() if name not in state]
        for name in superfluous:
            delattr(self, name)
        for name, value in state.items():
            setattr(self, name, value)

    def _blank(self: S) -> S:
        """Return an instance without state, which shares what is not saved."""
        # Not through `__init__`: it may draw, open and ask for arguments that nobody kept.
        twin: S = object.__new__(type(self))
        for name in {*self._unsaved, *self.shared} & {*vars(self), *self._slots}:
            if hasattr(self, name):
                setattr(twin, name, getattr(self, name))
        return twin

    def _fitting_state(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the snapshot's attributes, none of which can break the rules of use."""
        self._check_fits(snapshot)
        state = {name: decode(value) for name, value in snapshot.state.items()}
        for name, value in state.items():
            if not self._can_load(name, value):
                raise SnapshotError(
                    f"This snapshot holds {name!r} as {type(value).__name__}, which a "
                    f"{type(self).__name__} cannot take. Take it again with the versions "
                    "installed here.",
                    attribute=name,
                )
        return state

    def _can_load(self, name: str, value: Any) -> bool:
        # A snapshot can come from anywhere. It may set data, and neither replace a method nor
        # bring a phase in which the guards would let everything through.
        if name in _IS_OF_ITS_KIND:
            return _IS_OF_ITS_KIND[name](value)
        if name.startswith("__") or name in self._unsaved or name in self.shared:
            return False
        return name not in self._methods

    def _plain_spec(self) -> Mapping[str, Any] | None:
        """Return the spec as JSON data, made once for each spec."""
        if self.spec is None:
            return None
        cached: tuple[EnvSpec, Mapping[str, Any]] | None = vars(self).get("_spec_json")
        if cached is None or cached[0] is not self.spec:
            cached = (self.spec, self.spec.model_dump(mode="json"))
            self._spec_json = cached
        return cached[1]

    def _check_fits(self, snapshot: Snapshot) -> None:
        """Raise SnapshotError unless the snapshot is of an environment that was made like this."""
        mine = self._plain_spec()
        theirs = snapshot.spec
        if (mine is None) != (theirs is None):
            raise SnapshotError(
                f"This snapshot is of {_spec_name(theirs)}, and this environment is "
                f"{_spec_name(mine)}. Restore it into an environment that was made in the same way."
            )
        if mine is None or theirs is None:
            return
        for field in ("id", "kwargs", "wrappers"):
            if mine.get(field) != theirs.get(field):
                raise SnapshotError(
                    f"This snapshot is of {_spec_name(theirs)} with other {field} than this "
                    f"environment, {_spec_name(mine)}. Make one with gem.make(snapshot.spec)."
                )


def method_names(cls: type) -> frozenset[str]:
    """Return the names of all methods of a class and of its parents."""
    return frozenset(
        name
        for owner in cls.__mro__
        for name, member in vars(owner).items()
        if isinstance(member, (types.FunctionType, classmethod, staticmethod))
    )


def slot_names(cls: type) -> tuple[str, ...]:
    """Return the names of all slots of a class and of its parents."""
    return tuple(
        name
        for owner in cls.__mro__
        for name, member in vars(owner).items()
        if isinstance(member, types.MemberDescriptorType)
    )


def _spec_name(spec: Mapping[str, Any] | None) -> str:
    return "one made by hand" if spec is None else repr(spec.get("id"))


def _is_int_or_none(value: object) -> bool:
    return value is None or type(value) is int


_IS_OF_ITS_KIND: Mapping[str, Callable[[Any], bool]] = {
    "rng": lambda value: type(value) is random.Random,
    "turn": lambda value: type(value) is int,
    "_phase": lambda value: value in (NEW, RUNNING, ENDED),
    "_first_seed": _is_int_or_none,
    "_episode_seed": _is_int_or_none,
}

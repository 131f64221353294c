"""Which slot of a cache holds which tokens. Knows nothing about what a slot holds of them."""

from __future__ import annotations

from collections import Counter, OrderedDict

__all__ = ["PrefixSlots"]

Ids = tuple[int, ...]


class PrefixSlots:
    """Slots that are found by the tokens whose keys and values they hold.

    A slot is taken for one sequence, extended, and put back under all its tokens. Where none is
    free, the one that was put back the longest time ago is taken from its tokens.
    """

    def __init__(self, num_slots: int) -> None:
        self._num_slots = num_slots
        self.clear()

    def clear(self) -> None:
        """Forget what the slots hold, those that are taken included."""
        self._free = list(range(self._num_slots))
        self._ids_of: OrderedDict[int, Ids] = OrderedDict()  # the oldest first
        self._slots_of: dict[Ids, list[int]] = {}
        self._lengths: Counter[int] = Counter()  # of the tokens of each slot

    def take(self, ids: Ids) -> tuple[int, int]:
        """Return a slot for a sequence, and how many of its first tokens the slot holds.

        That is fewer than the sequence has: the last token is always read again, for what comes
        after it. At most as many slots may be taken at once as there are.
        """
        # The longest first. A slot of as many tokens, or more, is never looked at: with it, what
        # one episode computes would depend on whether another had the same tokens before.
        for length in sorted(self._lengths, reverse=True):
            if length < len(ids) and (slots := self._slots_of.get(ids[:length])):
                slot = slots[-1]
                self._forget(slot)
                return slot, length
        if not self._free:
            oldest = next(iter(self._ids_of))
            self._forget(oldest)
            self._free.append(oldest)
        return self._free.pop(), 0

    def put(self, slot: int, ids: Ids) -> None:
        """Note what a slot that was taken holds now."""
        self._ids_of[slot] = ids
        self._slots_of.setdefault(ids, []).append(slot)
        self._lengths[len(ids)] += 1

    def _forget(self, slot: int) -> None:
        ids = self._ids_of.pop(slot)
        slots = self._slots_of[ids]
        slots.remove(slot)
        if not slots:
            del self._slots_of[ids]
        self._lengths[len(ids)] -= 1
        if not self._lengths[len(ids)]:
            del self._lengths[len(ids)]

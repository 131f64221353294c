"""The keys and values of sequences that are being played, in slots. Needs torch.

Knows nothing about which slot belongs to whom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from gem_baselines.transformer._model import attention
from gem_baselines.transformer._shape import TransformerShape

__all__ = ["KeyValueCache", "SlotRows"]

_BYTES = 4  # of a number: float32


class KeyValueCache:
    """Room for the keys and values of `num_slots` sequences.

    A slot has `length` places: more than a model's `max_length`, because tokens that pad a row
    are written behind its last one.
    """

    def __init__(
        self, shape: TransformerShape, num_slots: int, length: int, device: torch.device
    ) -> None:
        # Keys and values side by side: they are written together, and read together.
        sizes = (num_slots, length, 2, shape.heads, shape.width // shape.heads)
        self.layers = [torch.zeros(sizes, device=device) for _ in range(shape.layers)]

    @staticmethod
    def bytes_of_slot(shape: TransformerShape, length: int) -> int:
        """Return how much memory a slot takes."""
        return 2 * shape.layers * length * shape.width * _BYTES


class SlotRows:
    """Rows of new tokens, each of the sequence in a slot: a `Past` of the model.

    `slots` has shape (rows,) and `places`, where each new token stands in its sequence, (rows,
    tokens). `num_keys` says of each row how many places of its slot are looked at, and equal ones
    stand side by side. Rows after these are padding: nothing is kept of them, and they take 0.
    """

    def __init__(
        self, cache: KeyValueCache, slots: Tensor, places: Tensor, *, num_keys: Sequence[int]
    ) -> None:
        self._cache = cache
        self._slots = slots
        self._places = places
        self._groups = [
            _Group.of(slots, places, begin, end, num_keys[begin]) for begin, end in _runs(num_keys)
        ]

    def attended(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        kept = self._cache.layers[layer]
        new = torch.stack((keys, values), dim=2)[: len(self._slots)]
        kept[self._slots[:, None], self._places] = new
        mixed = torch.zeros_like(queries, memory_format=torch.contiguous_format)
        # A row's part is computed for it alone, whatever rows it is together with: so rows
        # that look at as many keys go together, and padding is left out.
        for group in self._groups:
            read = kept[:, : group.num_keys].index_select(0, group.slots)
            group_keys, group_values = read.unbind(2)
            group_queries = queries[group.begin : group.end]
            mixed[group.begin : group.end] = attention(
                group_queries, group_keys, group_values, mask=group.mask
            )
        return mixed


class _Group(NamedTuple):
    """Rows of a block from `begin` to before `end`, which look at as many keys.

    `mask` has shape (rows, 1, new tokens, keys): 0 where a new token may look at a key, and minus
    infinity elsewhere.
    """

    begin: int
    end: int
    num_keys: int
    slots: Tensor
    mask: Tensor

    @classmethod
    def of(cls, slots: Tensor, places: Tensor, begin: int, end: int, num_keys: int) -> _Group:
        # A place after a token's own may hold what was left by another sequence, or by padding.
        # No token looks there before the place is written for its sequence.
        every_place = torch.arange(num_keys, device=slots.device)
        is_hidden = (every_place > places[begin:end, :, None])[:, None]
        mask = torch.zeros(is_hidden.shape, device=slots.device)
        mask.masked_fill_(is_hidden, float("-inf"))
        return cls(begin, end, num_keys, slots[begin:end], mask)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield where equal numbers that stand side by side begin and end."""
    begin = 0
    for _, run in groupby(numbers):
        end = begin + len(list(run))
        yield begin, end
        begin = end

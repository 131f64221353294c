"""The keys and values of sequences that are being played, in slots. Needs torch.

Knows nothing about which slot belongs to whom.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gem_baselines.transformer._shape import TransformerShape

__all__ = ["KeyValueCache", "SlotRows"]

_BYTES = 4  # of a number: float32


class KeyValueCache:
    """Room for the keys and values of `num_slots` sequences, and a slot more for padding.

    A slot has `length` places: more than a model's `max_length`, because tokens that pad a row
    are written behind its last one.
    """

    def __init__(
        self, shape: TransformerShape, num_slots: int, length: int, device: torch.device
    ) -> None:
        sizes = (shape.layers, num_slots + 1, length, shape.width)
        self.keys = torch.zeros(sizes, device=device)
        self.values = torch.zeros(sizes, device=device)
        self.padding_slot = num_slots

    @staticmethod
    def bytes_of_slot(shape: TransformerShape, length: int) -> int:
        """Return how much memory a slot takes."""
        return 2 * shape.layers * length * shape.width * _BYTES


class SlotRows:
    """Rows of new tokens, each of the sequence in a slot: a `Past` of the model.

    `slots` has shape (rows,) and `places`, where each new token stands in its sequence, (rows,
    tokens). The first `num_keys` places of each slot are looked at.
    """

    def __init__(
        self, cache: KeyValueCache, slots: Tensor, places: Tensor, *, num_keys: int
    ) -> None:
        self._cache = cache
        self._slots = slots
        self._places = places
        self._num_keys = num_keys
        # A place after a token's own may hold what was left by another sequence, or by padding.
        # No token looks there before the place is written for its sequence.
        every_place = torch.arange(num_keys, device=slots.device)
        self.mask = (every_place <= places[:, :, None])[:, None]

    def extended(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        where = (self._slots[:, None], self._places)
        kept_keys = self._cache.keys[layer]
        kept_values = self._cache.values[layer]
        kept_keys[where] = keys
        kept_values[where] = values
        return (
            kept_keys[:, : self._num_keys].index_select(0, self._slots),
            kept_values[:, : self._num_keys].index_select(0, self._slots),
        )

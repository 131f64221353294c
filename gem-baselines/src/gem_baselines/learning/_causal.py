"""What a learner asks of a model. Knows no model; the types are torch's, which it does not import.

`gem_baselines.transformer` and `gem_baselines.hf` have one each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch
    from torch import Tensor

__all__ = ["CausalModel"]


class CausalModel(Protocol):
    """A torch module that reads rows of token ids. It computes alike in play and in learning."""

    @property
    def device(self) -> torch.device:
        """Where its weights are."""

    @property
    def has_critic(self) -> bool:
        """Whether it gives values."""

    def read(
        self, ids: Tensor, lengths: Tensor, logits_at: Tensor, values_at: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Read rows, and return logits and values at the places asked for.

        `ids` has shape (rows, tokens), of which the first `lengths` (rows,) of a row are read, as
        a sequence each, and the others are padding. `logits_at` and `values_at` are numbers of
        tokens in `ids` flattened. Logits have shape (places, ids), values (places,), or are None
        without a critic.
        """

    def parameters(self) -> Iterator[Any]: ...

    def state_dict(self) -> Mapping[str, Any]: ...

    def load_state_dict(self, state: Mapping[str, Any]) -> Any: ...

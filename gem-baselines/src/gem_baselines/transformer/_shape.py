"""The sizes of a transformer, as settings. Needs no torch."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["TransformerShape"]


class TransformerShape(BaseModel):
    """The sizes of a transformer.

    `max_length` is how many tokens it reads at most. `positions` says how a token knows where it
    stands: a learned vector for each place, or a rotation of queries and keys by it (arXiv
    2104.09864). With `tied`, the output has the weights of the embedding. `value_head` adds a
    critic: a number a token, read from the same last layer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(default=32, ge=1)
    layers: int = Field(default=2, ge=1)
    heads: int = Field(default=4, ge=1)
    max_length: int = Field(default=128, ge=2)
    positions: Literal["learned", "rotary"] = "learned"
    tied: bool = False
    value_head: bool = False

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> TransformerShape:
        # Rotary positions turn pairs of numbers, so a head needs an even number of them.
        step = self.heads * (2 if self.positions == "rotary" else 1)
        if self.width % step:
            raise ValueError(f"width={self.width} is no multiple of {step}")
        return self

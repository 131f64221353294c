"""A causal transformer with normalisation before each part. Knows nothing about text or sampling.

Shapes are written as (rows, tokens, width). Needs torch.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from gem_baselines.transformer._shape import TransformerShape

__all__ = ["CausalTransformer", "Past", "attention"]

_ROTARY_BASE = 10_000.0
_SEEDS = 2**64  # of torch's generators


class Past(Protocol):
    """The keys and values of tokens that were read before, and where new ones are kept."""

    def attended(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Keep the new keys and values of a layer; return what each new token takes from all.

        All have shape (rows, new tokens, heads, width of a head), what is returned too.
        """


class CausalTransformer(nn.Module):  # type: ignore[misc]  # torch is not read by the type checker
    """A transformer that reads token ids and gives, at each, the logits of the next.

    Weights are drawn from `seed` alone; torch's global generator is neither read nor moved.
    """

    def __init__(self, shape: TransformerShape, vocabulary_size: int, *, seed: int) -> None:
        super().__init__()
        self.shape = shape
        # On the device "meta" nothing is allocated, and nothing is drawn from the global generator.
        with torch.device("meta"):
            self.embedding = nn.Embedding(vocabulary_size, shape.width)
            if shape.positions == "learned":
                self.place_embedding = nn.Embedding(shape.max_length, shape.width)
            self.blocks = nn.ModuleList(_Block(shape, layer) for layer in range(shape.layers))
            self.norm = nn.LayerNorm(shape.width)
            self.head = nn.Linear(shape.width, vocabulary_size, bias=False)
            if shape.value_head:
                self.value_head = nn.Linear(shape.width, 1)
        self.to_empty(device="cpu")
        self._initialise(seed)
        # Last: what is tied has one tensor, which is drawn once, as the embedding.
        if shape.tied:
            self.head.weight = self.embedding.weight

    def _initialise(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed % _SEEDS)
        # A layer then halves the spread of what it reads, whatever its width. With 0.02, as large
        # models begin, examples/reinforce_rebn.py needs 400 updates for what 250 do so.
        initial_std = 0.5 / math.sqrt(self.shape.width)
        # What is added to the stream of each layer is drawn smaller, so that their sum has the
        # same spread for any number of layers.
        residual_std = initial_std / math.sqrt(2 * self.shape.layers)
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name.endswith("bias"):
                    parameter.zero_()
                elif "norm" in name:
                    parameter.fill_(1.0)
                elif name.startswith("value_head"):
                    parameter.zero_()  # a critic that has seen nothing expects nothing
                else:
                    is_residual = name.endswith(("out.weight", "down.weight"))
                    std = residual_std if is_residual else initial_std
                    parameter.normal_(0.0, std, generator=generator)

    def forward(self, ids: Tensor, places: Tensor, past: Past | None = None) -> Tensor:
        """Return the last layer at each token, normalised: shape (rows, tokens, width).

        `ids` and `places`, where each token stands in its sequence, have shape (rows, tokens).
        Without a `past` the tokens of a row are a whole sequence, and each looks at those before
        it and itself: padding after a sequence changes nothing in it.
        """
        stream = self.embedding(ids)
        rotation = None
        if self.shape.positions == "learned":
            stream = stream + self.place_embedding(places)
        else:
            rotation = _rotation(places, self.shape.width // self.shape.heads)
        for block in self.blocks:
            stream = block(stream, rotation, past)
        hidden: Tensor = self.norm(stream)
        return hidden

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        device: torch.device = self.embedding.weight.device
        return device

    @property
    def has_critic(self) -> bool:
        """Whether it gives values."""
        return self.shape.value_head

    def read(
        self, ids: Tensor, lengths: Tensor, logits_at: Tensor, values_at: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Read rows for a learner: see `CausalModel`. What stands behind a row changes nothing."""
        places = torch.arange(ids.shape[1], device=ids.device).expand(len(ids), -1)
        hidden = self(ids, places).flatten(0, 1)
        values = self.values(hidden[values_at]) if self.has_critic else None
        return self.logits(hidden[logits_at]), values

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the logits of the next token: the last axis is the vocabulary."""
        logits: Tensor = self.head(hidden)
        return logits

    def values(self, hidden: Tensor) -> Tensor:
        """Return what the critic expects: the shape of `hidden` without its last axis."""
        values: Tensor = self.value_head(hidden).squeeze(-1)
        return values


class _Block(nn.Module):  # type: ignore[misc]  # as above
    """Attention, then a feed-forward layer; each is added to the stream."""

    def __init__(self, shape: TransformerShape, layer: int) -> None:
        super().__init__()
        self._layer = layer
        self._heads = shape.heads
        width = shape.width
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.feed_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(
        self, stream: Tensor, rotation: tuple[Tensor, Tensor] | None, past: Past | None
    ) -> Tensor:
        stream = stream + self._attended(self.attention_norm(stream), rotation, past)
        raised = functional.gelu(self.up(self.feed_norm(stream)), approximate="tanh")
        return stream + self.down(raised)

    def _attended(
        self, stream: Tensor, rotation: tuple[Tensor, Tensor] | None, past: Past | None
    ) -> Any:
        # Shape (rows, tokens, 3, heads, width of a head): queries, keys and values.
        projected = self.qkv(stream).unflatten(-1, (3, self._heads, -1))
        queries, keys, values = projected.unbind(2)
        if rotation is not None:
            queries, keys = _rotated(projected[:, :, :2], rotation).unbind(2)
        if past is None:
            mixed = attention(queries, keys, values)
        else:
            mixed = past.attended(self._layer, queries, keys, values)
        return self.out(mixed.flatten(2))


def attention(
    queries: Tensor, keys: Tensor, values: Tensor, *, mask: Tensor | None = None
) -> Tensor:
    """Return what each query takes from the values: shape (rows, tokens, heads, width of a head).

    `mask`, of shape (rows, 1, queries, keys), is added to what a query makes of a key. Without one
    each query looks at the keys up to its own place.
    """
    mixed: Tensor = functional.scaled_dot_product_attention(
        queries.transpose(1, 2),
        keys.transpose(1, 2),
        values.transpose(1, 2),
        attn_mask=mask,
        is_causal=mask is None,
    )
    return mixed.transpose(1, 2)


def _rotation(places: Tensor, head_width: int) -> tuple[Tensor, Tensor]:
    """Return the cosines and sines by which each token's pairs of numbers are turned.

    Both have shape (rows, tokens, 1, 1, half the width of a head).
    """
    powers = torch.arange(0, head_width, 2, device=places.device) / head_width
    angles = places[:, :, None, None, None] * _ROTARY_BASE**-powers
    return angles.cos(), angles.sin()


def _rotated(stream: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    cosines, sines = rotation
    first, second = stream.chunk(2, dim=-1)
    turned = (first * cosines - second * sines, first * sines + second * cosines)
    return torch.cat(turned, dim=-1)

"""Sample answers to many sequences at once, and keep what was computed for the turns that follow.

Knows nothing about requests or text. Needs torch.

What is computed for a sequence depends on that sequence alone. Arithmetic on floats depends on the
shapes that it is done in, so rows of as many new tokens are put together, always in blocks of the
same size, filled up with padding. Attention looks at a row alone, and its shape follows from how
many tokens the row has. Both numbers of tokens are rounded up to a power of two.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gem_baselines._sampling import Answer, Question
from gem_baselines.transformer._cache import KeyValueCache, SlotRows
from gem_baselines.transformer._model import CausalTransformer
from gem_baselines.transformer._prefixes import PrefixSlots

__all__ = ["Sampler"]

_MOST_ROWS = 64  # of a block
_MOST_TOKENS = 256  # of a block of several rows
_MOST_SLOTS = 512
_FEWEST_KEYS = 16


class _Feed(NamedTuple):
    """New tokens of the sequence in a slot, the first of which stands at `start`."""

    slot: int
    start: int
    ids: Sequence[int]


class Sampler:
    """Continues sequences, and keeps their keys and values in at most `cache_mb` megabytes.

    A sequence that begins with one that was continued before, and more, has only its new tokens
    computed. Where the cache has lost it (it holds 512 sequences at most, and as many as there is
    room for), all of it is computed again: the same but for rounding, about 1e-7 in a logprob.
    """

    def __init__(
        self,
        model: CausalTransformer,
        *,
        end_id: int,
        temperature: float,
        cache_mb: float,
        device: torch.device,
    ) -> None:
        self._model = model
        self._end_id = end_id
        self._temperature = temperature
        self._device = device
        # Twice: a row of new tokens is rounded up to at most twice the length that is left.
        # And never fewer places than a block looks at.
        length = max(_FEWEST_KEYS, 2 * _power_of_two(model.shape.max_length))
        slot_bytes = KeyValueCache.bytes_of_slot(model.shape, length)
        self.num_slots = max(1, min(_MOST_SLOTS, int(cache_mb * 1e6 / slot_bytes)))
        self._slots = PrefixSlots(self.num_slots)
        self._cache = KeyValueCache(model.shape, self.num_slots, length, device)

    def forget(self) -> None:
        """Forget all that is kept: the model has changed."""
        self._slots.clear()

    def sample(self, questions: Sequence[Question], *, is_greedy: bool) -> list[Answer]:
        """Return a continuation of each sequence, up to the end token or its limit.

        Each draws from a generator of its own, made of its seed. A logprob is of the distribution
        that was drawn from, the model's at the sampler's temperature; with `is_greedy` the most
        probable token is taken instead, with its logprob there.
        """
        answers: list[Answer] = []
        # A sequence occupies a slot while it is continued, and there are so many.
        for begin in range(0, len(questions), self.num_slots):
            part = questions[begin : begin + self.num_slots]
            answers += self._continued(part, is_greedy=is_greedy)
        return answers

    def _continued(self, questions: Sequence[Question], *, is_greedy: bool) -> list[Answer]:
        rows = [_Row(question, *self._slots.take(question.ids)) for question in questions]
        # Nothing is kept of rows that an error leaves half computed: their slots are lost, so all
        # are forgotten.
        try:
            self._continue(rows, is_greedy=is_greedy)
        except BaseException:
            self._slots.clear()
            raise
        for row in rows:
            # The last token that was drawn has not been read: it is with the next turn's tokens.
            self._slots.put(row.slot, row.question.ids + tuple(row.ids[:-1]))
        return [Answer(tuple(row.ids), tuple(row.logprobs)) for row in rows]

    def _continue(self, rows: Sequence[_Row], *, is_greedy: bool) -> None:
        feeds = [_Feed(row.slot, row.num_read, row.question.ids[row.num_read :]) for row in rows]
        while rows:
            logprobs = _log_softmax(self._logits(feeds) / self._temperature)
            if is_greedy:
                chosen = logprobs.argmax(axis=1)
            else:
                chosen = _drawn(logprobs, [row.chance.random() for row in rows])
            for row, token, token_logprobs in zip(rows, chosen.tolist(), logprobs, strict=True):
                row.ids.append(token)
                row.logprobs.append(float(token_logprobs[token]))
            rows = [row for row in rows if not row.is_done(self._end_id)]
            feeds = [
                _Feed(row.slot, len(row.question.ids) + len(row.ids) - 1, row.ids[-1:])
                for row in rows
            ]

    def _logits(self, feeds: Sequence[_Feed]) -> NDArray[np.float64]:
        """Read the new tokens, and return the logits after the last of each: (feeds, ids)."""
        logits = np.empty((len(feeds), self._model.embedding.num_embeddings))
        for block in _blocks(feeds):
            logits[block.places] = self._logits_of(block, [feeds[place] for place in block.places])
        return logits

    def _logits_of(self, block: _Block, feeds: Sequence[_Feed]) -> NDArray[np.float32]:
        ids = np.zeros((block.num_rows, block.num_tokens), np.int64)
        places = np.zeros((block.num_rows, 1), np.int64) + np.arange(block.num_tokens)
        last = np.zeros(block.num_rows, np.int64)
        for row, feed in enumerate(feeds):
            ids[row, : len(feed.ids)] = feed.ids
            places[row] += feed.start
            last[row] = len(feed.ids) - 1
        with torch.inference_mode():
            place_tensor = torch.from_numpy(places).to(self._device)
            slot_rows = SlotRows(
                self._cache,
                torch.tensor([feed.slot for feed in feeds], device=self._device),
                place_tensor[: len(feeds)],
                num_keys=[_num_keys(feed) for feed in feeds],
            )
            hidden = self._model(
                torch.from_numpy(ids).to(self._device),
                # Padding may stand where the model has no place. Nobody uses what comes of it.
                place_tensor.clamp(max=self._model.shape.max_length - 1),
                slot_rows,
            )
            rows = torch.arange(block.num_rows, device=self._device)
            logits = self._model.logits(hidden[rows, torch.from_numpy(last).to(self._device)])
            array: NDArray[np.float32] = logits[: len(feeds)].float().cpu().numpy()
        return array


class _Row:
    """A sequence while it is continued."""

    def __init__(self, question: Question, slot: int, num_read: int) -> None:
        self.question = question
        self.slot = slot
        self.num_read = num_read  # tokens that the slot held at first
        self.chance = random.Random(question.seed)
        self.ids: list[int] = []
        self.logprobs: list[float] = []

    def is_done(self, end_id: int) -> bool:
        return self.ids[-1] == end_id or len(self.ids) >= self.question.limit


class _Block(NamedTuple):
    """What is computed in one go: some of the feeds, and the shape that they are put into."""

    places: list[int]
    num_rows: int
    num_tokens: int


def _blocks(feeds: Sequence[_Feed]) -> Iterator[_Block]:
    by_length: dict[int, list[int]] = defaultdict(list)
    for place, feed in enumerate(feeds):
        by_length[_power_of_two(len(feed.ids))].append(place)
    for num_tokens, places in by_length.items():
        # Side by side those that look at as many keys, which attend together.
        places.sort(key=lambda place: _num_keys(feeds[place]))
        num_rows = max(1, min(_MOST_ROWS, _MOST_TOKENS // num_tokens))
        for begin in range(0, len(places), num_rows):
            yield _Block(places[begin : begin + num_rows], num_rows, num_tokens)


def _num_keys(feed: _Feed) -> int:
    """Return how many places of its slot are looked at, those of its padding included."""
    return _power_of_two(max(_FEWEST_KEYS, feed.start + _power_of_two(len(feed.ids))))


def _power_of_two(number: int) -> int:
    """Return the smallest power of two that is not below a positive number."""
    return 1 << (number - 1).bit_length()


def _log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = logits - logits.max(axis=1, keepdims=True)
    normalised: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return normalised


def _drawn(logprobs: NDArray[np.float64], uniforms: Sequence[float]) -> NDArray[np.int64]:
    """Draw a token of each row: the first up to which the probabilities exceed its uniform."""
    reached = np.exp(logprobs).cumsum(axis=1)
    # Of what they sum to, which rounding keeps from being 1.
    thresholds = np.asarray(uniforms)[:, None] * reached[:, -1:]
    num_below = (reached <= thresholds).sum(axis=1)
    # A threshold may be rounded up to the whole sum.
    tokens: NDArray[np.int64] = num_below.clip(max=logprobs.shape[1] - 1)
    return tokens

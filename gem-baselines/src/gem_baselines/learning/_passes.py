"""Forward passes over rows: what a model gives for their tokens. Needs torch; knows no loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gem_baselines.learning._causal import CausalModel
from gem_baselines.learning._rows import Row
from gem_baselines.learning_policy import Floats

__all__ = ["Pass", "Reading", "in_parts", "read", "run_pass"]

_PART_COSTS = 256  # tokens that a small model computes in the time of a part's own calls


class Pass(NamedTuple):
    """What a model gives for some rows: all that is asked of them in one line, row after row.

    `logprobs` (tokens,) are of the model's own tokens, `all_logprobs` (tokens, ids) of the
    distributions that these were drawn from. `values` is what the critic expects at each of the
    rows' `value_places`, None without a critic.
    """

    logprobs: Tensor
    all_logprobs: Tensor
    values: Tensor | None


class Reading(NamedTuple):
    """What a model gives for one row, as arrays: the fields of a `Pass`, without gradients."""

    logprobs: Floats
    values: Floats | None


def run_pass(model: CausalModel, rows: Sequence[Row], *, temperature: float) -> Pass:
    """Read rows, each whole and all at once."""
    device = model.device
    length = max(len(row.ids) for row in rows)
    ids = np.zeros((len(rows), length), np.int64)
    for number, row in enumerate(rows):
        # What is left behind a row is padding, at which no token of the row looks.
        ids[number, : len(row.ids)] = row.ids
    # The distribution of a token stands at the token before it.
    before = [number * length + row.places - 1 for number, row in enumerate(rows)]
    values_at = [number * length + row.value_places for number, row in enumerate(rows)]
    logits, values = model.read(
        torch.from_numpy(ids).to(device),
        torch.tensor([len(row.ids) for row in rows], device=device),
        logits_at=_joined(before, device),
        values_at=_joined(values_at, device),
    )
    all_logprobs = (logits.float() / temperature).log_softmax(-1)
    tokens = _joined([row.ids[row.places] for row in rows], device)
    logprobs = all_logprobs.gather(1, tokens[:, None]).squeeze(1)
    return Pass(logprobs, all_logprobs, None if values is None else values.float())


def read(
    model: CausalModel,
    rows: Sequence[Row],
    *,
    temperature: float,
    rows_at_once: int | None = None,
) -> list[Reading]:
    """Return what a model gives for each row, without gradients."""
    readings: dict[int, Reading] = {}
    for numbers in in_parts(rows, rows_at_once):
        part = [rows[number] for number in numbers]
        with torch.no_grad():
            result = run_pass(model, part, temperature=temperature)
        logprobs = _split(result.logprobs, [len(row.places) for row in part])
        values: list[Floats] | list[None] = [None] * len(part)
        if result.values is not None:
            values = _split(result.values, [len(row.value_places) for row in part])
        for number, row_logprobs, row_values in zip(numbers, logprobs, values, strict=True):
            readings[number] = Reading(row_logprobs, row_values)
    return [readings[number] for number in range(len(rows))]


def in_parts(rows: Sequence[Row], rows_at_once: int | None) -> Iterator[list[int]]:
    """Yield the numbers of the rows that go together through a pass; each row is in one part.

    Rows of similar length go together. A part has `rows_at_once` rows at most, and is ended
    where padding would take longer than another part. None is one part of all rows.
    """
    order = sorted(range(len(rows)), key=lambda number: len(rows[number].ids))
    part: list[int] = []
    padding = 0
    longest = 0
    for number in order:
        length = len(rows[number].ids)
        padding += len(part) * (length - longest)
        is_full = len(part) == rows_at_once or padding > _PART_COSTS
        if part and is_full and rows_at_once is not None:
            yield part
            part = []
            padding = 0
        part.append(number)
        longest = length
    if part:
        yield part


def _joined(arrays: Sequence[NDArray[np.int64]], device: torch.device) -> Tensor:
    return torch.from_numpy(np.concatenate(arrays)).to(device)


def _split(line: Tensor, lengths: Sequence[int]) -> list[Floats]:
    array = line.double().cpu().numpy()
    return np.split(array, np.cumsum(lengths)[:-1])

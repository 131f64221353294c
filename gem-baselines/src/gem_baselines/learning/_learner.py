"""Improve a model by rows: minibatches, losses, steps of Adam. Needs torch.

Knows nothing about how episodes are played or advantages estimated.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch

from gem_baselines.learning._causal import CausalModel
from gem_baselines.learning._figures import Figures
from gem_baselines.learning._loss import entropy_of
from gem_baselines.learning._objective import Known, Weighted, loss_of
from gem_baselines.learning._passes import Reading, in_parts, read, run_pass
from gem_baselines.learning._rows import Row, token_weights
from gem_baselines.learning._settings import LearningSettings
from gem_baselines.learning_policy import Floats

__all__ = ["Learner"]

_SEEDS = 2**64
_BETAS = (0.9, 0.95)


class Learner:
    """Steps of Adam on a model, by policy gradients.

    `seed` decides which episodes share a minibatch, and nothing else. On a CPU the same rows give
    the same weights, bit for bit, with the same number of threads.
    """

    def __init__(
        self,
        model: CausalModel,
        settings: LearningSettings,
        *,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.settings = settings
        self.num_updates = 0
        self._temperature = temperature
        self._seed = seed % _SEEDS  # a seed of a generator is not negative
        # Fused: one call for all weights, where each has its own otherwise; a small model is
        # mostly calls.
        self._optimizer = torch.optim.Adam(
            model.parameters(), lr=settings.lr, betas=_BETAS, fused=True
        )
        self._reference: CausalModel | None = None
        if settings.kl_weight > 0:
            self._reference = copy.deepcopy(model)
            for parameter in self._reference.parameters():
                parameter.requires_grad_(False)

    def update(self, rows: Sequence[Row]) -> dict[str, float]:
        """Improve the model by rows, of which there is one at least, and return the figures of it.

        They are means over tokens, or over steps or turns where they are of these: `loss`,
        `grad_norm` before it is cut, `entropy` in nats, `clip_share` (of tokens whose ratio is
        beyond the clip), `kl` (k3, from the policy of a step to that before the update),
        `logprob_gap` (the distance of the learner's logprobs from the sampler's before the first
        step), and, where there is one, `reference_kl` and `value_loss` of the critic.
        """
        figures = Figures()
        known = self._known(rows)
        for epoch in range(self.settings.epochs):
            for step, numbers in enumerate(self._minibatches(rows, epoch)):
                minibatch = self._weighted(rows, known, numbers)
                self._step(minibatch, figures, is_first=epoch == 0 and step == 0)
        self.num_updates += 1
        return figures.means()

    def values(self, rows: Sequence[Row]) -> list[Floats]:
        """Return what the critic expects at each of the `value_places` of each row."""
        values = []
        for reading in self._readings(self.model, rows):
            assert reading is not None
            assert reading.values is not None
            values.append(reading.values)
        return values

    def reported(self, rows: Sequence[Row]) -> list[tuple[Floats, Floats]]:
        """Return the logprobs and the entropies of the model's own tokens, row by row, as it is."""
        found: dict[int, tuple[Floats, Floats]] = {}
        for numbers in in_parts(rows, self.settings.rows_at_once):
            part = [rows[number] for number in numbers]
            with torch.no_grad(), self._autocast():
                result = run_pass(self.model, part, temperature=self._temperature)
                entropies = entropy_of(result.all_logprobs).double().cpu().numpy()
            logprobs = result.logprobs.double().cpu().numpy()
            ends = np.cumsum([len(row.places) for row in part])[:-1]
            arrays = zip(np.split(logprobs, ends), np.split(entropies, ends), strict=True)
            found.update(zip(numbers, arrays, strict=True))
        return [found[number] for number in range(len(rows))]

    def state(self) -> dict[str, Any]:
        """Return everything that decides what it does next, as tensors and plain data."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "reference": None if self._reference is None else self._reference.state_dict(),
            "num_updates": self.num_updates,
        }

    def take_on(self, state: Mapping[str, Any]) -> None:
        """Take on what `state` gave. Raises what torch does where that is of another model."""
        self.model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])
        # The settings decide, and not what the file was written with.
        for group in self._optimizer.param_groups:
            group["lr"] = self.settings.lr
        if self._reference is not None and state["reference"] is not None:
            self._reference.load_state_dict(state["reference"])
        self.num_updates = state["num_updates"]

    def _step(self, minibatch: Sequence[Weighted], figures: Figures, *, is_first: bool) -> None:
        settings = self.settings
        self._optimizer.zero_grad()
        rows = [each.row for each in minibatch]
        for numbers in in_parts(rows, settings.rows_at_once):
            part = [minibatch[number] for number in numbers]
            with self._autocast():
                result = run_pass(
                    self.model, [each.row for each in part], temperature=self._temperature
                )
            loss = loss_of(result, part, settings, figures)
            # Gradients add up over the parts: each has its share of the minibatch's loss already.
            loss.backward()
            figures.add("loss", loss, 0)
            if is_first:
                sampler = np.concatenate([each.known.sampler for each in part])
                gap = np.abs(result.logprobs.detach().double().cpu().numpy() - sampler)
                figures.add("logprob_gap", float(gap.sum()), len(gap))
        figures.add("loss", 0.0, 1)
        most = float("inf") if settings.max_grad_norm is None else settings.max_grad_norm
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), most)
        figures.add("grad_norm", norm, 1)
        self._optimizer.step()

    def _minibatches(self, rows: Sequence[Row], epoch: int) -> Iterator[list[int]]:
        """Yield the numbers of each minibatch's rows: whole episodes, in a random order."""
        episodes = np.unique([row.episode for row in rows])
        if self.settings.minibatches > 1:
            # Keyed by update and epoch, so that a checkpoint holds no generator.
            chance = np.random.default_rng([self._seed, self.num_updates, epoch])
            chance.shuffle(episodes)
        for part in np.array_split(episodes, self.settings.minibatches):
            chosen = set(part.tolist())
            numbers = [number for number, row in enumerate(rows) if row.episode in chosen]
            # There may be fewer episodes than minibatches.
            if numbers:
                yield numbers

    def _weighted(
        self, rows: Sequence[Row], known: Sequence[Known], numbers: Sequence[int]
    ) -> list[Weighted]:
        settings = self.settings
        chosen = [rows[number] for number in numbers]
        weights = token_weights(chosen, settings.aggregation, settings.constant)
        value_weight = 1.0 / sum(len(row.value_places) for row in chosen)
        return [
            Weighted(rows[number], known[number], row_weights, value_weight)
            for number, row_weights in zip(numbers, weights, strict=True)
        ]

    def _known(self, rows: Sequence[Row]) -> list[Known]:
        """Return what has to be known of each row before the first step changes the model."""
        settings = self.settings
        nothing: list[Reading | None] = [None] * len(rows)
        needs_own = (
            settings.importance_cap is not None
            or settings.value_clip is not None
            or any(row.logprobs is None for row in rows)
        )
        own = self._readings(self.model, rows) if needs_own else nothing
        references = nothing
        if self._reference is not None:
            references = self._readings(self._reference, rows)
        return [
            self._known_of(row, row_own, reference)
            for row, row_own, reference in zip(rows, own, references, strict=True)
        ]

    def _known_of(self, row: Row, own: Reading | None, reference: Reading | None) -> Known:
        sampler = row.logprobs
        if sampler is None:
            # The sampler gave none: it is taken to compute as the learner does.
            assert own is not None
            sampler = own.logprobs
        old = sampler
        if self.settings.importance_cap is not None:
            assert own is not None
            old = own.logprobs
        return Known(
            sampler=sampler,
            old=old,
            reference=None if reference is None else reference.logprobs,
            old_values=None if own is None else own.values,
        )

    def _readings(self, model: CausalModel, rows: Sequence[Row]) -> list[Reading | None]:
        with self._autocast():
            readings = read(
                model,
                rows,
                temperature=self._temperature,
                rows_at_once=self.settings.rows_at_once,
            )
        return list(readings)

    def _autocast(self) -> AbstractContextManager[Any]:
        is_on = self.settings.precision == "bf16"
        autocast: AbstractContextManager[Any] = torch.autocast(
            self.model.device.type, dtype=torch.bfloat16, enabled=is_on
        )
        return autocast

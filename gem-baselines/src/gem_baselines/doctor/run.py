"""A training as the doctor sees it: figures by update, and samples of what some updates learnt.

It is the same for every program that trained. Knows nothing about files or about what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from gem.episode import Episode
from gem_baselines.learning_policy import Floats
from gem_baselines.text import Tokenizer
from gem_baselines.training.advantages import ESTIMATORS

__all__ = ["Evaluation", "Played", "Run", "Sample", "Series", "Shown", "ShownRow"]

_CUT = frozenset({"truncated", "max_turns", "max_tokens", "model_length"})
_ERRORS = frozenset({"env_error", "step_timeout", "worker_lost", "policy_error"})


class Series(NamedTuple):
    """A figure at some updates, in order: `updates` and `values` have one shape, (updates,)."""

    updates: Floats
    values: Floats


class Played(NamedTuple):
    """An episode of a batch in numbers.

    `start` names its group. `rewards` has an entry a turn, and so has `answer_tokens` where the
    policy plays by tokens. `advantages`, `values` and `value_targets`, where they are known, have
    an entry a turn, or one a token where the estimator credits tokens.
    """

    start: tuple[int, ...]
    repeat: int
    seed: int
    task: int | None
    stop_reason: str
    success: bool | None
    rewards: Floats
    answer_tokens: Floats | None
    cut_answers: int
    is_learnt: bool
    advantages: Floats | None
    values: Floats | None
    value_targets: Floats | None

    @property
    def is_error(self) -> bool:
        """Whether an error ended it."""
        return self.stop_reason in _ERRORS

    @property
    def is_cut(self) -> bool:
        """Whether a limit ended it."""
        return self.stop_reason in _CUT


class ShownRow(NamedTuple):
    """A sequence of an episode as the learner had it: the fields of a `LearntRow`.

    `learner_after` are the learner's logprobs after the update.
    """

    ids: tuple[int, ...] | None
    places: tuple[int, ...]
    advantages: Floats
    sampler: Floats | None
    learner: Floats
    learner_after: Floats
    entropies: Floats | None


class Shown(NamedTuple):
    """An episode of a batch with its record; `rows` is None where the policy shows none."""

    number: int
    episode: Episode
    advantages: Floats | None
    rows: tuple[ShownRow, ...] | None


@dataclass(frozen=True, slots=True)
class Sample:
    """What one update played and learnt from. `baseline` is that of the estimator `constant`."""

    update: int
    played: Sequence[Played]
    shown: Sequence[Shown]
    baseline: float = 0.0

    @property
    def learnt(self) -> list[Played]:
        """The episodes that the batch was made of, in its order."""
        return [episode for episode in self.played if episode.is_learnt]


class Evaluation(NamedTuple):
    """Held-out play of the policy after an update, with drawn actions.

    `rewards`, `success` and `turns` have an entry an episode.
    """

    update: int
    rewards: Floats
    success: Floats
    turns: Floats


@dataclass(frozen=True, slots=True)
class Run:
    """One training. `settings` are those of its experiment, empty where the program kept none.

    `gamma`, `estimator` and so on are read from them. `series` has a figure by its name: `reward`,
    `success`, `turns`, `errors` (a share), `entropy`, `kl` (of an update), `clip_share`,
    `logprob_gap`, `grad_norm`, `flat_share` (of groups), `answer_tokens`, `cut_share`,
    `eval_reward`. `tokenizer` shows tokens as texts. `unreadable` counts the lines that could
    not be read, by the file that they are in; all else is of the other lines.
    """

    path: Path
    kind: Literal["training", "trl"]
    series: Mapping[str, Series] = field(default_factory=dict)
    samples: Sequence[Sample] = ()
    evaluations: Sequence[Evaluation] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: Tokenizer | None = None
    unreadable: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_rows(self) -> bool:
        """Whether any sample shows what the learner was given."""
        return any(shown.rows is not None for each in self.samples for shown in each.shown)

    @property
    def has_credit(self) -> bool:
        """Whether any sample has advantages."""
        return any(one.advantages is not None for each in self.samples for one in each.played)

    @property
    def credits_tokens(self) -> bool:
        """Whether its estimator gives each token of an answer an advantage, and not each turn."""
        estimator = ESTIMATORS.get(str(self.settings.get("estimator")))
        if estimator is not None:
            return estimator.per == "token"
        # One of somebody's own: a training refuses any other number than one a turn or a token.
        return any(
            one.advantages is not None and len(one.advantages) != len(one.rewards)
            for each in self.samples
            for one in each.learnt
        )

    def figure(self, name: str) -> Series:
        """Return a figure by its name, empty where the run has none."""
        return self.series.get(name, Series(np.zeros(0), np.zeros(0)))

    def token_text(self, token: int) -> str:
        """Return a token as a text to show: its id where no tokenizer is known."""
        if self.tokenizer is None:
            return f"id {token}"
        specials = {
            self.tokenizer.begin_id: "<begin>",
            self.tokenizer.answer_id: "<answer>",
            self.tokenizer.end_id: "<end>",
        }
        return specials.get(token) or repr(self.tokenizer.decode([token]))

"""Samples of evaluations: the same first starts after several updates of one training."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gem.episode import Episode
from gem_eval.viewing.trainings.logs import first_episodes, log_name
from gem_eval.viewing.trainings.training import MODES, EvaluationLine, ViewedTraining

__all__ = ["EvaluationRow", "SampledEpisode", "Samples", "evaluation_rows", "samples_of"]

_STARTS = 6
_UPDATES = 7
_MOST_ROWS = 40
_MOST_ACTIONS = 40
_LONGEST_ACTION = 24
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
_LONGEST_ACTIONS = 80


class SampledEpisode(NamedTuple):
    """One episode. `outcome` is succeeded, failed or error; `address` is that of its page."""

    outcome: str
    turns: int
    actions: str
    address: str


class Samples(NamedTuple):
    """A table: a row a start, a column an update, None where an episode cannot be read."""

    updates: tuple[int, ...]
    rows: tuple[tuple[SampledEpisode | None, ...], ...]


class EvaluationRow(NamedTuple):
    """An evaluation, and by mode the address of its episodes, None where there is no log."""

    evaluation: EvaluationLine
    addresses: tuple[str | None, ...]


def evaluation_rows(training: ViewedTraining) -> list[EvaluationRow]:
    """Return the evaluations of a training, at most 40: the first, the last, and some between."""
    found = []
    for evaluation in spread(training.evaluations, _MOST_ROWS):
        addresses = []
        for mode in MODES:
            log = training.folder.episodes_path(evaluation.update, mode)
            name = log_name(training, evaluation.update, mode)
            addresses.append(f"/runs/{name}" if log.is_file() else None)
        found.append(EvaluationRow(evaluation, tuple(addresses)))
    return found


def samples_of(training: ViewedTraining) -> Samples | None:
    """Return what drawn actions came to on the first starts, None where no log is there."""
    mode = MODES[0]
    columns: list[list[SampledEpisode | None]] = []
    updates = []
    for evaluation in spread(training.evaluations, _UPDATES):
        log = training.folder.episodes_path(evaluation.update, mode)
        name = log_name(training, evaluation.update, mode)
        episodes = first_episodes(log, _STARTS)
        if episodes:
            updates.append(evaluation.update)
            columns.append(
                [_sample(name, line, each) for line, each in enumerate(episodes, start=1)]
            )
    if not columns:
        return None
    most = max(len(column) for column in columns)
    rows = [
        tuple(column[place] if place < len(column) else None for column in columns)
        for place in range(most)
    ]
    return Samples(tuple(updates), tuple(rows))


def spread(items: Sequence[EvaluationLine], most: int) -> list[EvaluationLine]:
    """Return at most so many items, the first and the last among them, as even as can be."""
    if len(items) <= most:
        return [*items]
    last = len(items) - 1
    return [items[round(number * last / (most - 1))] for number in range(most)]


def _sample(name: str, line: int, episode: Episode | None) -> SampledEpisode | None:
    if episode is None:
        return None
    outcome = "succeeded" if episode.success else "failed"
    actions = " ".join(_short(f"{turn.action}") for turn in episode.turns[:_MOST_ACTIONS])
    if len(actions) > _LONGEST_ACTIONS:
        actions = f"{actions[: _LONGEST_ACTIONS - 1]}…"
    return SampledEpisode(
        "error" if episode.is_error else outcome,
        len(episode.turns),
        actions,
        f"/runs/{name}/episodes/{line}",
    )


def _short(action: str) -> str:
    r"""Return an action for a small place: of one that is a box alone, what is in it.

    >>> _short(r"\boxed{7}"), _short("north")
    ('7', 'north')
    """
    boxed = _BOXED.fullmatch(action[: 2 * _LONGEST_ACTION].strip())
    text = boxed[1] if boxed else action
    return text[:_LONGEST_ACTION]

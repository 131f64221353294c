"""Read a training folder as the doctor sees it. Knows nothing about what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gem.episode import Episode
from gem.errors import BadArguments, in_one_line
from gem_baselines.doctor.json_lines import JsonLines
from gem_baselines.doctor.run import Evaluation, Played, Run, Sample, Series, Shown, ShownRow
from gem_baselines.errors import DAMAGED, FolderError
from gem_baselines.learning_policy import Floats
from gem_baselines.self_play.self_play import own_parts
from gem_baselines.text import Tokenizer, tokenizer_from

__all__ = ["read_samples", "read_training", "series_of"]

_LEARNING = ("entropy", "kl", "clip_share", "logprob_gap", "grad_norm", "reference_kl")
_FIGURES = ("reward", "success", "turns")


def read_training(folder: Path) -> Run:
    """Read what `gem-env train` left, finished or not. Raises FolderError."""
    settings = _settings(folder)
    metrics = folder / "metrics.jsonl"
    lines = JsonLines(folder)
    try:
        series = _figures(lines.read(metrics, may_grow=True))
    except DAMAGED as error:
        raise _damaged("figures", metrics, error) from error
    try:
        evaluations = list(_evaluations(folder, lines))
    except DAMAGED as error:
        raise _damaged("evaluations", folder / "evaluations.jsonl", error) from error
    return Run(
        path=folder,
        kind="training",
        series=series,
        samples=read_samples(folder, lines),
        evaluations=evaluations,
        settings=settings,
        tokenizer=_tokenizer(settings),
        unreadable=lines.unreadable,
    )


def _damaged(what: str, path: Path, error: Exception) -> FolderError:
    return FolderError(
        f"The {what} in {path} cannot be read ({in_one_line(error)}). It may be of another "
        "version of gem-baselines, or damaged.",
        path=path,
    )


def _settings(folder: Path) -> dict[str, Any]:
    """Return the settings of the experiment that was trained. Raises FolderError."""
    try:
        record = json.loads((folder / "experiment.json").read_bytes())
    except OSError as error:
        raise _no_training(folder, f"cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise _no_training(folder, f"is no JSON ({in_one_line(error)})") from error
    settings = record.get("experiment") if isinstance(record, dict) else None
    if not isinstance(settings, dict):
        raise _no_training(folder, "has no settings of an experiment")
    return settings


def _no_training(folder: Path, problem: str) -> FolderError:
    return FolderError(
        f"The training in {folder} was to be read, and its experiment.json {problem}. Give a "
        "folder that `gem-env train` wrote.",
        path=folder,
    )


def series_of(pairs: Sequence[tuple[float, float]]) -> Series:
    """Return a series of updates and values."""
    array = np.array(pairs, np.float64).reshape(-1, 2)
    return Series(array[:, 0], array[:, 1])


def read_samples(folder: Path, lines: JsonLines) -> list[Sample]:
    """Read the samples of a run, by update; those that are whole. Raises FolderError."""
    samples = []
    for path in sorted((folder / "samples").glob("*.json")):
        try:
            samples.append(_sample(path, lines))
        except (OSError, *DAMAGED) as error:
            raise FolderError(
                f"The sample {path} cannot be read ({in_one_line(error)}). It may be damaged: "
                "remove it, and the .jsonl of the same name.",
                path=path,
            ) from error
    return samples


def _sample(path: Path, lines: JsonLines) -> Sample:
    batch = json.loads(path.read_bytes())
    episodes = lines.read(path.with_suffix(".jsonl"), may_grow=False)  # it was written whole
    return Sample(
        update=int(batch["update"]),
        played=[_played(plain) for plain in batch["episodes"]],
        shown=[_shown(plain) for plain in episodes],
        baseline=float(batch.get("baseline") or 0.0),
    )


def _played(plain: Mapping[str, Any]) -> Played:
    return Played(
        start=tuple(plain["start"]),
        repeat=plain["repeat"],
        seed=plain["seed"],
        task=plain["task"],
        stop_reason=plain["stop_reason"],
        success=plain["success"],
        rewards=_floats(plain["rewards"]),
        answer_tokens=_floats_or_none(plain["answer_tokens"]),
        cut_answers=plain["cut_answers"],
        is_learnt=plain["is_learnt"],
        advantages=_floats_or_none(plain.get("advantages")),
        values=_floats_or_none(plain.get("values")),
        value_targets=_floats_or_none(plain.get("value_targets")),
    )


def _shown(plain: Mapping[str, Any]) -> Shown:
    rows = plain.get("rows")
    return Shown(
        number=plain["number"],
        episode=Episode.from_json(json.dumps(plain["episode"])),
        advantages=_floats_or_none(plain.get("advantages")),
        rows=None if rows is None else tuple(map(_row, rows)),
    )


def _row(plain: Mapping[str, Any]) -> ShownRow:
    ids = plain["ids"]
    for name in ("learner", "learner_after", "entropies"):
        given = plain[name]
        if given is not None and len(given) != len(plain["places"]):
            raise ValueError(
                f"a row of {len(plain['places'])} places has {len(given)} numbers as its {name}: "
                "`learnt_from` of a policy gives one for each place"
            )
    return ShownRow(
        ids=None if ids is None else tuple(ids),
        places=tuple(plain["places"]),
        advantages=_floats(plain["advantages"]),
        sampler=_floats_or_none(plain["sampler"]),
        learner=_floats(plain["learner"]),
        learner_after=_floats(plain["learner_after"]),
        entropies=_floats_or_none(plain["entropies"]),
    )


def _floats(plain: Sequence[float | None]) -> Floats:
    """Return numbers of JSON; None, which stands for one that was not finite, is NaN."""
    return np.array(plain, np.float64)


def _floats_or_none(plain: Sequence[float | None] | None) -> Floats | None:
    return None if plain is None else _floats(plain)


def _figures(lines: Sequence[Mapping[str, Any]]) -> dict[str, Series]:
    found: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        update = line["update"]
        figures = {name: line[name] for name in _FIGURES}
        figures["errors"] = line["errors"] / max(line["episodes"], 1)
        look = line.get("self_play", {}).get("monitor")
        if look is not None:
            figures |= {"fall": look["fall"], "collapsed": float(look["is_collapsed"])}
        learning = line.get("learning", {})
        figures |= {name: learning[name] for name in _LEARNING if name in learning}
        for name, value in figures.items():
            found.setdefault(name, []).append((update, value))
    return {name: series_of(pairs) for name, pairs in found.items()}


def _evaluations(folder: Path, lines: JsonLines) -> Iterator[Evaluation]:
    """Yield the evaluations with drawn actions whose episodes are there."""
    for line in lines.read(folder / "evaluations.jsonl", may_grow=True):
        update = line["update"]
        log = folder / "evaluations" / f"{update:06}-sampled.jsonl"
        played = lines.read_as(_episode_in, log, may_grow=False)  # it was written whole
        # Of several seats what the policy itself earned, as its own figures have it.
        episodes = own_parts([each for each in played if not each.is_error])
        if episodes:
            yield Evaluation(
                update=update,
                rewards=np.array([each.total_reward for each in episodes]),
                success=np.array([float(bool(each.success)) for each in episodes]),
                turns=np.array([float(len(each.turns)) for each in episodes]),
            )


def _episode_in(line: bytes) -> Episode | None:
    try:
        return Episode.from_json(line)
    except ValueError:
        return None


def _tokenizer(settings: Mapping[str, Any]) -> Tokenizer | None:
    """Return the tokenizer that the policy's arguments describe, if they do."""
    kwargs = settings.get("policy_kwargs") or {}
    description = kwargs.get("tokenizer") if isinstance(kwargs, Mapping) else None
    if settings.get("policy") != "transformer" or not isinstance(description, Mapping):
        return None
    try:
        return tokenizer_from(description)
    except BadArguments:
        return None

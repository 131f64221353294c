"""inspect_ai logs: a folder with one `.eval` file for each policy and environment.

Such a file is a zip of JSON: a header, a list of summaries, and a member for each sample. They are
written without inspect_ai, with one sample in memory at a time.
"""

from __future__ import annotations

import math
import re
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from gem.episode import Episode
from gem_eval.exporting.choosing import Source
from gem_eval.exporting.formats import Written
from gem_eval.exporting.inspect_samples import sample_of, summary_of, usage_of
from gem_eval.exporting.json_text import json_text
from gem_eval.short_names import short_names
from gem_eval.summary import Outcome

__all__ = ["write"]

_VERSION = 2  # of inspect_ai's log schema
_UNSAFE = re.compile(r"[^A-Za-z0-9.]+")
_MOST_NAME = 60  # characters of an environment or a policy in the name of a file


class _Place(NamedTuple):
    """Where an episode is in the run's log, and whose part of it, of several seats."""

    start: int
    line: int
    seat: int | None


@dataclass(slots=True)
class _Figures:
    """What a header says of its samples, noted as they are written."""

    successes: list[float] = field(default_factory=list)
    returns: list[float] = field(default_factory=list)
    num_errors: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, episode: Episode) -> None:
        """Count an episode. One that an error ended is in no score."""
        usage = Outcome.of(episode).usage
        if usage is not None:
            self.prompt_tokens += usage.prompt_tokens
            self.completion_tokens += usage.completion_tokens
        if episode.is_error:
            self.num_errors += 1
        else:
            self.successes.append(float(bool(episode.success)))
            self.returns.append(episode.total_reward)

    def results(self) -> dict[str, Any]:
        """Return them as EvalResults."""
        scores = [
            _score("success", "accuracy", self.successes),
            _score("return", "mean", self.returns),
        ]
        return {
            "total_samples": len(self.returns) + self.num_errors,
            "completed_samples": len(self.returns),
            "scores": scores if self.returns else [],
        }


class _Log:
    """One log as it is written: samples first, the summaries and the header at the end."""

    def __init__(self, path: Path, began: datetime) -> None:
        self.figures = _Figures()
        self._began = began
        self._ids: set[tuple[str, int]] = set()
        self._files = ExitStack()
        self._zip = self._files.enter_context(zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED))
        # Apart for now: of a zip one member is written at a time, and there may be many summaries.
        spool = tempfile.TemporaryFile("w+", encoding="utf-8", dir=path.parent)  # noqa: SIM115 - ended with the log
        self._summaries = self._files.enter_context(spool)

    def __enter__(self) -> _Log:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, episode: Episode) -> None:
        """Write an episode as a sample."""
        sample = sample_of(episode, self._id(episode), self._began)
        self._zip.writestr(
            f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json_text(sample)
        )
        comma = "," if self._summaries.tell() else ""
        self._summaries.write(f"{comma}\n{json_text(summary_of(sample, episode))}")
        self.figures.add(episode)

    def finish(self, header: dict[str, Any]) -> None:
        """Write what stands beside the samples."""
        self._summaries.seek(0)
        with self._zip.open("summaries.json", "w", force_zip64=True) as member:
            member.write(b"[")
            for line in self._summaries:
                member.write(line.encode("utf-8"))
            member.write(b"]")
        self._zip.writestr("header.json", json_text(header))

    def _id(self, episode: Episode) -> str:
        """Name the sample by its task, or else by its seed; a task of two seeds by both."""
        by_task = f"task-{episode.task}"
        seat = f"-{_slug(episode.seats[0].name)}" if episode.seats else ""
        sample_id = f"seed-{episode.seed}{seat}"
        if episode.task is not None:
            sample_id = f"{by_task}{seat}"
        if (sample_id, episode.repeat) in self._ids:
            sample_id = f"{by_task}-seed-{episode.seed}-{episode.episode_index}{seat}"
        self._ids.add((sample_id, episode.repeat))
        return sample_id


def write(source: Source, draft: Path) -> Written:
    """Write the logs. An episode that an error ended is a sample with an error and no score.

    The run's log is read twice: for what is of which policy and environment, and for each of them.
    """
    cells: dict[tuple[str, int], list[_Place]] = defaultdict(list)
    for entry in source.entries(part=0.5):
        place = _Place(entry.start, entry.line, entry.seat)
        cells[entry.episode.policy, entry.episode.env_index].append(place)
    num_samples = sum(map(len, cells.values()))
    is_whole = source.num_read >= (source.folder.record.total or 0)
    num_written = 0
    for number, ((policy, env_index), places) in enumerate(sorted(cells.items()), start=1):
        env_id = source.folder.record.settings.envs[env_index].id
        name = f"{_stamp(source)}_{_slug(env_id)}_{_slug(_short(source, policy))}-{number}.eval"
        with _Log(draft / name, _began(source)) as log:
            for place in places:
                log.add(source.at(place.start, line=place.line, seat=place.seat))
                num_written += 1
                source.tell(0.5 + 0.5 * num_written / num_samples)
            log.finish(_header(source, policy, env_id, log.figures, is_whole=is_whole))
    return Written(source.num_episodes, num_samples, (f"logs: {len(cells)}",))


def _header(
    source: Source, policy: str, env_id: str, figures: _Figures, *, is_whole: bool
) -> dict[str, Any]:
    """Return an EvalLog without its samples."""
    record = source.folder.record
    usage = usage_of(figures.prompt_tokens, figures.completion_tokens)
    settings = record.settings
    results = figures.results()
    return {
        "version": _VERSION,
        # inspect view waits for more of a log that was "started": nothing more comes into this.
        "status": "success" if is_whole else "cancelled",
        "eval": {
            "eval_id": _id(source, policy, env_id),
            "run_id": _id(source),
            "task_id": _id(env_id),
            "created": _began(source).isoformat(),
            "task": env_id,
            "task_args": dict(settings.env_kwargs),
            "dataset": {"name": env_id, "samples": results["total_samples"], "shuffled": False},
            "model": policy,
            "config": {"epochs": settings.repeats},
            "packages": dict(record.versions),
            "metadata": {"run": source.folder.path.name, "seed": str(settings.seed)},
        },
        "plan": {"name": "gem", "steps": [{"solver": policy, "params": {}}]},
        "results": results,
        "stats": {
            "started_at": _began(source).isoformat(),
            "completed_at": _began(source).isoformat(),
            "model_usage": {policy: usage} if usage["total_tokens"] else {},
        },
    }


def _score(name: str, metric: str, values: Sequence[float]) -> dict[str, Any]:
    """Return an EvalScore: the mean of the values, and its standard error."""
    mean = math.fsum(values) / max(len(values), 1)
    squares = math.fsum((value - mean) ** 2 for value in values)
    stderr = math.sqrt(squares / max(len(values) - 1, 1) / max(len(values), 1))
    return {
        "name": name,
        "scorer": name,
        "scored_samples": len(values),
        "metrics": {
            metric: {"name": metric, "value": mean},
            "stderr": {"name": "stderr", "value": stderr},
        },
    }


def _id(source: Source | str, *more: str) -> str:
    """Return an id that is the same for the same run, in the form of inspect_ai's."""
    first = source if isinstance(source, str) else source.folder.record.model_dump_json()
    return blake2b("\n".join([first, *more]).encode("utf-8", "replace"), digest_size=11).hexdigest()


def _began(source: Source) -> datetime:
    return datetime.fromisoformat(source.folder.record.created)


def _stamp(source: Source) -> str:
    return _began(source).isoformat().replace(":", "-")


def _short(source: Source, policy: str) -> str:
    names: Iterable[str] = (ref.name for ref in source.folder.record.settings.policies)
    return short_names(names).get(policy, policy)


def _slug(text: str) -> str:
    """Return text as a part of a file's name."""
    return _UNSAFE.sub("-", text).strip("-.")[:_MOST_NAME] or "unnamed"

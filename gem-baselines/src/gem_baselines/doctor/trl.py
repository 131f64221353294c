"""Read what TRL leaves of a training, and keep samples of one. Needs no TRL.

A trainer writes its figures into `trainer_state.json` of each checkpoint. It keeps no episodes:
`keeping_samples` around a reward function does.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from gem.episode import Episode
from gem.errors import in_one_line
from gem_baselines.doctor.json_lines import JsonLines
from gem_baselines.doctor.reading import read_samples, series_of
from gem_baselines.doctor.run import Run, Series
from gem_baselines.errors import DAMAGED, FolderError
from gem_baselines.training.files import replace_file, replace_json
from gem_baselines.training.samples import MOST_EPISODES, episode_in_numbers, record_of

__all__ = ["is_trl_folder", "keeping_samples", "read_trl"]

_STATE = "trainer_state.json"
_SAMPLES = "samples"
_NAMES = {
    "reward": "reward",
    "entropy": "entropy",
    "clip_ratio/region_mean": "clip_share",
    "sampling/sampling_logp_difference/mean": "logprob_gap",
    "frac_reward_zero_std": "flat_share",
    "grad_norm": "grad_norm",
    "completions/mean_length": "answer_tokens",
    "completions/clipped_ratio": "cut_share",
    "eval_reward": "eval_reward",
}
"""TRL's names of figures, and ours. Its `kl` is to a reference, and not of an update."""

Rewards = Callable[..., Sequence[float | None]]


def is_trl_folder(folder: Path) -> bool:
    """Say whether TRL has left figures in a folder, or `keeping_samples` episodes."""
    return _newest_state(folder) is not None or any((folder / _SAMPLES).glob("*.json"))


def read_trl(folder: Path) -> Run:
    """Read the newest figures of a trainer, and its samples. Raises FolderError."""
    path = _newest_state(folder)
    series: dict[str, Series] = {}
    if path is not None:
        try:
            lines = json.loads(path.read_bytes())["log_history"]
            series = _series(lines)
        except (OSError, *DAMAGED) as error:
            raise FolderError(
                f"The figures of TRL in {path} cannot be read ({in_one_line(error)}). It may be "
                "damaged, or of another program: give the folder of an earlier checkpoint.",
                path=path,
            ) from error
    lines = JsonLines(folder)
    samples = read_samples(folder, lines)
    return Run(path=folder, kind="trl", series=series, samples=samples, unreadable=lines.unreadable)


def keeping_samples(
    rewards: Rewards, folder: str | os.PathLike[str], *, every: int = 10
) -> Rewards:
    """Return a reward function for `GRPOTrainer` that gives what `rewards` does.

    Every so many steps it writes the episodes of the batch into `samples/` of a folder, the
    trainer's `output_dir` say: all in numbers, and the records of the first groups. It needs a
    rollout function that gives reward functions the `episode`s, as that of our adapter does. An
    evaluation at such a step may be kept in place of the batch. Raises OSError.
    """

    @wraps(rewards)
    def kept(**given: Any) -> Sequence[float | None]:
        found = rewards(**given)
        step = given["trainer_state"].global_step
        path = Path(folder, _SAMPLES, f"{step + 1:06}.json")
        if step % every == 0 and not path.exists():
            _write(path, step + 1, given["episode"])
        return found

    return kept


def _write(path: Path, step: int, episodes: Sequence[Episode]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    batch = [
        {**episode_in_numbers(each), "start": _start_of(each), "is_learnt": True}
        for each in episodes
    ]
    lines = [
        json.dumps({"number": number, "episode": record_of(each)})
        for number, each in enumerate(episodes[:MOST_EPISODES])
    ]
    replace_file(path.with_suffix(".jsonl"), "".join(f"{line}\n" for line in lines))
    replace_json(path, {"update": step, "baseline": None, "episodes": batch}, indent=None)


def _start_of(episode: Episode) -> list[int]:
    """Return what the episodes of a group have in common, whichever numbers a rollout gave them."""
    start = [episode.seed, episode.task or 0]
    if not episode.seats:
        return start
    # A part of one seat is compared with parts of that seat: others of the game are paid otherwise.
    return [*start, episode.turns[0].seat if episode.turns else -1]


def _newest_state(folder: Path) -> Path | None:
    """Return the state that was written last: that of the most steps, the folder's own first."""
    own = folder / _STATE
    if own.is_file():
        return own
    steps = {
        int(path.parent.name.removeprefix("checkpoint-")): path
        for path in folder.glob(f"checkpoint-*/{_STATE}")
        if path.parent.name.removeprefix("checkpoint-").isdecimal()
    }
    return steps[max(steps)] if steps else None


def _series(lines: Sequence[Mapping[str, Any]]) -> dict[str, Series]:
    found: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        for name, own_name in _NAMES.items():
            value = line.get(name)
            if isinstance(value, (int, float)) and math.isfinite(value):
                found.setdefault(own_name, []).append((line["step"], value))
    return {name: series_of(pairs) for name, pairs in found.items()}

"""What TRL leaves: its figures by our names, and the samples that a reward function keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gem
from gem_baselines.doctor.diagnosis import diagnosed
from gem_baselines.doctor.opening import open_run
from gem_baselines.doctor.trl import keeping_samples
from gem_baselines.errors import FolderError

from .made import made_run


def write_state(folder: Path, figures: Mapping[str, float], *, steps: int = 20) -> None:
    """Write what a trainer does at a checkpoint: a line a step, an evaluation and the end."""
    lines: list[dict[str, Any]] = [
        {"step": step, "epoch": 0.1, "loss": 0.0, "reward": 0.5, "entropy": 1.0, **figures}
        for step in range(1, steps + 1)
    ]
    lines.append({"step": steps, "eval_reward": 0.4, "eval_runtime": 1.0})
    lines.append({"step": steps, "train_runtime": 3.0, "rewards/odd/mean": None})
    checkpoint = folder / f"checkpoint-{steps}"
    checkpoint.mkdir(parents=True)
    (checkpoint / "trainer_state.json").write_text(json.dumps({"log_history": lines}))


def test_the_newest_figures_are_read_by_our_names(tmp_path: Path) -> None:
    write_state(tmp_path, {}, steps=9)
    write_state(tmp_path, {"clip_ratio/region_mean": 0.1})

    run = open_run(tmp_path)

    assert run.kind == "trl"
    assert run.figure("clip_share").updates.tolist() == list(range(1, 21))
    assert run.figure("eval_reward").values.tolist() == [0.4]


def test_what_the_figures_say_is_found_and_the_rest_is_said_to_be_unchecked(
    tmp_path: Path,
) -> None:
    write_state(
        tmp_path,
        {"sampling/sampling_logp_difference/mean": 0.4, "frac_reward_zero_std": 0.97},
    )

    diagnosis = diagnosed(open_run(tmp_path))

    assert {finding.check for finding in diagnosis.findings} == {"logprobs", "signal"}
    assert not diagnosis.is_healthy
    assert diagnosis.unchecked["advantages"] == "the advantages of its updates"
    assert diagnosis.unchecked["mask"] == "the rows that its learner was given"


def test_a_reward_function_keeps_samples_and_gives_what_it_gave(tmp_path: Path) -> None:
    def rewards(**given: Any) -> list[float]:
        return [1.0] * len(given["episode"])

    kept = keeping_samples(rewards, tmp_path, every=2)
    for step, sample in enumerate(made_run().samples):
        episodes = [shown.episode for shown in sample.shown]
        state = SimpleNamespace(global_step=step)
        assert kept(episode=episodes, trainer_state=state) == [1.0] * 16

    run = open_run(tmp_path)

    assert kept.__name__ == "rewards"
    assert [sample.update for sample in run.samples] == [1, 3, 5, 7, 9, 11]
    assert len({each.start for each in run.samples[0].played}) == 4
    assert len(run.samples[0].shown) == 16
    diagnosis = diagnosed(run)
    assert diagnosis.is_healthy
    assert {"endings", "signal", "answers", "cut_off"} <= set(diagnosis.well)


def test_parts_of_one_game_are_groups_of_their_seats(tmp_path: Path) -> None:
    policies = {"left": lambda request: "rock", "right": lambda request: "paper"}
    games = gem.run(policies, "gem.testing.envs:Signs", episodes=2, seed=1)
    # Two tries of each seat, alike: neither has anything to compare, though the seats differ.
    parts = [part for game in games for part in (*game.parts(), *game.parts())]
    kept = keeping_samples(lambda **given: [0.0] * len(given["episode"]), tmp_path, every=1)

    for step in range(2):
        kept(episode=parts, trainer_state=SimpleNamespace(global_step=step))

    run = open_run(tmp_path)
    assert len({each.start for each in run.samples[0].played}) == 4
    assert [shown.episode.total_reward for shown in run.samples[0].shown] == [
        part.total_reward for part in parts
    ]
    assert "signal" in {finding.check for finding in diagnosed(run).findings}


def test_figures_that_are_damaged_are_named(tmp_path: Path) -> None:
    (tmp_path / "trainer_state.json").write_text("{")

    with pytest.raises(FolderError, match="cannot be read"):
        open_run(tmp_path)

"""The loop: one experiment has the same metrics each time, and errors are left out of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import gem
from gem_baselines.errors import FolderError, TrainingStopped
from gem_baselines.training import Experiment, train
from gem_baselines.training.training import Training, run_seed

from .logs import lines, texts

MakeExperiment = Callable[..., Experiment]
Acted = Callable[[str], str]


def test_the_metrics_are_the_same_at_any_concurrency(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    for concurrency in (1, 64):
        train(experiment(concurrency=concurrency, episodes=16), tmp_path / str(concurrency))

    assert texts(tmp_path / "1") == texts(tmp_path / "64")


def test_another_seed_has_other_metrics(experiment: MakeExperiment, tmp_path: Path) -> None:
    for seed in (0, 1):
        train(experiment(seed=seed), tmp_path / str(seed))

    assert texts(tmp_path / "0") != texts(tmp_path / "1")


def test_no_two_rollouts_have_one_seed() -> None:
    seeds = {
        run_seed(seed, purpose, update)
        for seed in (0, 1, 11)
        for update in (1, 11)
        for purpose in ("update", "evaluation")
    }

    assert len(seeds) == 12


def test_a_line_says_what_the_episodes_were(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(), tmp_path)

    updates = lines(tmp_path)
    turns = [4 * line["turns"] for line in updates]
    assert [line["update"] for line in updates] == [1, 2, 3, 4]
    assert [line["total_turns"] for line in updates] == [
        sum(turns[: place + 1]) for place in range(4)
    ]
    assert all(line["reward"] == line["success"] for line in updates)
    assert {line["episodes"] for line in updates} == {4}
    assert set(updates[0]["learning"]) >= {"loss", "entropy", "clip_share"}


def test_an_evaluation_is_of_the_same_seeds_each_time(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(), tmp_path)

    logs = sorted((tmp_path / "evaluations").iterdir())
    seeds = [[episode.seed for episode in gem.read_episodes(log)] for log in logs]
    assert [log.name for log in logs] == [
        f"{update:06}-{mode}.jsonl" for update in (0, 2, 4) for mode in ("greedy", "sampled")
    ]
    assert all(own == seeds[0] and len(own) == 3 for own in seeds)
    assert [line["update"] for line in lines(tmp_path, "evaluations")] == [0, 2, 4]


def test_no_update_plays_the_seeds_of_an_evaluation_or_of_another_update(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    watching = experiment(
        env=acted("Once"), env_kwargs={}, policy=acted("Watching"), policy_kwargs={}
    )

    policy: Any = train(watching, tmp_path).policy

    held_out = {seed for seed, is_greedy in policy.seeds if is_greedy}
    drawn = [seed for seed, is_greedy in policy.seeds if not is_greedy]
    of_updates = [seed for seed in drawn if seed not in held_out]
    assert len(held_out) == 3
    assert len(drawn) == 4 * 4 + 3 * 3  # four updates of four episodes, three evaluations of three
    assert len(of_updates) == len(set(of_updates)) == 4 * 4


def test_without_evaluations_there_is_no_best(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(eval_every=0), tmp_path)

    assert (tmp_path / "checkpoints" / "last").is_dir()
    assert not (tmp_path / "checkpoints" / "best").exists()
    assert lines(tmp_path, "evaluations") == []


def test_the_best_is_of_the_highest_score(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    # It answers the right "1" before its first update and after its third.
    counting = experiment(
        env=acted("Once"),
        env_kwargs={},
        policy=acted("Steady"),
        policy_kwargs={"seed": 0},
        updates=5,
        eval_every=1,
    )

    training = train(counting, tmp_path)

    scores = [line["sampled"]["discounted_return"] for line in training.folder.evaluations]
    assert scores == [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    assert training.progress.best_update == 3
    best = json.loads((tmp_path / "checkpoints/best/policy/updates.json").read_text())
    last = json.loads((tmp_path / "checkpoints/last/policy/updates.json").read_text())
    assert (best, last) == (3, 5)


def test_the_baseline_is_of_earlier_batches(experiment: MakeExperiment, tmp_path: Path) -> None:
    training = train(experiment(estimator="constant", eval_every=0), tmp_path)

    progress = training.progress
    assert progress.turns == lines(tmp_path)[-1]["total_turns"]
    assert 0 < progress.return_sum < progress.turns


def test_episodes_that_an_error_ended_are_left_out_and_counted(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    failing = experiment(
        policy=acted("Failing"), policy_kwargs={}, episodes=16, updates=2, eval_every=0
    )

    train(failing, tmp_path)

    errors = [line["errors"] for line in lines(tmp_path)]
    assert all(0 < count < 16 for count in errors)
    assert {line["episodes"] for line in lines(tmp_path)} == {16}


def test_a_step_that_hangs_ends_its_episode_in_a_training_with_a_limit(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    hanging = {"env": acted("Hanging"), "env_kwargs": {}, "episodes": 16, "eval_every": 0}
    train(experiment(**hanging, step_timeout_s=0.5, updates=1), tmp_path)

    # A training that has hung goes on with another limit than it began with.
    resumed = Training.resumed(tmp_path, {"step_timeout_s": 0.2, "updates": 2})
    resumed.run()

    assert [0 < line["errors"] < 16 for line in lines(tmp_path)] == [True, True]


def test_a_training_of_errors_alone_stops_and_says_which(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    failing = experiment(policy=acted("Failing"), policy_kwargs={}, episodes=16, eval_every=0)

    said = r"each of the 16 .* RuntimeError: No answer\. \(acted\.py, .*\)\. Mend that and"
    with pytest.raises(TrainingStopped, match=said):
        train(failing, tmp_path)
    assert len(lines(tmp_path)) == 2


def test_a_policy_that_diverges_stops_and_the_checkpoint_is_from_before(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    diverging = experiment(policy=acted("Diverging"), policy_kwargs={}, eval_every=0)

    with pytest.raises(TrainingStopped, match="Update 3 gave loss=nan"):
        train(diverging, tmp_path)
    assert (tmp_path / "checkpoints/last/policy/updates.json").read_text() == "2"


def test_what_a_callback_raises_is_not_called_a_full_disk(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    def fail(_: Mapping[str, Any]) -> None:
        raise ConnectionError("the reporter is gone")

    with pytest.raises(ConnectionError, match="the reporter is gone"):
        train(experiment(), tmp_path, on_update=fail)


def test_ctrl_c_is_raised_also_where_nothing_can_be_written(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    interrupted = experiment(
        policy=acted("InterruptedAnswer"), policy_kwargs={}, eval_every=0, checkpoint_every=9
    )

    def spoil(figures: Mapping[str, Any]) -> None:
        if figures["update"] == 1:
            (tmp_path / "checkpoints").rename(tmp_path / "moved")
            (tmp_path / "checkpoints").touch()

    with pytest.raises(KeyboardInterrupt) as raised:
        train(interrupted, tmp_path, on_update=spoil)
    assert isinstance(raised.value.__cause__, FolderError)


def test_a_critic_learns(experiment: MakeExperiment, tmp_path: Path) -> None:
    plain = experiment()
    kwargs = {**plain.policy_kwargs, "critic_rate": 0.5}

    train(experiment(estimator="ppo", policy_kwargs=kwargs), tmp_path)

    assert all("value_error" in line["learning"] for line in lines(tmp_path))

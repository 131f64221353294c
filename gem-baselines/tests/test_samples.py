"""Samples: of which updates, that they hold what was learnt from, and that they change nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gem.returns import discounted_returns
from gem_baselines.training import Experiment, train
from gem_baselines.training.samples import is_sampled
from gem_baselines.training.training import Training

MakeExperiment = Callable[..., Experiment]
Acted = Callable[[str], str]


def numbers(folder: Path, update: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "samples" / f"{update:06}.json").read_bytes())
    return found


def shown(folder: Path, update: int) -> list[dict[str, Any]]:
    text = (folder / "samples" / f"{update:06}.jsonl").read_text(encoding="ascii")
    return [json.loads(line) for line in text.splitlines()]


def test_about_twenty_updates_are_sampled_the_first_and_the_last_among_them(
    experiment: MakeExperiment,
) -> None:
    def sampled(**changes: Any) -> list[int]:
        settings = experiment(**changes)
        return [n for n in range(1, settings.updates + 1) if is_sampled(settings, n)]

    assert sampled(updates=405) == [1, *range(20, 405, 20), 405]
    assert sampled(updates=3) == [1, 2, 3]
    assert sampled(updates=7, sample_every=3) == [1, 3, 6, 7]
    assert sampled(sample_every=0) == []


def test_samples_change_no_metrics(experiment: MakeExperiment, tmp_path: Path) -> None:
    for every in (0, 1):
        train(experiment(sample_every=every), tmp_path / str(every))

    assert not (tmp_path / "0" / "samples").exists()
    assert len(list((tmp_path / "1" / "samples").iterdir())) == 8
    metrics = [(tmp_path / name / "metrics.jsonl").read_bytes() for name in ("0", "1")]
    assert metrics[0] == metrics[1]


def test_a_training_that_goes_on_leaves_the_same_samples(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(sample_every=1), tmp_path / "whole")
    train(experiment(sample_every=1, updates=2, eval_every=0), tmp_path / "parts")
    Training.resumed(tmp_path / "parts", {"updates": 4}).run()

    for update in (1, 2, 3, 4):
        assert numbers(tmp_path / "whole", update) == numbers(tmp_path / "parts", update)


def test_a_sample_holds_the_advantages_that_the_estimator_gave(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    settings = experiment(episodes=32)
    train(settings, tmp_path)

    for update in (1, 4):
        batch = numbers(tmp_path, update)["episodes"]
        assert len(batch) == 32
        assert all(episode["is_learnt"] for episode in batch)
        everything = np.concatenate([episode["advantages"] for episode in batch])
        assert abs(everything.mean()) < 1e-12
        assert [line["advantages"] for line in shown(tmp_path, update)] == [
            episode["advantages"] for episode in batch[:16]
        ]


def test_the_groups_that_are_shown_are_whole(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(estimator="rloo", episodes=36, repeats=6, updates=1), tmp_path)

    starts = [line["episode"]["episode_index"] for line in shown(tmp_path, 1)]
    assert starts == [0] * 6 + [1] * 6


def test_a_table_shows_its_logprobs_before_and_after_the_update(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(updates=1), tmp_path)

    row = shown(tmp_path, 1)[0]["rows"][0]
    assert row["ids"] is None
    assert row["places"] == list(range(len(row["advantages"])))
    assert row["learner"] == [float(np.log(1 / 3))] * len(row["places"])
    assert row["learner_after"] != row["learner"]
    assert np.allclose(row["entropies"], np.log(3))


def test_a_critics_values_are_those_before_the_update(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    kwargs = {**experiment().policy_kwargs, "critic_rate": 0.5}
    train(experiment(estimator="ppo", policy_kwargs=kwargs, updates=2), tmp_path)

    first, second = (numbers(tmp_path, update)["episodes"][0] for update in (1, 2))
    assert set(first["values"]) == {0.0}
    assert second["values"] != first["values"]
    assert len(second["value_targets"]) == len(second["rewards"])


def test_a_policy_that_does_not_show_what_it_learns_has_no_rows(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    train(experiment(policy=acted("Counter"), policy_kwargs={}, updates=1), tmp_path)

    assert [line["rows"] for line in shown(tmp_path, 1)] == [None] * 4


def test_an_episode_that_an_error_ended_is_played_and_not_learnt_from(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    failing = experiment(
        policy=acted("Failing"), policy_kwargs={}, updates=1, episodes=16, eval_every=0
    )
    train(failing, tmp_path)

    batch = numbers(tmp_path, 1)["episodes"]
    by_error = [episode["stop_reason"] == "policy_error" for episode in batch]
    assert 0 < sum(by_error) < 16
    assert [not episode["is_learnt"] for episode in batch] == by_error


def test_the_baseline_is_of_earlier_batches(experiment: MakeExperiment, tmp_path: Path) -> None:
    training = train(experiment(estimator="constant", updates=2), tmp_path)

    first, second = (numbers(tmp_path, update) for update in (1, 2))
    to_go = [
        own - advantage
        for episode in second["episodes"]
        for own, advantage in zip(
            discounted_returns(episode["rewards"], 0.9), episode["advantages"], strict=True
        )
    ]
    assert first["baseline"] == 0.0
    assert training.folder.metrics[0]["total_turns"] > 0
    assert np.allclose(to_go, second["baseline"])

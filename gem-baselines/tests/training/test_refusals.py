"""What cannot train is refused before it begins, or in one line where it shows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gem.errors import GemError
from gem_baselines.errors import ExperimentError, TrainingStopped
from gem_baselines.training import Experiment, train
from gem_baselines.training.training import Training

from .logs import lines, texts

MakeExperiment = Callable[..., Experiment]
Acted = Callable[[str], str]


def test_settings_that_cannot_be_leave_no_folder(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError, match="repeats=1"):
        train(experiment(estimator="grpo"), tmp_path / "run")

    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"gama": 1}, "Did you mean 'gamma'"),
        ({"gamma": 2.0}, "sets gamma to 2.0, and it has to be less than or equal to 1"),
        ({"self_play": {"oponents": "pool"}}, "Did you mean 'opponents'"),
    ],
)
def test_the_constructor_names_what_cannot_be(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ExperimentError, match=problem):
        Experiment(env="gem.testing.envs:Guess", **settings)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), date(2026, 1, 2), [{"x": {1: 2}}]])
def test_settings_that_json_cannot_hold_are_refused(
    experiment: MakeExperiment, value: object
) -> None:
    with pytest.raises(ExperimentError, match=r"policy_kwargs.*clip.* is .*which JSON cannot hold"):
        experiment(policy_kwargs={"clip": value})


def test_a_policy_that_draws_nothing_is_not_trained(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError, match=r"\(is_greedy\), and an update learns from drawn"):
        train(experiment(policy=acted("Greedy"), policy_kwargs={}), tmp_path / "run")

    assert not (tmp_path / "run").exists()


def test_a_policy_that_json_cannot_describe_is_refused_before_its_first_update(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    vague = experiment(policy=acted("Vague"), policy_kwargs={}, eval_every=0)

    with pytest.raises(ExperimentError, match=r"describe\(\)\.clip is inf"):
        train(vague, tmp_path)
    assert lines(tmp_path) == []


def test_an_estimator_with_a_critic_asks_for_one(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError, match="'ppo' asks the policy for values"):
        train(experiment(estimator="ppo"), tmp_path)
    with pytest.raises(ExperimentError, match=r"'ppo_token' asks .* it has no tokens"):
        train(experiment(estimator="ppo_token"), tmp_path)


def test_an_estimator_of_ones_own_trains_and_goes_on(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    own = {"estimator": acted("halved"), "estimator_kwargs": {"share": 1.0}}
    train(experiment(**own, updates=2), tmp_path / "own")
    Training.resumed(tmp_path / "own", {"updates": 4}).run()

    train(experiment(estimator="raw"), tmp_path / "raw")

    assert texts(tmp_path / "own") == texts(tmp_path / "raw")


@pytest.mark.parametrize(
    ("name", "kwargs", "problem"),
    [
        ("halved", {"part": 1.0}, "it takes no 'part'"),
        ("compared", {}, "repeats=1 gives it one of each"),
        ("ACTED", {}, "the file has no such name"),
        ("np", {}, "and that is <module 'numpy'"),
    ],
)
def test_an_estimator_of_ones_own_that_does_not_fit_is_refused(
    experiment: MakeExperiment,
    acted: Acted,
    tmp_path: Path,
    name: str,
    kwargs: dict[str, float],
    problem: str,
) -> None:
    with pytest.raises(GemError, match=problem):
        train(experiment(estimator=acted(name), estimator_kwargs=kwargs), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("CallableAlone", "CallableAlone has no method update, values, save, restore, describe"),
        ("Once", "Once has no method __call__, update"),
        ("ACTED", "the file has no such name"),
        ("np", "and that is <module 'numpy'"),
    ],
)
def test_a_policy_without_its_methods_is_refused_and_leaves_no_folder(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path, name: str, problem: str
) -> None:
    with pytest.raises(GemError, match=problem):
        train(experiment(policy=acted(name), policy_kwargs={}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"figures": None}, "Reporting.update returned None, and has to return its figures"),
        ({"figures": {"x": "hello"}}, "Reporting.update returned x='hello', no number"),
        ({"expected": None}, "Reporting.values returned None, and has to return an array"),
        ({"expected": [[1.0]]}, "Reporting.values returned 1 arrays for 4 episodes"),
        ({"expected": [[0.0] * 9] * 4}, "Reporting.values returned 9 numbers for an episode of"),
    ],
)
def test_what_a_policy_returns_amiss_is_one_line(
    experiment: MakeExperiment,
    acted: Acted,
    tmp_path: Path,
    arguments: dict[str, Any],
    problem: str,
) -> None:
    estimator = "ppo" if "expected" in arguments else "raw"
    misfit = experiment(
        policy=acted("Reporting"), policy_kwargs=arguments, estimator=estimator, eval_every=0
    )

    with pytest.raises(TrainingStopped, match=f"Update 1 cannot go on: {problem}"):
        train(misfit, tmp_path)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("uncredited", r"uncredited' returned \[.*, and has to return a Credit"),
        ("misfit", r"misfit' returned 1 numbers for an episode of \d turns"),
        ("refusing", r"Update 1 cannot go on: These .* Give others\. Then go on with --resume;"),
        ("endless", r"endless' returned inf, and has to return finite numbers"),
        ("in_columns", r"in_columns' returned an array of 2 dimensions for an episode"),
        ("worded", r"worded' returned \['good'.*\], and has to return numbers"),
    ],
)
def test_what_an_estimator_returns_amiss_is_one_line(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path, name: str, problem: str
) -> None:
    with pytest.raises(TrainingStopped, match=problem):
        train(experiment(estimator=acted(name), episodes=16), tmp_path)


def test_a_policy_that_describes_itself_by_nothing_is_refused(
    experiment: MakeExperiment, acted: Acted, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError, match=r"Nameless\.describe\(\) is None, and no object"):
        train(experiment(policy=acted("Nameless"), policy_kwargs={}), tmp_path)

"""`baseline:PATH`: what a training left, as a policy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import gem
from gem.rollouts import make_policy
from gem_baselines.errors import FolderError
from gem_baselines.training import Experiment, train
from gem_baselines.training.training import Training

MakeExperiment = Callable[..., Experiment]
GUESS = {"env": "gem.testing.envs:Guess", "env_kwargs": {"highest": 3, "max_turns": 3}}


def actions(path: Path, **kwargs: bool) -> list[list[str]]:
    policy = make_policy(f"baseline:{path}", **kwargs)
    episodes = gem.run(policy, episodes=20, seed=3, **GUESS)  # type: ignore[arg-type]
    return [[turn.action for turn in episode.turns] for episode in episodes]


def test_a_training_folder_stands_for_its_best(
    experiment: MakeExperiment, acted: Callable[[str], str], tmp_path: Path
) -> None:
    counting = experiment(
        env=acted("Once"), env_kwargs={}, policy=acted("Steady"), policy_kwargs={}, eval_every=1
    )
    train(counting, tmp_path)  # the best of whose four updates is the third

    whole = actions(tmp_path, trust_kind=True)

    assert whole == actions(tmp_path / "checkpoints" / "best", trust_kind=True)
    assert whole != actions(tmp_path / "checkpoints" / "last", trust_kind=True)


def test_a_checkpoint_runs_no_code_of_others_unasked(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(), tmp_path)
    record = tmp_path / "checkpoints" / "best" / "checkpoint.json"
    hostile = {"kind": "os:mkdir", "arguments": {"path": str(tmp_path / "made")}}
    record.write_text(json.dumps({**json.loads(record.read_text()), **hostile}))

    with pytest.raises(FolderError, match="'os:mkdir', and that is code of somebody's own"):
        make_policy(f"baseline:{tmp_path}")
    assert not (tmp_path / "made").exists()


def test_a_training_without_evaluations_stands_for_its_last(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(eval_every=0), tmp_path)

    assert actions(tmp_path) == actions(tmp_path / "checkpoints" / "last")


def test_it_plays_as_the_policy_that_was_trained(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    training = train(experiment(eval_every=0), tmp_path)
    episodes = gem.run(training.policy, episodes=20, seed=3, **GUESS)  # type: ignore[arg-type]

    assert actions(tmp_path) == [[turn.action for turn in one.turns] for one in episodes]


def test_greedily_one_state_has_one_answer(experiment: MakeExperiment, tmp_path: Path) -> None:
    train(experiment(), tmp_path)

    assert len({played[0] for played in actions(tmp_path, greedy=True)}) == 1
    assert len({played[0] for played in actions(tmp_path)}) > 1


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="neither a checkpoint nor a training folder"):
        make_policy(f"baseline:{tmp_path}")


def test_a_training_that_has_no_checkpoint_yet_says_so(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    Training.begun(experiment(), tmp_path).folder.close()

    with pytest.raises(FolderError, match="no checkpoint yet"):
        make_policy(f"baseline:{tmp_path}")


def test_a_checkpoint_of_something_else_is_named(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(), tmp_path)
    (tmp_path / "checkpoints" / "best" / "checkpoint.json").write_text("{}")

    with pytest.raises(FolderError, match="kind: Field required"):
        make_policy(f"baseline:{tmp_path}")


def test_a_training_without_links_names_a_checkpoint(
    experiment: MakeExperiment, tmp_path: Path
) -> None:
    train(experiment(), tmp_path)
    for name in ("best", "last"):
        (tmp_path / "checkpoints" / name).unlink()

    with pytest.raises(FolderError, match=f"itself: baseline:{tmp_path}/checkpoints/update-0000"):
        make_policy(f"baseline:{tmp_path}")


def test_a_link_to_what_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "last").symlink_to("update-000003")

    with pytest.raises(FolderError, match="a link to update-000003, which is not there"):
        make_policy(f"baseline:{tmp_path / 'last'}")

"""Whole trainings of a transformer: by token, killed and resumed."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")

from gem_baselines.errors import FolderError
from gem_baselines.training import Experiment, train
from gem_baselines.training.training import Training

POLICY: dict[str, Any] = {
    "tokenizer": {"kind": "words", "vocabulary": ["1", "2", "3", "\\boxed{", "}"]},
    "opening": "\\boxed{",
    "closing": "}",
    "max_answer_tokens": 2,
    "shape": {"width": 16, "value_head": True},
    "learning": {"minibatches": 2, "value_clip": 0.5},
}


def test_ppo_by_token_goes_on_from_a_checkpoint_with_the_same_metrics(
    experiment: Callable[..., Experiment], tmp_path: Path
) -> None:
    by_token = {"policy": "transformer", "policy_kwargs": POLICY, "estimator": "ppo_token"}
    whole = train(experiment(**by_token), tmp_path / "whole")
    train(experiment(**by_token, updates=2), tmp_path / "part")

    Training.resumed(tmp_path / "part", {"updates": 4}).run()

    metrics = (tmp_path / "whole" / "metrics.jsonl").read_bytes()
    assert (tmp_path / "part" / "metrics.jsonl").read_bytes() == metrics
    assert "value_loss" in whole.folder.metrics[0]["learning"]


@contextmanager
def room_for(num_bytes: int) -> Iterator[None]:
    """Have no file grow further than this, as on a disk that is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_checkpoint_that_finds_no_room_is_said_in_words_and_made_by_who_goes_on(
    experiment: Callable[..., Experiment], tmp_path: Path
) -> None:
    settings = {"policy": "transformer", "policy_kwargs": POLICY, "updates": 1, "eval_every": 0}
    training = Training.begun(experiment(**settings), tmp_path / "run")
    with (
        room_for(20_000),
        pytest.raises(FolderError, match=r"\(File too large\)\. Look at the disk"),
    ):
        training.run()

    Training.resumed(tmp_path / "run").run()

    state = tmp_path / "run" / "checkpoints" / "last" / "policy" / "state.pt"
    assert state.stat().st_size > 20_000

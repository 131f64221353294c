"""Whole trainings of a transformer: by token, killed and resumed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")

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

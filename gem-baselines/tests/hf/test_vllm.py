"""The sampler of vLLM against an engine that is a fake at its edge: a model read from a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

pytest.importorskip("torch", reason="gem-baselines' extra `hf` is not installed")
pytest.importorskip("transformers", reason="gem-baselines' extra `hf` is not installed")

from gem.errors import MissingRequirement
from gem_baselines._sampling import Question
from gem_baselines.learning_policy import Batch

from .small import make_policy, play


class FakeEngine:
    """Plays as vLLM would with the weights that it read last, and notes what it is asked."""

    made: ClassVar[list[FakeEngine]] = []

    def __init__(self, model: str, **options: Any) -> None:
        self.options = options
        self.calls: list[str] = []
        self.parameters: list[Any] = []
        self._read(model)
        self.made.append(self)

    def _read(self, folder: str) -> None:
        # Answers end where the codec says: a file without an end keeps others out.
        assert "eos_token_id" not in (Path(folder) / "generation_config.json").read_text()
        self._sampler = make_policy(Path(folder))._sampler

    def collective_rpc(self, method: str, *, kwargs: dict[str, Any]) -> None:
        self.calls.append(method)
        self._read(kwargs["weights_path"])

    def reset_prefix_cache(self) -> None:
        self.calls.append("reset_prefix_cache")

    def generate(self, prompts: Any, parameters: Any, *, use_tqdm: bool) -> list[Any]:
        assert not use_tqdm
        self.parameters += parameters
        questions = [
            Question(tuple(prompt["prompt_token_ids"]), own.max_tokens, own.seed)
            for prompt, own in zip(prompts, parameters, strict=True)
        ]
        answers = self._sampler.sample(questions, is_greedy=parameters[0].temperature == 0.0)
        return [
            SimpleNamespace(
                outputs=[
                    SimpleNamespace(
                        token_ids=list(answer.ids),
                        logprobs=[
                            {id: SimpleNamespace(logprob=logprob)}
                            for id, logprob in zip(answer.ids, answer.logprobs, strict=True)
                        ],
                    )
                ]
            )
            for answer in answers
        ]


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[FakeEngine]:
    module = ModuleType("vllm")
    module.LLM = FakeEngine  # type: ignore[attr-defined]
    module.SamplingParams = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setattr(FakeEngine, "made", [])
    return FakeEngine.made


def test_the_engine_plays_with_the_weights_of_the_last_update(
    model_folder: Path, engines: list[FakeEngine]
) -> None:
    learning = {"lr": 0.01, "epochs": 1}
    policy = make_policy(model_folder, sampler="vllm", learning=learning)
    [engine] = engines
    gaps = []
    for seed in range(3):
        episodes = play(policy, seed=seed)
        ones = [np.ones(len(episode.turns)) for episode in episodes]
        gaps.append(policy.update(Batch(episodes, ones))["logprob_gap"])

    assert max(gaps) < 1e-5
    assert engine.calls == ["reload_weights", "reset_prefix_cache"] * 3
    assert engine.options["logprobs_mode"] == "processed_logprobs"
    assert engine.options["max_model_len"] == 64
    assert {own.logprobs for own in engine.parameters} == {0}
    assert {tuple(own.stop_token_ids) for own in engine.parameters} == {(1,)}


def test_what_the_engine_computes_otherwise_is_weighted(
    model_folder: Path, engines: list[FakeEngine]
) -> None:
    assert make_policy(model_folder, sampler="vllm")._learning.importance_cap == 2.0
    own = make_policy(model_folder, sampler="vllm", learning={"importance_cap": None})
    assert own._learning.importance_cap is None


def test_options_reach_the_engine_and_greedy_play_has_no_temperature(
    model_folder: Path, engines: list[FakeEngine]
) -> None:
    options = {"gpu_memory_utilization": 0.3}
    policy = make_policy(model_folder, sampler="vllm", sampler_options=options, is_greedy=True)
    play(policy, episodes=2)

    assert engines[0].options["gpu_memory_utilization"] == 0.3
    assert {own.temperature for own in engines[0].parameters} == {0.0}


def test_without_vllm_the_command_that_installs_it_is_named(model_folder: Path) -> None:
    with pytest.raises(MissingRequirement, match="vllm, which computes it, is not installed"):
        make_policy(model_folder, sampler="vllm")

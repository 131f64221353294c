"""`hf:` with a model that is made here: batches, seeds, limits, and folders that are none."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import gem
import gem_eval
from gem import ImagePart, Message, Reply, Request
from gem.errors import BadArguments, MissingRequirement, ModelLengthError
from gem_eval import PolicyError
from gem_eval.policies.local_model import LocalModelPolicy

from .tiny_model import make_model

HAS_TORCH = find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="needs torch: nox -s others")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    return folder


def request(text: str, seed: int = 0, **facts: Any) -> Request:
    return Request((Message("user", text),), seed=seed, **facts)


def ask(policy: LocalModelPolicy, *requests: Request) -> Sequence[Reply]:
    async def asked() -> list[Reply]:
        try:
            return await asyncio.gather(*map(policy, requests))
        finally:
            await policy.aclose()

    return asyncio.run(asked())


@needs_torch
def test_each_answer_is_drawn_by_its_own_seed_in_whatever_batch(model: Path) -> None:
    requests = [request("Guess. " * (1 + seed % 3), seed) for seed in range(6)]

    together = ask(LocalModelPolicy(str(model), max_tokens=12), *requests)
    alone = ask(LocalModelPolicy(str(model), max_tokens=12, max_batch=1), *requests)

    assert [reply.token_ids for reply in together] == [reply.token_ids for reply in alone]
    assert len({reply.token_ids for reply in together}) == 6


@needs_torch
def test_an_answer_has_its_tokens_their_logprobs_and_its_cost(model: Path) -> None:
    [reply] = ask(LocalModelPolicy(str(model), max_tokens=9, temperature=0), request("Guess."))
    [again] = ask(LocalModelPolicy(str(model), max_tokens=9, temperature=0), request("Guess.", 7))

    assert reply == again  # the likeliest, whatever the seed
    assert reply.token_ids is not None
    assert reply.logprobs is not None
    assert len(reply.token_ids) == len(reply.logprobs) == 9
    assert max(reply.logprobs) <= 0.0
    special = len("<s></s><s>") - 3  # each of them is one token, all else a token a character
    assert reply.usage == gem.Usage(len("<s>user: Guess.</s><s>assistant: ") - special, 9)
    assert reply.finish_reason == "length"


@needs_torch
def test_logprobs_are_those_of_the_whole_text_read_at_once(model: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    options: dict[str, Any] = {"max_tokens": 8, "temperature": 0.7, "top_p": 0.9}
    policy = LocalModelPolicy(str(model), **options)
    prompt = "Once upon"

    replies = ask(policy, *(Request(prompt=prompt, seed=seed) for seed in range(3)))

    whole = AutoModelForCausalLM.from_pretrained(model)
    first = policy._loaded().tokens_of(prompt)
    for reply in replies:
        ids = list(reply.token_ids or ())
        with torch.inference_mode():
            logits = whole(torch.tensor([[*first, *ids]])).logits[0].log_softmax(-1)
        expected = [float(logits[len(first) - 1 + place, id]) for place, id in enumerate(ids)]
        assert reply.logprobs == pytest.approx(expected, abs=1e-4)


@needs_torch
def test_seeds_draw_as_the_model_says(model: Path) -> None:
    """The first token of 4,000 seeds: its frequencies are the model's chances, by chi-squared."""
    from scipy import stats

    from gem_eval.policies.sampling import LoadedModel

    loaded = LoadedModel(model, device="cpu", dtype="auto")
    prompt = loaded.tokens_of("Once")
    counts: dict[int, int] = {}
    chances: dict[int, float] = {}
    for start in range(0, 4_000, 500):
        samples = loaded.sample(
            [prompt] * 500,
            limits=[1] * 500,
            seeds=range(start, start + 500),
            temperature=1.0,
            top_p=1.0,
        )
        for sample in samples:
            [id] = sample.token_ids
            counts[id] = counts.get(id, 0) + 1
            chances[id] = sample.logprobs[0]

    seen = sorted(counts)
    told = [4_000 * math.exp(chances[id]) for id in seen]
    assert sum(told) > 3_900  # nearly every token was drawn once
    expected = [each * 4_000 / sum(told) for each in told]
    result = stats.chisquare([counts[id] for id in seen], expected)
    assert result.pvalue > 0.001


@needs_torch
def test_limits_are_the_least_of_all_and_the_context_is_one(model: Path) -> None:
    policy = LocalModelPolicy(str(model), max_tokens=20)

    few, many = ask(policy, request("Guess.", token_budget=3), request("Guess.", 1))

    assert (len(few.token_ids or ()), len(many.token_ids or ())) == (3, 20)
    with pytest.raises(ModelLengthError, match="reads 4096"):
        ask(policy, request("long " * 2_000))


@needs_torch
def test_a_long_prompt_beside_a_short_one_stays_within_learned_positions(tmp_path: Path) -> None:
    make_model(tmp_path, learned_positions=64)
    policy = LocalModelPolicy(str(tmp_path), max_tokens=40, temperature=0)

    long, short = ask(policy, Request(prompt="x" * 60), Request(prompt="x" * 4))

    assert (len(long.token_ids or ()), len(short.token_ids or ())) == (4, 40)


@needs_torch
def test_a_prompt_of_nothing_is_refused_and_costs_no_other(model: Path) -> None:
    policy = LocalModelPolicy(str(model), max_tokens=3)

    async def asked() -> list[object]:
        requests = (Request(prompt=""), Request(prompt="x"))
        return await asyncio.gather(*map(policy, requests), return_exceptions=True)

    empty, other = asyncio.run(asked())

    assert isinstance(empty, PolicyError)
    assert isinstance(other, Reply)


@needs_torch
def test_a_run_counts_and_replays(model: Path, tmp_path: Path) -> None:
    run = gem_eval.evaluate(
        "tiny:Guess",
        f"hf:{model}",
        episodes=6,
        out=tmp_path / "run",
        policy_kwargs={"max_tokens": 8},
    )

    [result] = run.summary.results
    assert (result.episodes, result.errors, result.answers) == (6, 0, result.cut_answers)
    assert all(gem.replay(episode).state == "same" for episode in run.episodes())
    again = gem_eval.evaluate(
        "tiny:Guess",
        f"hf:{model}",
        episodes=6,
        concurrency=2,
        out=tmp_path / "again",
        policy_kwargs={"max_tokens": 8},
    )
    assert {each.fingerprint() for each in again.episodes()} == {
        each.fingerprint() for each in run.episodes()
    }


@needs_torch
def test_a_folder_that_cannot_be_loaded_stops_before_the_first_episode(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")

    with pytest.raises(gem_eval.RunStopped, match="cannot be loaded"):
        gem_eval.evaluate("tiny:Guess", f"hf:{tmp_path}", episodes=1, out=tmp_path / "run")


def test_an_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    picture = Message("user", (ImagePart(b"\x89PNG", "image/png"),))

    with pytest.raises(PolicyError, match="reads text alone"):
        ask(LocalModelPolicy(str(tmp_path)), Request((picture,)))


@pytest.mark.parametrize("path", ["", "no/such/folder", "org/name"])
def test_what_is_no_folder_of_a_model_is_refused_at_once(path: str) -> None:
    with pytest.raises(BadArguments, match="downloads nothing"):
        LocalModelPolicy(path)


@pytest.mark.parametrize(
    "options", [{"temperature": -1}, {"top_p": 0}, {"top_p": 1.5}, {"max_tokens": 0}]
)
def test_options_that_no_sampling_has_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "config.json").write_text("{}")

    with pytest.raises(BadArguments, match="A temperature is 0 or more"):
        LocalModelPolicy(str(tmp_path), **options)


@pytest.mark.skipif(HAS_TORCH, reason="torch is here")
def test_without_torch_a_line_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match=r"needs torch>=2\.4.* Run: pip install"):
        gem_eval.make_policy(f"hf:{tmp_path}")


@needs_torch
def test_a_lone_surrogate_is_shown_as_the_replacement_character(model: Path) -> None:
    policy = LocalModelPolicy(str(model), max_tokens=4)

    broken, whole = ask(policy, request("a\ud800"), request("a\ufffd"))

    assert broken.token_ids == whole.token_ids

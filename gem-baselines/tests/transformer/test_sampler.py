"""The sampler alone, and through `gem.rollout`: what it draws, and what it keeps."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="gem-baselines' extra `torch` is not installed")

import torch

import gem
from gem_baselines._sampling import Answer, Question
from gem_baselines.learning import rows_of
from gem_baselines.learning._passes import read
from gem_baselines.transformer._model import CausalTransformer
from gem_baselines.transformer._sampler import Sampler
from gem_baselines.transformer._shape import TransformerShape

from .small import a_batch, make_policy, play

END = 3
SHAPES: list[dict[str, Any]] = [
    {},
    {"positions": "rotary", "tied": True, "layers": 1},
]


def make_sampler(
    *, temperature: float = 1.0, cache_mb: float = 8.0, max_length: int = 64
) -> Sampler:
    model = CausalTransformer(TransformerShape(width=16, max_length=max_length), 10, seed=1)
    # Far from even: what is drawn then depends on what was read.
    with torch.no_grad():
        model.head.weight.mul_(20)
    return Sampler(
        model,
        end_id=END,
        temperature=temperature,
        cache_mb=cache_mb,
        device=torch.device("cpu"),
    )


def greatest_gap(policy: Any, episodes: list[gem.Episode]) -> float:
    """Return how far the recorded logprobs are from those of reading each episode whole."""
    rows = rows_of(a_batch(episodes))
    readings = read(policy._learner.model, rows, temperature=1.0)
    return max(
        float(np.abs(row.logprobs - reading.logprobs).max())
        for row, reading in zip(rows, readings, strict=True)
        if row.logprobs is not None
    )


@pytest.mark.parametrize("shape", SHAPES, ids=["learned", "rotary"])
def test_logprobs_equal_those_of_reading_the_episode_whole(shape: dict[str, Any]) -> None:
    policy = make_policy(shape=shape)
    episodes = play(policy)

    assert {sum(turn.mask or ()) for episode in episodes for turn in episode.turns} == {1, 2, 3}
    assert greatest_gap(policy, episodes) < 1e-5


def test_logprobs_are_right_where_the_cache_loses_episodes_in_flight() -> None:
    policy = make_policy(cache_mb=0.05)
    assert policy._sampler.num_slots == 1

    assert greatest_gap(policy, play(policy)) < 1e-5


def test_a_model_may_read_fewer_tokens_than_a_block_looks_at() -> None:
    sampler = make_sampler(max_length=4)
    question = Question((5, 6), limit=2, seed=0)

    [answer] = sampler.sample([question], is_greedy=True)

    assert 1 <= len(answer.ids) <= 2


def test_a_later_turn_reads_its_new_tokens_alone() -> None:
    sampler = make_sampler()
    shapes: list[tuple[int, ...]] = []
    sampler._model.register_forward_pre_hook(lambda _, given: shapes.append(given[0].shape))
    first = Question(tuple(range(4, 9)) * 6, 1, 0)
    [answer] = sampler.sample([first], is_greedy=False)

    sampler.sample([Question((*first.ids, *answer.ids, 5, 6), 1, 0)], is_greedy=False)

    assert [tokens for _, tokens in shapes] == [32, 4]


def test_a_sequence_gets_the_same_alone_and_among_others_to_the_last_bit() -> None:
    questions = [
        Question(tuple(4 + (n * k) % 6 for k in range(1 + 7 * n % 55)), 1 + n % 4, n)
        for n in range(80)
    ]
    together = make_sampler().sample(questions, is_greedy=False)
    alone = [make_sampler().sample([question], is_greedy=False)[0] for question in questions]

    assert together == alone


def test_episodes_are_the_same_at_any_concurrency_to_the_last_bit() -> None:
    def record(concurrency: int) -> list[Any]:
        episodes = play(make_policy(), episodes=20, concurrency=concurrency)
        return [
            (turn.token_ids, turn.logprobs, turn.reward)
            for episode in episodes
            for turn in episode.turns
        ]

    assert record(1) == record(7) == record(64)


def test_what_a_seed_draws_follows_the_probabilities() -> None:
    sampler = make_sampler()
    num_draws = 4000
    answers = sampler.sample([Question((1, 4, 5), 1, n) for n in range(num_draws)], is_greedy=False)

    logprobs = {answer.ids[0]: answer.logprobs[0] for answer in answers}
    expected = {token: float(np.exp(logprob)) for token, logprob in logprobs.items()}
    assert sum(expected.values()) == pytest.approx(1.0, abs=0.01)
    for token, probability in expected.items():
        share = sum(answer.ids[0] == token for answer in answers) / num_draws
        spread = (probability * (1 - probability) / num_draws) ** 0.5
        assert abs(share - probability) < 5 * spread


def test_greedy_takes_the_most_probable_token_with_its_logprob() -> None:
    sampler = make_sampler()
    question = Question((1, 4, 5), 1, 0)
    drawn = sampler.sample([question._replace(seed=n) for n in range(300)], is_greedy=False)

    [greedy] = sampler.sample([question], is_greedy=True)

    best = max(drawn, key=lambda answer: answer.logprobs)
    assert greedy.ids == best.ids
    assert greedy.logprobs == pytest.approx(best.logprobs)


def test_a_logprob_is_of_the_policy_at_its_temperature() -> None:
    [warm] = make_sampler(temperature=2.0).sample([Question((1, 4), 1, 0)], is_greedy=True)
    sampler = make_sampler()
    hidden = sampler._model(torch.tensor([[1, 4]]), torch.tensor([[0, 1]]))
    logprobs = (sampler._model.logits(hidden)[0, 1] / 2).log_softmax(-1)

    assert warm.logprobs[0] == pytest.approx(logprobs.max().item(), abs=1e-6)


def test_an_answer_ends_with_the_end_token_or_at_its_limit() -> None:
    answers = make_sampler().sample([Question((1,), 6, n) for n in range(200)], is_greedy=False)

    for answer in answers:
        assert END not in answer.ids[:-1]
        assert len(answer.ids) == 6 or answer.ids[-1] == END
    assert len({len(answer.ids) for answer in answers}) > 1


def test_a_request_that_is_cancelled_disturbs_no_other() -> None:
    def requests(turn_ids: tuple[int, ...]) -> list[gem.Request]:
        return [
            gem.Request(prompt_ids=(1, 4 + n, *turn_ids), token_budget=3, seed=n) for n in range(5)
        ]

    async def answers(cancelled: set[int]) -> list[Any]:
        policy = make_policy()
        replies: list[Any] = []
        for turn_ids in [(5,), (5, 6, 7)]:
            futures = [asyncio.ensure_future(policy(each)) for each in requests(turn_ids)]
            for number in cancelled:
                futures[number].cancel()
            done = await asyncio.gather(*futures, return_exceptions=True)
            replies += [each for n, each in enumerate(done) if n not in {1, 3}]
        await policy.aclose()
        return replies

    assert asyncio.run(answers({1, 3})) == asyncio.run(answers(set()))


def test_nothing_is_kept_of_a_computation_that_failed() -> None:
    sampler = make_sampler(cache_mb=0.07)
    assert sampler.num_slots == 2
    questions = [Question((1, 4, 5), 1, 0)]
    expected = sampler.sample(questions, is_greedy=False)
    with pytest.raises(IndexError):
        sampler.sample([Question((1, 4, 99), 1, 0)] * 2, is_greedy=False)

    answers: list[Answer] = sampler.sample(questions * 2, is_greedy=False)

    assert answers == expected * 2

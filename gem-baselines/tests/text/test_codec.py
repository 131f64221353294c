"""The codec through `gem.rollout`, with a policy that answers by a script of token ids."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem.tokens import Trajectory
from gem_baselines.text import TextCodec, WordTokenizer, keep_matches

TOKENIZER = WordTokenizer(["\\boxed{", "}", "1", "2", "3", "high", "low", "Guess", "Rules", "End"])


class Hints(gem.Env):
    """Ends after three turns; its first message has instructions, and every turn a suffix."""

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "Rules Rules End", {"suffix": "Guess"}

    def step(self, action: str) -> gem.Step:
        hint = "high, very" if self.turn % 2 else "low"
        return gem.Step(hint, 0.5, self.turn == 2, False, {"suffix": "Guess"})


class Scripted:
    """Answers turn k with the k-th list of ids."""

    name = "scripted"

    def __init__(self, codec: TextCodec, answers: Sequence[Sequence[int]]) -> None:
        self.tokens = codec
        self.requests: list[gem.Request] = []
        self._answers = answers

    def __call__(self, request: gem.Request) -> gem.Reply:
        self.requests.append(request)
        ids = self._answers[request.turn]
        return self.tokens.reply(ids, [-0.5] * len(ids))


def encode(text: str) -> list[int]:
    return TOKENIZER.encode(text)


ANSWERS = [encode("1"), encode("2 3"), encode("3")]


def play(policy: Scripted, **options: Any) -> gem.Episode:
    async def run() -> gem.Episode:
        async for episode in gem.rollout(policy, Hints, **options):
            return episode
        raise AssertionError("no episode came")

    return asyncio.run(run())


def test_an_episode_is_recorded_as_the_tokens_that_were_given_and_answered() -> None:
    codec = TextCodec(TOKENIZER, opening="\\boxed{", closing="}", max_answer_tokens=2)
    sequence = Trajectory.of(play(Scripted(codec, ANSWERS))).sequence

    texts = [TOKENIZER.decode(segment.ids) for segment in sequence.segments]
    assert texts == [
        "Rules Rules End Guess\\boxed{",
        "1",
        "}low Guess\\boxed{",
        "2 3",
        "}high<unknown><unknown>Guess\\boxed{",
        "3",
    ]
    assert [segment.is_model for segment in sequence.segments] == [False, True] * 3
    assert sequence.logprobs is not None
    assert [p for p, own in zip(sequence.logprobs, sequence.mask, strict=True) if own] == [-0.5] * 4
    assert sequence.ids[0] == TOKENIZER.begin_id


def test_every_prompt_extends_the_one_before_it_and_its_answer() -> None:
    policy = Scripted(TextCodec(TOKENIZER), ANSWERS)
    play(policy)

    asked = [request.prompt_ids or () for request in policy.requests]
    for (earlier, later), answer in zip(itertools.pairwise(asked), ANSWERS, strict=False):
        assert later[: len(earlier) + len(answer)] == (*earlier, *answer)


def test_the_action_has_the_opening_and_the_closing() -> None:
    codec = TextCodec(TOKENIZER, opening="\\boxed{", closing="}", max_answer_tokens=2)
    episode = play(Scripted(codec, ANSWERS))

    assert [turn.action for turn in episode.turns] == ["\\boxed{1}", "\\boxed{2 3}", "\\boxed{3}"]
    assert [turn.finish_reason for turn in episode.turns] == ["length", "stop", "length"]


def test_without_an_opening_and_a_closing_special_tokens_stand_there() -> None:
    ended = [*encode("1"), TOKENIZER.end_id]
    episode = play(Scripted(TextCodec(TOKENIZER), [ended, encode("2"), encode("3")]))

    first, second, third = Trajectory.of(episode).samples()
    assert episode.turns[0].action == "1"
    assert first.prompt_ids[-1] == TOKENIZER.answer_id
    # The model ended its first answer itself; the end of the second was given to it.
    assert second.prompt_ids.count(TOKENIZER.end_id) == 1
    assert third.prompt_ids.count(TOKENIZER.end_id) == 2
    assert [turn.finish_reason for turn in episode.turns] == ["stop", "length", "length"]


def test_the_instructions_may_be_left_out_and_the_rest_digested() -> None:
    codec = TextCodec(TOKENIZER, instructions_end="End", digest=keep_matches("high|low|End"))
    sequence = Trajectory.of(play(Scripted(codec, ANSWERS))).sequence

    given = [TOKENIZER.decode(part.ids) for part in sequence.segments if not part.is_model]
    assert given == ["", "low", "high"]


def test_instructions_that_end_otherwise_end_the_episode_with_a_reason() -> None:
    episode = play(Scripted(TextCodec(TOKENIZER, instructions_end="No such text"), ANSWERS))

    assert episode.stop_reason == "policy_error"
    assert "'No such text' were to be left out" in str(episode.error)


def test_a_history_that_a_wrapper_rewrites_begins_a_sequence_each_turn() -> None:
    policy = Scripted(TextCodec(TOKENIZER, instructions_end="End"), ANSWERS)
    trajectory = Trajectory.of(play(policy, wrappers=["concat"]))

    assert len(trajectory.sequences) == 3
    assert trajectory.sequences[1].prompt_ids == policy.requests[1].prompt_ids
    assert all(sequence.ids[0] == TOKENIZER.begin_id for sequence in trajectory.sequences)


def test_an_episode_without_room_for_an_answer_ends_as_max_tokens() -> None:
    codec = TextCodec(TOKENIZER, max_length=12, max_answer_tokens=3)
    policy = Scripted(codec, [encode("1"), encode("2"), encode("3")])
    episode = play(policy)

    assert episode.stop_reason == "max_tokens"
    assert [request.token_budget for request in policy.requests] == [3, 1]
    assert len(episode.turns) == 2


@pytest.mark.parametrize("limit", ["max_answer_tokens", "max_length"])
def test_a_limit_below_one_is_refused(limit: str) -> None:
    options: dict[str, Any] = {limit: 0}

    with pytest.raises(BadArguments, match=f"{limit}=0 was asked for"):
        TextCodec(TOKENIZER, **options)


def test_a_digest_of_no_regular_expression_is_refused() -> None:
    with pytest.raises(BadArguments, match=r"keep='\(' was asked for, and is no regular"):
        keep_matches("(")

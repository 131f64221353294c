"""Episodes that are played by tokens, and what a trainer gets of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import gem
from gem import Episode, Message, Observation, Request
from gem.env._step import Step
from gem.errors import BadArguments
from gem.tokens import ChatCodec, OnRewrite, Sampled, TokenPolicy, Trajectory

THOUGHT = "<think>\nWhat now?\n</think>\n\n"


class Counting(gem.Env):
    """Says how many answers it has had, and gives as many rewards; ends after some turns."""

    def __init__(self, turns: int = 3, fails_at: int = 99, says: str = "Again") -> None:
        self.turns, self.fails_at, self.says = turns, fails_at, says
        self.count = 0

    def reset(self, seed: int | None = None, **options: Any) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return "Begin.", {}

    def step(self, action: str) -> Step:
        self.count += 1
        if self.count == self.fails_at:
            raise ZeroDivisionError
        return Step(
            f"{self.says} {self.count}.", float(self.count), self.count >= self.turns, False, {}
        )


@pytest.fixture(autouse=True)
def _registered() -> None:
    gem.register("test:Counting", Counting)


@pytest.fixture
def codec(tokenizer_of: Callable[..., Any]) -> ChatCodec:
    return ChatCodec(tokenizer_of("qwen3"))


def says(codec: ChatCodec, *texts: str, end: bool = True) -> Callable[[Request], Sampled]:
    """Return what says these in turn, and the last for ever."""

    def sample(request: Request) -> Sampled:
        ids = codec.encode(texts[min(request.turn, len(texts) - 1)])
        ids += sorted(codec.stop_ids)[-1:] if end else []
        ids = ids[: request.token_budget]
        return Sampled(ids, [-0.5] * len(ids), "stop")

    return sample


def play(policy: Any, env: Any = "test:Counting", **options: Any) -> Episode:
    async def run() -> Episode:
        (episode,) = [each async for each in gem.rollout(policy, env, **options)]
        return episode

    return asyncio.run(run())


def test_every_prompt_extends_the_one_before_and_its_answer(codec: ChatCodec) -> None:
    trajectory = Trajectory.of(play(TokenPolicy(says(codec, "One.", "Two."), codec)))

    for before, after in pairwise(trajectory.samples()):
        given = before.prompt_ids + before.response_ids
        assert after.prompt_ids[: len(given)] == given
    assert len(trajectory.sequences) == 1


def test_the_tokens_are_those_that_the_policy_was_asked_with(codec: ChatCodec) -> None:
    asked: list[Sequence[int]] = []
    sample = says(codec, "One.")

    def note(request: Request) -> Sampled:
        asked.append(request.prompt_ids or ())
        return sample(request)

    trajectory = Trajectory.of(play(TokenPolicy(note, codec)))

    assert [each.prompt_ids for each in trajectory.samples()] == asked


def test_what_was_said_is_recorded_as_it_was_said(codec: ChatCodec) -> None:
    odd = [3, 200, 4, 255]  # not what a tokenizer would make of any text

    sequence = Trajectory.of(play(TokenPolicy(lambda _: Sampled(odd), codec))).sequence

    assert [sequence.ids[start:stop] for start, stop in sequence.spans] == [tuple(odd)] * 3


def test_everything_has_its_place(codec: ChatCodec) -> None:
    sequence = Trajectory.of(play(TokenPolicy(says(codec, "One."), codec))).sequence

    said = len(codec.encode("One.")) + 1
    assert sum(sequence.mask) == 3 * said
    assert sequence.logprobs is not None
    assert {p for p, m in zip(sequence.logprobs, sequence.mask, strict=True) if m} == {-0.5}
    assert {p for p, m in zip(sequence.logprobs, sequence.mask, strict=True) if not m} == {0.0}
    rewarded = [at for at, reward in enumerate(sequence.token_rewards) if reward]
    assert rewarded == [stop - 1 for _, stop in sequence.spans]
    assert sum(sequence.token_rewards) == 1 + 2 + 3
    assert sequence.prompt_ids + sequence.response_ids == sequence.ids
    assert sequence.response_mask[0] == 1
    assert sequence.response_logprobs == sequence.logprobs[sequence.prompt_length :]


def test_segments_tell_who_spoke(codec: ChatCodec) -> None:
    sequence = Trajectory.of(play(TokenPolicy(says(codec, "One."), codec))).sequence

    segments = sequence.segments

    assert [each.is_model for each in segments] == [False, True] * 3
    assert sum((each.ids for each in segments), ()) == sequence.ids
    assert {each.logprobs is None for each in segments if each.is_model} == {False}
    assert {each.logprobs for each in segments if not each.is_model} == {None}


def test_rewards_and_returns_have_an_entry_a_turn(codec: ChatCodec) -> None:
    trajectory = Trajectory.of(play(TokenPolicy(says(codec, "One."), codec)))

    assert trajectory.rewards == (1.0, 2.0, 3.0)
    assert trajectory.total_reward == 6.0
    assert trajectory.returns(0.5) == (2.75, 3.5, 3.0)
    assert (trajectory.terminated, trajectory.truncated) == (True, False)


def test_a_policy_without_logprobs_gives_none(codec: ChatCodec) -> None:
    policy = TokenPolicy(lambda _: Sampled(codec.encode("One.")), codec)

    sequence = Trajectory.of(play(policy)).sequence

    assert sequence.logprobs is sequence.response_logprobs is None
    assert {sample.logprobs for sample in sequence.samples()} == {None}


def test_many_are_played_at_once_and_by_a_batched_function(codec: ChatCodec) -> None:
    sample = says(codec, "One.")

    def answer(requests: list[Request]) -> list[Any]:
        return [sample(each) for each in requests]

    batched: Any = gem.MicroBatch(answer, max_batch=4, max_wait_s=0)

    async def run() -> list[Episode]:
        policy = TokenPolicy(batched, codec)
        return [each async for each in gem.rollout(policy, "test:Counting", episodes=8)]

    sequences = {Trajectory.of(each).sequence for each in asyncio.run(run())}

    assert len(sequences) == 1


def test_a_record_keeps_its_tokens(codec: ChatCodec) -> None:
    episode = play(TokenPolicy(says(codec, f"{THOUGHT}One."), codec))

    read = Episode.from_json(episode.to_json())

    assert Trajectory.of(read) == Trajectory.of(episode)
    assert len(Trajectory.of(read).sequences) == 3


def test_tokens_do_not_change_a_fingerprint(codec: ChatCodec) -> None:
    by_tokens = play(TokenPolicy(says(codec, "One."), codec))
    by_text = play(lambda _: "One.")

    assert by_tokens.fingerprint() == by_text.fingerprint()


def test_an_observation_with_a_lone_surrogate_ends_no_episode(codec: ChatCodec) -> None:
    gem.register("test:Broken", Counting, says="\ud800")

    episode = play(TokenPolicy(says(codec, "One."), codec), "test:Broken")

    assert (episode.stop_reason, len(episode.turns)) == ("terminated", 3)


# rewrites


def test_a_rewritten_history_starts_another_sequence(
    codec: ChatCodec, tokenizer_of: Callable[..., Any]
) -> None:
    episode = play(TokenPolicy(says(codec, f"{THOUGHT}One.", "Two."), codec))

    first, second = Trajectory.of(episode).sequences

    assert (len(first.spans), len(second.spans)) == (1, 2)
    assert "What now?" not in tokenizer_of("qwen3").decode(second.prompt_ids)
    assert first.rewards + second.rewards == (1.0, 2.0, 3.0)
    with pytest.raises(BadArguments, match="asked for as one sequence of tokens, and is 2"):
        _ = Trajectory.of(episode).sequence


class Resulting(Counting):
    """Answers the first action by a tool's result, and the others as a user."""

    def step(self, action: str) -> Step:
        step = super().step(action)
        if self.count > 1:
            return step
        return step._replace(observation=Message("tool", "r", call_id="c1"))


def test_what_was_said_before_a_split_is_watched_up_to_the_next_user(
    codec: ChatCodec, tokenizer_of: Callable[..., Any]
) -> None:
    # The template moves the answer's white space, so that a sequence begins with the result; and it
    # leaves out what was thought as soon as a user speaks.
    policy = TokenPolicy(says(codec, "<think>Hm.</think>Yes.", "Done."), codec)

    first, second, third = Trajectory.of(play(policy, Resulting)).sequences

    decode = tokenizer_of("qwen3").decode
    assert "\nHm.\n" in decode(second.prompt_ids)
    assert "Hm." not in decode(third.prompt_ids)
    assert first.rewards + second.rewards + third.rewards == (1.0, 2.0, 3.0)


def test_a_rewrite_that_is_refused_ends_the_episode(tokenizer_of: Callable[..., Any]) -> None:
    codec = ChatCodec(tokenizer_of("qwen3"), on_rewrite="refuse")

    episode = play(TokenPolicy(says(codec, f"{THOUGHT}One."), codec))

    assert episode.stop_reason == "policy_error"
    assert "rewrites what was said before" in (episode.error or "")
    assert len(Trajectory.of(episode).rewards) == 1


def test_a_wrapper_that_rewrites_starts_a_sequence_a_turn(codec: ChatCodec) -> None:
    episode = play(TokenPolicy(says(codec, "One."), codec), wrappers=["concat"])

    assert len(Trajectory.of(episode).sequences) == 3


def test_a_finished_prompt_is_tokenised_as_it_is(
    codec: ChatCodec, tokenizer_of: Callable[..., Any]
) -> None:
    tokenizer = tokenizer_of("qwen3")
    wrapper = {"id": "concat_chat", "tokenizer": tokenizer}

    episode = play(TokenPolicy(says(codec, "One."), codec), wrappers=[wrapper])

    prompts = [each.prompt_ids for each in Trajectory.of(episode).samples()]
    assert [tokenizer.decode(each) for each in prompts] == [
        each.observation for each in episode.turns
    ]


def test_a_wrapper_that_rewrites_is_refused_where_nothing_may(
    tokenizer_of: Callable[..., Any],
) -> None:
    codec = ChatCodec(tokenizer_of("qwen3"), on_rewrite="keep")

    episode = play(TokenPolicy(says(codec, "One."), codec), wrappers=["concat"])

    assert "history is rewritten by a wrapper" in (episode.error or "")


# limits


def test_an_answer_is_bounded(codec: ChatCodec, tokenizer_of: Callable[..., Any]) -> None:
    policy = TokenPolicy(says(codec, "A long answer."), codec, max_turn_tokens=4)

    episode = play(policy)

    assert [turn.action for turn in episode.turns] == ["A lo"] * 3
    closed = tokenizer_of("qwen3").decode(Trajectory.of(episode).sequence.ids)
    assert "A lo<|im_end|>" in closed


def test_an_episode_ends_where_its_response_is_full(codec: ChatCodec) -> None:
    whole = Trajectory.of(play(TokenPolicy(says(codec, "One."), codec))).sequence
    third = whole.spans[2][0] - whole.prompt_length
    policy = TokenPolicy(says(codec, "One."), codec, max_response_tokens=third)

    episode = play(policy)

    assert (episode.stop_reason, episode.truncated, episode.success) == ("max_tokens", True, True)
    assert Trajectory.of(episode).sequence.ids == whole.ids[: whole.spans[1][1]]


def test_the_last_answer_gets_what_room_there_is(codec: ChatCodec) -> None:
    whole = Trajectory.of(play(TokenPolicy(says(codec, "One."), codec))).sequence
    policy = TokenPolicy(says(codec, "One."), codec, max_length=whole.spans[1][0] + 2)

    episode = play(policy)

    assert [turn.action for turn in episode.turns] == ["One.", "On"]
    assert len(Trajectory.of(episode).sequence.ids) == whole.spans[1][0] + 2


def test_a_prompt_without_room_ends_an_episode_before_it_begins(codec: ChatCodec) -> None:
    episode = play(TokenPolicy(says(codec, "One."), codec, max_length=3))

    assert episode.stop_reason == "max_tokens"
    with pytest.raises(BadArguments, match=r"it has no turn \(max_tokens\)"):
        Trajectory.of(episode)


def test_a_step_that_fails_keeps_the_tokens_before_it(codec: ChatCodec) -> None:
    gem.register("test:Failing", Counting, fails_at=2)

    trajectory = Trajectory.of(play(TokenPolicy(says(codec, "One."), codec), "test:Failing"))

    assert trajectory.rewards == (1.0, 0.0)
    assert (trajectory.stop_reason, trajectory.truncated) == ("env_error", True)
    assert "ZeroDivisionError" in (trajectory.error or "")


# misuse


@pytest.mark.parametrize(
    ("sampled", "problem"),
    [
        (Sampled([]), "said nothing"),
        (Sampled([1.0]), "have to be ids"),  # type: ignore[list-item]
        (Sampled(["1"]), "have to be ids"),  # type: ignore[list-item]
        (Sampled([1, 2], [0.0]), "gave 2 tokens and 1 logprobs"),
        (Sampled([1] * 9), "gave 9 tokens, and 8 were asked for"),
        (Sampled([1, 2], [-0.5, None]), "gave None as the logprob of its token 1"),  # type: ignore[list-item]
    ],
)
def test_what_no_model_says_is_an_error_of_the_policy(
    sampled: Sampled, problem: str, codec: ChatCodec
) -> None:
    episode = play(TokenPolicy(lambda _: sampled, codec, max_turn_tokens=8))

    assert episode.stop_reason == "policy_error"
    assert problem in (episode.error or "")


@pytest.mark.parametrize(
    ("sampled", "said"),
    [
        ("One", "'One' (str)"),
        (None, "None (NoneType)"),
        ({"ids": [1], "logprobs": None, "finish_reason": None}, "(dict)"),
        (([1], None), "([1], None) (tuple)"),
        ([1, 2, 3], "[1, 2, 3] (list)"),
        (Sampled("One"), "(Sampled)"),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_sampled_is_refused_with_what_a_function_must_return(
    sampled: Any, said: str, codec: ChatCodec
) -> None:
    episode = play(TokenPolicy(lambda _: sampled, codec))

    assert episode.stop_reason == "policy_error"
    assert "A sampling function returned" in (episode.error or "")
    assert said in (episode.error or "")
    assert "It must return a Sampled(ids, logprobs, finish_reason)." in (episode.error or "")


def test_a_plain_tuple_of_the_three_is_taken(codec: ChatCodec) -> None:
    plain: Any = (codec.encode("One."), None, "stop")

    assert play(TokenPolicy(lambda _: plain, codec)).stop_reason == "terminated"


class Scalar:
    """A number of a tensor: equal to no other where it is looked up."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __index__(self) -> int:
        return self._number


def test_a_tensor_is_read_as_its_numbers(codec: ChatCodec) -> None:
    ids = [*codec.encode("One."), min(codec.stop_ids)]
    tensor: Any = [Scalar(id) for id in ids]

    episode = play(TokenPolicy(lambda _: Sampled(tensor), codec))

    assert {turn.action for turn in episode.turns} == {"One."}
    assert [*Trajectory.of(episode).sequence.ids[-len(ids) :]] == ids


def test_a_reply_without_tokens_is_an_error_of_the_policy(codec: ChatCodec) -> None:
    class Half(TokenPolicy):
        async def __call__(self, request: Request) -> gem.Reply:
            return replace(await super().__call__(request), token_ids=None, logprobs=None)

    episode = play(Half(says(codec, "One."), codec))

    assert episode.stop_reason == "policy_error"
    assert "a reply has no tokens" in (episode.error or "")


def test_a_policy_by_tokens_needs_a_rollout(codec: ChatCodec) -> None:
    policy = TokenPolicy(says(codec, "One."), codec)

    with pytest.raises(BadArguments, match="without prompt_ids"):
        asyncio.run(policy(Request((Message("user", "Hello."),))))


@pytest.mark.parametrize("most", [0, -3, 1.5, 4.0, "5", True, float("nan")])
def test_a_limit_that_counts_no_tokens_is_refused(most: Any, codec: ChatCodec) -> None:
    with pytest.raises(BadArguments, match=f"max_length={most!r} was asked for. It is an int from"):
        TokenPolicy(says(codec, "One."), codec, max_length=most)


def test_a_limit_may_be_an_int_of_numpy(codec: ChatCodec) -> None:
    most: Any = np.int64(1)

    assert TokenPolicy(says(codec, "One."), codec, max_turn_tokens=most).tokens.max_turn_tokens == 1


def test_an_episode_in_text_has_no_tokens() -> None:
    with pytest.raises(BadArguments, match="answers in text"):
        Trajectory.of(play(lambda _: "One."))


def test_an_attribute_of_the_same_name_changes_nothing() -> None:
    def policy(request: Request) -> str:
        return "One."

    policy.tokens = 7  # type: ignore[attr-defined]

    assert play(policy).stop_reason == "terminated"


def test_closing_a_policy_closes_what_samples(codec: ChatCodec) -> None:
    closed = []

    class Engine:
        def __call__(self, request: Request) -> Sampled:
            return Sampled([1])

        async def aclose(self) -> None:
            closed.append(self)

    asyncio.run(TokenPolicy(Engine(), codec).aclose())
    asyncio.run(TokenPolicy(says(codec, "One."), codec).aclose())

    assert len(closed) == 1
    assert TokenPolicy(Engine(), codec).name == "Engine"


class Letters:
    """A codec of one's own: a letter is a token, and 0 stands before each answer."""

    on_rewrite: OnRewrite = "split"

    def opening(self, messages: Sequence[Message], tools: Sequence[Any] = ()) -> list[int]:
        return self.encode("".join(message.text for message in messages))

    def following(
        self,
        messages: Sequence[Message],
        turn_start: int,
        answer_at: int,
        answer_ids: Sequence[int],
        tools: Sequence[Any] = (),
    ) -> list[int]:
        return self.opening(messages[answer_at + 1 :])

    def encode(self, text: str) -> list[int]:
        return [*map(ord, text), 0]

    def message(self, ids: Sequence[int], tools: Sequence[Any] = (), turn: int = 0) -> Message:
        return Message("assistant", "".join(map(chr, ids)))


@pytest.mark.parametrize(("wrappers", "num_sequences"), [([], 1), (["concat"], 3)])
def test_an_episode_is_played_by_a_codec_of_ones_own(
    wrappers: list[str], num_sequences: int
) -> None:
    policy = TokenPolicy(lambda request: Sampled([ord("x")]), Letters(), max_turn_tokens=1)

    async def run() -> list[Episode]:
        rollout = gem.rollout(policy, "test:Counting", episodes=1, wrappers=wrappers)
        return [episode async for episode in rollout]

    [episode] = asyncio.run(run())
    sequences = Trajectory.of(episode).sequences

    assert len(sequences) == num_sequences
    assert sequences[0].ids[:8] == (*map(ord, "Begin."), 0, ord("x"))
    assert sequences[-1].ids[-2:] == (0, ord("x"))

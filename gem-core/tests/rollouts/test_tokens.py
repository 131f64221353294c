"""A policy that plays by token ids: what a run asks of its `tokens`, and what it records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from gem.content import Message
from gem.conversation import Reply, Request

from .running import run, run_one


class Letters:
    """The tokens of one episode: a letter each."""

    def __init__(self, most: int, failing: str) -> None:
        self.ids: tuple[int, ...] = ()
        self.most = most
        self.failing = failing

    def ask(
        self,
        messages: Sequence[Message],
        prompt: str | None,
        tools: Sequence[Mapping[str, Any]],
        *,
        is_rewritten: bool,
    ) -> tuple[tuple[int, ...], int | None] | None:
        assert (prompt, tools, is_rewritten) == (None, (), False)
        if self.failing == "ask":
            raise ZeroDivisionError("ask")
        self.ids += tuple(map(ord, messages[-1].text))
        room = self.most - len(self.ids)
        return (self.ids, room) if room > 0 else None

    def answered(self, reply: Reply) -> Mapping[str, Any]:
        if self.failing == "answered":
            raise ZeroDivisionError("answered")
        self.ids += reply.token_ids or ()
        return {"token_ids": reply.token_ids, "mask": (1,)}


class ByLetters:
    """Plays by tokens, which it opens for each episode."""

    def __init__(self, most: int = 1000, failing: str = "") -> None:
        self.most = most
        self.failing = failing
        self.tokens = self
        self.asked: list[Request] = []

    def open_episode(self) -> Letters:
        if self.failing == "open_episode":
            raise ZeroDivisionError("open_episode")
        return Letters(self.most, self.failing)

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(Message("assistant", "H"), token_ids=(ord("H"),))


def test_a_request_carries_what_the_tokens_of_its_episode_say() -> None:
    policy = ByLetters(most=1000)

    run_one(policy, seed=1)

    first, second = policy.asked[:2]
    assert first.prompt_ids == tuple(map(ord, first.messages[0].text))
    assert first.token_budget == 1000 - len(first.prompt_ids)
    assert (second.prompt_ids or ())[: len(first.prompt_ids) + 1] == (*first.prompt_ids, ord("H"))


def test_a_turn_records_what_the_tokens_say_of_its_reply() -> None:
    episode = run_one(ByLetters())

    assert {(turn.token_ids, turn.mask) for turn in episode.turns} == {((ord("H"),), (1,))}


def test_each_episode_has_tokens_of_its_own() -> None:
    policy = ByLetters()

    run(policy, "demo:Coin", episodes=2, concurrency=1)

    firsts = [request for request in policy.asked if request.turn == 0]
    assert firsts[0].prompt_ids == firsts[1].prompt_ids


def test_where_no_token_may_follow_the_episode_ends_without_a_call() -> None:
    policy = ByLetters(most=1)

    episode = run_one(policy)

    assert (episode.stop_reason, episode.turns, policy.asked) == ("max_tokens", (), [])


@pytest.mark.parametrize("failing", ["open_episode", "ask", "answered"])
def test_tokens_that_fail_cost_their_episode_and_are_the_policys_fault(
    failing: str, placed: Callable[[str, str], str]
) -> None:
    episode = run_one(ByLetters(failing=failing))

    assert (episode.stop_reason, episode.error) == (
        "policy_error",
        placed(f"ZeroDivisionError: {failing}", failing),
    )


def test_an_attribute_of_that_name_may_be_anything_else() -> None:
    class Counts:
        tokens = 7

        def __call__(self, request: Request) -> str:
            assert request.prompt_ids is None
            return "H"

    assert run_one(Counts()).error is None

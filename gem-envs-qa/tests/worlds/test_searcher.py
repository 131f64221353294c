"""Whoever searches can answer every question; whoever does not cannot beat chance."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

import gem
from gem.conversation import Request
from gem.episode import Episode
from gem_envs_qa.worlds.asking import pose
from gem_envs_qa.worlds.environment import Worlds
from gem_envs_qa.worlds.relations import Kind
from gem_envs_qa.worlds.searcher import Searcher
from gem_envs_qa.worlds.searching import chain_of
from gem_envs_qa.worlds.world import world

HOPS = (1, 2, 3, 4)
QUESTIONS = 200


def played(policy: object, hops: int, worlds: str = "train") -> list[Episode]:
    spec = gem.spec("qa:Worlds-v0").model_copy(update={"kwargs": {"hops": hops, "worlds": worlds}})

    async def play() -> list[Episode]:
        run = gem.rollout(policy, spec, episodes=QUESTIONS, seed=0)  # type: ignore[arg-type]
        return [episode async for episode in run]

    return asyncio.run(play())


@pytest.mark.parametrize("worlds", ["train", "eval"])
@pytest.mark.parametrize("hops", HOPS)
def test_a_searcher_that_reads_only_the_conversation_answers_every_question(
    hops: int, worlds: str
) -> None:
    episodes = played(Searcher(), hops, worlds)

    assert [episode.success for episode in episodes] == [True] * QUESTIONS
    # seldom is the next document shown before it is looked for
    assert sum(len(episode.turns) for episode in episodes) / QUESTIONS > hops + 0.9


@pytest.mark.parametrize("hops", HOPS)
def test_the_environments_own_solution_is_that_search(hops: int) -> None:
    env = Worlds(hops=hops)
    for seed in range(QUESTIONS):
        env.reset(seed=seed)
        while not (step := env.step(str(env.solve()))).terminated:
            assert not step.truncated
        assert step.info["success"]


@pytest.mark.parametrize("hops", HOPS)
def test_the_solution_is_found_where_a_search_shows_one_document(hops: int) -> None:
    env = Worlds(hops=hops, entities=40, k=1)
    for seed in range(40):
        env.reset(seed=seed)
        while not (step := env.step(str(env.solve()))).terminated:
            assert not step.truncated
        assert step.info["success"]


class ClosedBook:
    """Knows every name of every world and what kind of thing is asked for, and searches nothing."""

    def __call__(self, request: Request) -> str:
        question = request.messages[0].text.partition("Question: ")[2].partition("\n")[0]
        name, chain = chain_of(question)
        kind = chain[-1].object
        names = next(
            made.facts.names
            for number in range(16)
            if name in str((made := world("train", number, 200)).facts.names.values())
        )
        guesses = names[kind] if kind != "year" else [str(year) for year in range(1000, 2000)]
        return f"<answer>{random.Random(request.seed).choice(guesses)}</answer>"


@pytest.mark.parametrize("hops", HOPS)
def test_whoever_knows_every_name_and_searches_nothing_is_at_chance(hops: int) -> None:
    right = sum(bool(episode.success) for episode in played(ClosedBook(), hops))

    # 40 names at the least are possible, so 5 of 200 are expected; 15 are beyond chance
    assert right < 15


@pytest.mark.parametrize("hops", HOPS)
def test_no_answer_is_common_enough_to_be_worth_guessing(hops: int) -> None:
    facts = world("train", 0, 200).facts
    rng = random.Random(0)
    answers: dict[Kind, Counter[str]] = {}
    for _ in range(4000):
        drawn = pose(rng, facts, hops)
        answers.setdefault(drawn.kind, Counter())[drawn.answer] += 1

    best = sum(max(counts.values()) for counts in answers.values())

    assert len(answers) == 5
    assert best / 4000 < 0.05


def test_the_start_of_a_question_does_not_lead_to_its_answer_in_one_search() -> None:
    env = Worlds(hops=3)
    at_once = 0
    for seed in range(QUESTIONS):
        env.reset(seed=seed)
        shown = env.world.search(env.question, k=3)
        at_once += any(env.answer in f"{document.title} {document.text}" for document in shown)

    assert at_once < 0.1 * QUESTIONS


def test_a_searcher_that_finds_nothing_answers_nothing() -> None:
    searcher = Searcher()
    told = "Question: Who is the author of The Lantern of Nowhere?"
    messages = [gem.Message("user", told)]
    for _ in range(7):
        action = searcher(Request(messages=tuple(messages)))
        messages += [gem.Message("assistant", action), gem.Message("user", "No document matches.")]

    assert action == "<answer></answer>"


def test_a_searcher_says_nothing_where_there_is_no_question() -> None:
    assert Searcher()(Request(messages=(gem.Message("user", "What is 1 + 1?"),))) == ""

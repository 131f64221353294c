from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem_envs_qa.worlds.environment import Worlds


@pytest.fixture
def env() -> Iterator[Worlds]:
    with Worlds() as env:
        env.reset(seed=0)
        yield env


def called(env: Worlds, *calls: gem.ToolCall) -> tuple[list[gem.Message], dict[str, Any]]:
    """Make calls beside the text, and return the messages that answer them, and info."""
    step = env.step(gem.Action("", tool_calls=calls))
    assert isinstance(step.observation, tuple)
    return [message for message in step.observation if isinstance(message, gem.Message)], step.info


def found(env: Worlds, query: str) -> str:
    return str(env.step(f"Let me see. <search>{query}</search>").observation)


def test_a_search_shows_the_best_documents_and_goes_on(env: Worlds) -> None:
    name = env.world.facts.names["town"][0]

    step = env.step(f"<search>{name}</search>")

    assert f": {name}\n" in str(step.observation) or f"on {name}\n" in str(step.observation)
    assert str(step.observation).count("] document d") == 3
    assert (step.reward, step.terminated, step.truncated) == (0.0, False, False)


def test_a_call_beside_the_text_is_answered_as_a_message(env: Worlds) -> None:
    name = env.world.facts.names["work"][0]
    [first, second], info = called(
        env,
        gem.ToolCall("c1", "search", {"query": name}),
        gem.ToolCall("c2", "search", {"q": 1}),
    )

    assert (first.role, first.call_id, second.call_id) == ("tool", "c1", "c2")
    assert name in first.text
    assert "takes 'query'" in second.text
    assert "action_error" not in info


def test_a_call_as_hermes_models_write_it_is_a_search(env: Worlds) -> None:
    name = env.world.facts.names["town"][0]

    step = env.step(
        f'<tool_call>{{"name": "search", "arguments": {{"query": "{name}"}}}}</tool_call>'
    )

    assert str(step.observation).startswith("<tool_response>\n[1] document d")
    assert name in str(step.observation)


def test_a_seed_stands_for_the_same_question_in_every_version() -> None:
    with gem.make("qa:Worlds-v0", hops=4, worlds="eval") as env:
        observation, info = env.reset(seed=0)
        first = str(env.step("<search>Viarkfell</search>").observation).splitlines()[2]

    way = "the mother town of the setting of the favourite work of the person who governs Viarkfell"
    assert f"Question: What is {way}?" in str(observation)
    assert info == {"world": 2, "hops": 4}
    assert first == (
        "Viarkfell lies between two hills. Some letters on the matter are lost. The winters of "
        "those days were long. Viarkfell owes its first families to Tyrkhaven. Viarkfell chose "
        "Vrorox Fiajel as its governor."
    )


def test_the_tool_is_stated(env: Worlds) -> None:
    [schema] = env.tools
    assert schema["function"]["name"] == "search"
    assert schema["function"]["parameters"]["required"] == ["query"]


def test_the_right_answer_ends_the_episode_with_success(env: Worlds) -> None:
    step = env.step(f"So it is <answer>the {env.answer.upper()}.</answer>")

    assert (step.reward, step.terminated, step.info["success"]) == (1.0, True, True)


def test_a_wrong_answer_ends_it_without(env: Worlds) -> None:
    step = env.step("<answer>Bonn</answer>")

    assert (step.reward, step.terminated, step.info["success"]) == (0.0, True, False)
    assert env.answer not in str(step)


def test_an_answer_beside_a_search_is_not_taken(env: Worlds) -> None:
    step = env.step(f"<search>town</search> <answer>{env.answer}</answer>")

    assert (step.reward, step.terminated) == (0.0, False)


def test_what_was_only_thought_is_neither_a_search_nor_an_answer(env: Worlds) -> None:
    step = env.step(f"<think><search>x</search><answer>{env.answer}</answer></think>")

    assert step.info["action_error"] == "format"
    assert not step.terminated


@pytest.mark.parametrize("action", ["", "Bonn", "<answer></answer>", "<answer>Bonn"])
def test_neither_a_search_nor_an_answer_costs_a_turn(env: Worlds, action: str) -> None:
    step = env.step(action)

    assert step.info["action_error"] == "format"
    assert (step.reward, step.terminated, step.truncated) == (0.0, False, False)


def test_the_last_turn_truncates() -> None:
    env = Worlds(max_turns=3)
    env.reset(seed=0)

    steps = [env.step("<search>town</search>") for _ in range(3)]

    assert [step.truncated for step in steps] == [False, False, True]
    assert not steps[-1].info["success"]


def test_a_search_that_is_not_closed_says_so(env: Worlds) -> None:
    step = env.step("<search>town")

    assert "not closed" in str(step.observation)
    assert step.info["action_error"] == "invalid"


def test_another_tool_says_so(env: Worlds) -> None:
    [message], info = called(env, gem.ToolCall("c1", "python", {"code": "1"}))

    assert "There is no tool 'python'" in message.text
    assert info["action_error"] == "invalid"


def test_four_searches_are_made_at_once(env: Worlds) -> None:
    name = env.world.facts.names["town"][0]

    text = str(env.step(f"<search>{name}</search>" * 6).observation)

    assert text.count("[1] document") == 4
    assert text.count("Not made") == 1
    assert len(env.searched) == 4


def test_four_calls_are_made_at_once_and_each_is_answered(env: Worlds) -> None:
    calls = [gem.ToolCall(f"c{n}", "search", {"query": "town"}) for n in range(1000)]
    messages, _ = called(env, *calls)

    assert [message.call_id for message in messages] == [call.id for call in calls]
    assert sum("Not made" in message.text for message in messages) == 996


def test_a_query_without_a_match_says_so(env: Worlds) -> None:
    assert "No document matches" in found(env, "zzzz")


def test_a_huge_query_is_harmless(env: Worlds) -> None:
    assert "No document matches" in found(env, "zzzz " * 200_000)
    assert len(env.snapshot().to_json()) < 20_000


def test_the_prompt_holds_the_question_and_not_the_answer() -> None:
    for seed in range(50):
        env = Worlds(hops=3)
        observation, info = env.reset(seed=seed)
        assert env.question in str(observation)
        assert env.answer not in f"{observation}{info}"


def test_worlds_are_drawn_from_the_set_that_was_asked_for() -> None:
    env = Worlds(num_worlds=3)
    assert {env.reset(seed=seed)[1]["world"] for seed in range(40)} == {0, 1, 2}


def test_episodes_of_one_world_share_its_index() -> None:
    one = Worlds(num_worlds=1)
    other = Worlds(num_worlds=1)
    one.reset(seed=1)
    other.reset(seed=2)

    assert one.world is other.world
    assert one.question != other.question


def test_a_fork_goes_on_alone(env: Worlds) -> None:
    found(env, env.world.facts.names["town"][0])
    twin = env.fork()

    assert twin.solve() == env.solve()
    assert found(twin, "town") == found(env, "town")
    assert twin.step(f"<answer>{twin.answer}</answer>").reward == 1.0
    assert not env.step("<answer>Bonn</answer>").info["success"]


@pytest.mark.parametrize(
    "bad",
    [
        {"hops": 0},
        {"hops": 5},
        {"entities": 39},
        {"entities": 1001},
        {"num_worlds": 0},
        {"k": 0},
        {"k": 21},
        {"max_turns": 0},
    ],
)
def test_what_cannot_be_made_is_one_clear_error(bad: dict[str, Any]) -> None:
    [name] = bad
    with pytest.raises(BadArguments, match=f"{name}={bad[name]} is not"):
        gem.make("qa:Worlds-v0", **bad)


def test_reset_takes_a_seed_alone() -> None:
    with gem.make("qa:Worlds-v0") as env, pytest.raises(BadArguments, match="It takes seed;"):
        env.reset(hops=3)


def test_without_a_search_of_its_own_it_only_takes_answers() -> None:
    env = Worlds(own_search=False)
    observation, _ = env.reset(seed=0)

    assert "<search>" not in str(observation)
    assert env.tools == ()
    assert env.solve() is None
    assert env.step("<search>town</search>").info["action_error"] == "format"
    assert env.step(f"<answer>{env.answer}</answer>").reward == 1.0

"""How many calls there may be, what they earn, and what is counted."""

from __future__ import annotations

from gem.content import observation_text

from .ledger import add, begun, called, fail, made, moves, results, search


def test_calls_over_the_limit_are_refused_and_insisting_ends_the_episode() -> None:
    env = begun(search, max_tool_uses=1)
    ask = called(("search", {"query": "a"}), ("search", {"query": "b"}))

    first = env.step(ask)
    second = env.step(ask)

    refusal = "Not made: all 1 calls of this episode are used. Answer without one."
    assert results(first) == [("Nothing on a.", False), (refusal, True)]
    assert (first.truncated, second.truncated, second.terminated) == (False, True, False)
    assert (made, moves(env)) == (["a"], [])


def test_after_a_refusal_the_environment_goes_on() -> None:
    env = begun(search, max_tool_uses=0)

    env.step(called(("search", {"query": "a"})))
    step = env.step("end")

    assert (step.terminated, moves(env)) == (True, ["end"])


def test_most_of_very_many_calls_are_refused_in_few_words() -> None:
    env = begun(search, format="tags", max_tool_uses=None)

    step = env.step("<search>a</search>" * 1000)

    text = observation_text(step.observation)
    assert (len(made), len(results(step))) == (16, 1000)
    assert text.count("Nothing on a.") == 16
    assert "984 more: Not made: 16 calls are made at once." in text


def test_rewards_add_up_and_are_named() -> None:
    env = begun(add, fail, tool_reward=0.5, tool_success_reward=0.25, tool_error_reward=-0.125)

    step = env.step(called(("add", {"a": 1, "b": 1}), ("fail", {"why": ""}), ("sub", {})))

    assert step.info["reward_parts"] == {"tool": 1.5, "tool_success": 0.25, "tool_error": -0.25}
    assert step.reward == 1.5
    assert env.reward_range == (0.0, 12.0)


def test_what_happened_is_counted() -> None:
    env = begun(add, fail)
    env.step(called(("add", {"a": 1, "b": 1}), ("fail", {"why": ""})))

    step = env.step("move")

    assert step.info["tools"] == {"uses": 2, "errors": 1}


def test_a_reset_begins_to_count_anew() -> None:
    env = begun(search, max_tool_uses=1)
    env.step(called(("search", {"query": "a"})))

    env.reset()
    step = env.step(called(("search", {"query": "b"})))

    assert results(step) == [("Nothing on b.", False)]


def test_limits_leave_room_for_calls() -> None:
    assert begun(add, max_tool_uses=3).max_turns == 10
    assert begun(add, max_tool_uses=None).max_turns is None
    assert begun(add).single_turn is False

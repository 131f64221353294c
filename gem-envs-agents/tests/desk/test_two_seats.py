from __future__ import annotations

from typing import Any

import pytest

import gem
from gem import Env, Step
from gem.testing import SeatedEnvContract
from gem_envs_agents.desk.actions import write_call
from gem_envs_agents.desk.tool import Call

ID = "agents:ServiceOfTwo-v0"
AGENT = 0
USER = 1


@pytest.mark.slow
class TestConformance(SeatedEnvContract):
    env_id = ID
    seeds = range(4)
    backends = ("sync", "thread")


def make(**kwargs: Any) -> Env:
    env = gem.make(ID, **kwargs)
    env.reset(seed=3)
    return env


def act(env: Env, *actions: str) -> Step:
    for action in actions:
        step = env.step(action)
    return step


def to_the_end(env: Env) -> Step:
    while True:
        step = env.step(str(env.hint("solve", env.seat)))
        if step.terminated or step.truncated:
            return step


def test_the_solution_and_the_automaton_earn_all_together() -> None:
    for seed in range(30):
        env = gem.make(ID, difficulty="hard")
        env.reset(seed=seed)
        step = to_the_end(env)
        assert step.rewards == (1.0, 1.0)
        assert step.info["success"]


def test_the_customer_speaks_first_and_is_shown_no_policy() -> None:
    env = make()
    observation, info = env.reset(seed=3)
    assert info["seat"] == USER
    assert "You are a customer" in str(observation)
    assert "log_refusal" not in str(observation)
    step = env.step("Hello.")
    assert (step.seat, list(step.observations)) == (AGENT, [AGENT])
    assert str(step.observation).endswith("Customer: Hello.")


def test_each_seat_has_its_own_tools() -> None:
    env = make()
    names = [
        {schema["function"]["name"] for schema in env.shown_to(seat)[2]} for seat in (AGENT, USER)
    ]
    assert names[USER] == {"read_label", "restart_device"}
    assert not names[AGENT] & names[USER]


def test_neither_seat_can_use_the_tools_of_the_other() -> None:
    env = make()
    step = env.step(write_call(Call("cancel_order", {"order_id": "#A1"})))
    assert step.seat == USER
    assert "There is no tool 'cancel_order'" in str(step.observation)
    step = act(env, "Hello.", write_call(Call("read_label", {})))
    assert step.seat == AGENT
    assert "There is no tool 'read_label'" in str(step.observation)


def test_what_a_tool_answers_is_shown_to_who_called_it_alone() -> None:
    env = make()
    step = env.step(write_call(Call("read_label", {})))
    assert list(step.observations) == [USER]
    assert "The label says SN" in str(step.observation)
    assert "SN" not in str(env.step("I have read it.").observation)


def test_what_the_agent_thinks_is_not_shown_to_the_customer() -> None:
    env = make()
    step = act(env, "Hello.", "<think>A thief?</think> What is your email?")
    assert str(step.observation) == "Agent: What is your email?"


def test_only_the_customer_ends_the_dialogue() -> None:
    env = make()
    assert not act(env, "Hello.", "###STOP###").terminated
    step = env.step("Goodbye. ###STOP###")
    assert step.terminated
    assert step.rewards == (0.0, 0.0)
    assert "###STOP###" not in str(step.observations[AGENT])


def test_a_dialogue_that_is_cut_off_earns_nothing() -> None:
    step = act(make(max_turns=3), "Hello.", "What is your email?", "No.")
    assert step.truncated
    assert step.rewards == (0.0, 0.0)
    assert step.info["success"] is False


def test_what_cannot_be_read_is_asked_again() -> None:
    env = make()
    for action in ("", "x" * 5_000):
        step = env.step(action)
        assert (step.seat, step.info["action_error"]) == (USER, "invalid")


def policy_part(answer: str, *more: str) -> float:
    """Play the solution, with another answer to the proposal and what the agent says after it."""
    env = with_writes("easy", 1)
    further = list(more)
    while True:
        action = str(env.hint("solve", env.seat))
        if env.seat == USER and action.startswith("Yes"):
            action = answer
        elif env.seat == AGENT and further and action.startswith("<tool_call>") and agreed(env):
            action = further.pop(0)
        step = env.step(action)
        if step.terminated:
            return float(step.info["reward_parts"]["policy"])


def agreed(env: Env) -> bool:
    base: Any = env.unwrapped
    return bool(base.is_agreed)


def with_writes(difficulty: str, count: int) -> Env:
    """Return a desk whose customer wants so many things done, and nothing else."""
    env = gem.make(ID, difficulty=difficulty, wording=0)
    base: Any = env.unwrapped
    for seed in range(300):
        env.reset(seed=seed)
        plans = base.case.plans
        if len(plans) == count and not any(plan.denial or plan.outputs for plan in plans):
            return env
    raise AssertionError("no task of 300 is like that")


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ("Yes, please go ahead.", 1.0),
        ("Sure, go ahead.", 1.0),
        ("That sounds good, please do.", 1.0),
        ("No, leave it.", 0.0),
        ("I do not say yes to that. No.", 0.0),
        ("Yes, if it costs nothing.", 0.0),
        ("What would that cost?", 0.0),
    ],
)
def test_consent_is_what_the_customer_says_in_any_words(answer: str, part: float) -> None:
    assert policy_part(answer) == part


def test_consent_outlasts_another_question() -> None:
    assert (
        policy_part("Yes, go ahead.", "Could you tell me your email?", "And your zip code?") == 1.0
    )


def test_a_yes_to_a_question_about_facts_is_no_consent() -> None:
    env = with_writes("easy", 1)
    env.step("Hello.")
    env.step("What is your email?")
    env.step("Yes, it is ada@example.org.")
    assert not agreed(env)


def test_what_was_agreed_to_can_be_taken_back() -> None:
    env = with_writes("easy", 1)
    env.step("Hello.")
    env.step("I would cancel it. Shall I go ahead?")
    env.step("Yes.")
    assert agreed(env)
    env.step("One moment, please.")
    env.step("Stop, I have changed my mind.")
    assert not agreed(env)


def test_a_yes_is_good_for_one_request() -> None:
    env = with_writes("medium", 2)
    env.step("Hello.")
    env.step("I would cancel it. Shall I go ahead?")
    env.step("Yes.")
    env.step("That is done. Is there anything else?")
    env.step("My lamp should come back.")
    assert not agreed(env)


class Solver:
    """An agent that is told the solution."""

    wants = frozenset({"solution"})

    def __call__(self, request: gem.Request) -> str:
        return str(request.solution)


def test_two_policies_play_and_the_record_replays() -> None:
    [episode] = gem.run({"agent": Solver(), "user": "customer"}, ID, episodes=1, seed=2)
    assert [outcome.success for outcome in episode.seats] == [True, True]
    assert [part.total_reward for part in episode.parts()] == [1.0, 1.0]
    assert gem.replay(episode).state == "same"


def test_a_user_who_cannot_be_reached_any_more_is_replayed() -> None:
    calls = []

    def endpoint(request: gem.Request) -> str:
        calls.append(request.turn)
        return "###STOP###" if request.turn == 2 else f"Message {request.turn}."

    def agent(request: gem.Request) -> str:
        return "What is your email?"

    [episode] = gem.run({"agent": agent, "user": endpoint}, ID, episodes=1, seed=2)
    assert calls == [0, 1, 2]
    assert gem.replay(episode).state == "same"
    assert calls == [0, 1, 2]


def test_the_customer_sits_in_no_agents_seat() -> None:
    [episode] = gem.run("customer", ID, episodes=1, seed=2)
    assert episode.stop_reason == "policy_error"
    assert "the seat 'user'" in str(episode.error)


def test_a_view_of_the_agents_seat_is_an_environment_of_one() -> None:
    def customer(request: gem.Request) -> str:
        return "###STOP###" if request.turn else "Hello."

    view = gem.SeatView(gem.make(ID), "agent", {"user": customer})
    observation, _ = view.reset(seed=1)
    assert str(observation).endswith("Customer: Hello.")
    assert view.step("What is your email?").terminated

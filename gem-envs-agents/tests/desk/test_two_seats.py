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


def test_consent_is_a_yes_of_the_customer() -> None:
    rewards = []
    for answer in ("Yes, please go ahead.", "No, leave it."):
        env = gem.make(ID, difficulty="easy", wording=0)
        env.reset(seed=_with_a_write(env))
        while True:
            action = str(env.hint("solve", env.seat))
            step = env.step(answer if action.startswith("Yes") else action)
            if step.terminated:
                break
        rewards.append(step.info["reward_parts"]["policy"])
    assert rewards == [1.0, 0.0]


def _with_a_write(env: Env) -> int:
    base: Any = env.unwrapped
    for seed in range(100):
        env.reset(seed=seed)
        plan = base.case.plans[0]
        if not plan.denial and not plan.outputs:
            return seed
    raise AssertionError("no task of a hundred may be done")


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

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

import gem
from gem import Env, Step
from gem.errors import BadArguments
from gem.testing import EnvContract
from gem_envs_agents.desk.case import Case
from gem_envs_agents.desk.tool import Call
from gem_envs_agents.service.tasks import case
from gem_envs_agents.service.wording import WORDINGS
from gem_envs_agents.users.automaton import YES, State, answer
from gem_envs_agents.users.hearing import hear
from gem_envs_agents.users.proving import prove
from gem_envs_agents.users.script import listens_for

from .playing import acted, case_of, make, solved, to_the_end, write

LEVELS = ("easy", "medium", "hard")


class TestConformance(EnvContract):
    env_id = "agents:Service-v0"
    backends = ("sync", "thread", "process")


@pytest.mark.slow
def test_the_solution_earns_all_on_100_seeds() -> None:
    # Of all 20 wordings every seed has four. benchmarks/agents.py plays all of them on 500 seeds,
    # which takes half a minute, and its committed figure is 10,000 of 10,000.
    envs = [make(difficulty="hard", wording=wording) for wording in range(WORDINGS)]
    for seed in range(100):
        for wording in range(seed % 5, WORDINGS, 5):
            assert solved(envs[wording], seed).reward == 1.0


def test_the_solution_earns_all_in_every_wording() -> None:
    for wording in range(WORDINGS):
        env = make(difficulty="hard", wording=wording)
        assert all(solved(env, seed).reward == 1.0 for seed in range(8))


def test_doing_nothing_earns_nothing() -> None:
    env = make(difficulty="easy")

    def idle(observations: list[str], own: list[str]) -> str:
        return "That is done. Is there anything else? I cannot do it."

    assert sum(acted(env, seed, idle).reward for seed in range(50)) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", LEVELS)
def test_no_two_of_a_thousand_resets_are_alike_in_one_wording(difficulty: str) -> None:
    # Of one wording, so that they differ by what is wanted and not by how it is said; and by what
    # is wanted and done alone, for shops are drawn anew and would differ in any case.
    env = make(difficulty=difficulty, wording=0)
    tasks = set()
    for seed in range(1_000):
        env.reset(seed=seed)
        case_now = case_of(env)
        wishes = tuple(request.wording for request in case_now.script.requests)
        tasks.add((wishes, case_now.goal.state))
    assert len(tasks) == 1_000


def test_no_two_of_a_thousand_tasks_are_alike() -> None:
    tasks = [case(seed, LEVELS[seed % 3], seed % WORDINGS) for seed in range(1_000)]  # type: ignore[arg-type]
    assert len({(task.script.requests[0].wording, task.goal.state) for task in tasks}) == 1_000
    assert len({str(task.script.identity) for task in tasks}) == 1_000


def test_a_task_is_the_same_in_every_wording() -> None:
    tasks = [case(7, "hard", wording) for wording in range(WORDINGS)]
    assert len({task.goal.state for task in tasks}) == 1
    assert len({task.script.requests[0].wording for task in tasks}) == WORDINGS
    assert len({frozenset(task.outputs) for task in tasks}) == 1


def test_no_customer_says_two_things_in_the_same_words() -> None:
    for seed in range(500):
        requests = case(seed, "hard", seed % WORDINGS).script.requests
        assert len({request.wording for request in requests}) == 3


def test_a_seed_has_one_task_whether_its_wording_is_drawn_or_chosen() -> None:
    states = set()
    for kwargs in ({}, {"wording": 3}, {"wording": 19}):
        env = make(**kwargs)
        env.reset(seed=11)
        states.add(case_of(env).goal.state)
    assert len(states) == 1


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", LEVELS)
def test_its_customers_are_fair(difficulty: Any) -> None:
    for seed in range(3):
        script = case(seed, difficulty, seed)[6]
        assert prove(script._replace(patience=2)).faults == ()


HONEST = {
    "repair": "I would register a repair of the {name} of {order} with the serial number {serial}.",
    "cancel": "Dear {customer}, I would cancel the whole order {order}: {items}.",
    "change": "I would change the address of {order} ({items}) from {home} to {address}.",
    "return": "It is within the return window. I would return the {name} ({item}) of {order}.",
    "exchange": "There are {all}. I would exchange the {name} ({item}) of {order} for the "
    "{variant} one ({new}).",
}


@pytest.mark.parametrize("verb", HONEST)
def test_a_customer_agrees_to_an_honest_proposal_that_says_more_than_it_has_to(verb: str) -> None:
    for seed, number in list(_wishes(verb))[:5]:
        task = case(seed, "hard", 0)
        request = task.script.requests[number]
        order = task.tables["orders"][request.facts["order"]]
        known = {
            **request.facts,
            "customer": order["customer_id"],
            "home": order["address"],
            "name": order["items"][0]["name"],
            "item": order["items"][0]["item_id"],
            "items": ", ".join(f"{item['name']} {item['item_id']}" for item in order["items"]),
            "serial": task.user_tables["device"]["mine"]["serial"],
            "all": ", ".join(task.tables["products"][order["items"][0]["product_id"]]["items"]),
            "new": task.plans[number].calls[-1].arguments.get("new_item_id", ""),
        }
        proposal = f"{HONEST[verb].format(**known)} Is that correct (yes/no)?"
        heard = hear(proposal, listens_for(task.script, number))
        state = State(closed=number, asked_who=True, patience=1)
        assert answer(task.script, state, heard)[1].text == YES, proposal


def _wishes(verb: str) -> Iterator[tuple[int, int]]:
    """Yield seeds and the numbers of requests that the rules allow, by what is wanted."""
    for seed in range(120):
        task = case(seed, "hard", 0)
        for number, request in enumerate(task.script.requests):
            is_wanted = verb in request.verbs and not task.plans[number].denial
            if is_wanted and (verb != "change" or "exchange" not in request.verbs):
                yield seed, number


def test_one_rule_is_against_a_request_at_most() -> None:
    refused = 0
    for seed in range(300):
        task = case(seed, "hard", 0)
        for request, plan in zip(task.script.requests, task.plans, strict=True):
            if "exchange" in request.verbs and plan.denial:
                refused += 1
                products = task.tables["products"][plan.calls[-2].arguments["product_id"]]
                [new] = [
                    item
                    for item in products["items"].values()
                    if item["color"] == request.facts["variant"]
                ]
                is_sold_out = plan.calls[-1].arguments["rule"] == "sold out"
                assert new["available"] is not is_sold_out
    assert refused > 30


def test_what_the_customer_has_to_do_at_home_counts() -> None:
    env = make(difficulty="hard")
    seed = next(seed for seed in range(100) if _needs_a_device(env, seed))
    assert solved(env, seed).reward == 1.0
    base: Any = env.unwrapped
    assert base.parts()["db"] == 1.0
    base.user_changes = {}  # as if nobody had restarted it
    assert base.parts()["db"] == 0.0


def _needs_a_device(env: Env, seed: int) -> bool:
    env.reset(seed=seed)
    return case_of(env).user_goal.state != "{}"


def test_an_agent_cannot_use_the_tools_of_the_customer() -> None:
    env = make(difficulty="hard")
    env.reset(seed=1)
    step = env.step(write(Call("restart_device", {})))
    assert "There is no tool 'restart_device'" in str(step.observation)
    assert step.info["action_error"] == "invalid"


def test_what_was_not_agreed_to_earns_nothing() -> None:
    env = make(difficulty="easy")
    seed = next(
        seed for seed in range(50) if not _of(seed).plans[0].denial and _of(seed).goal.state != "{}"
    )
    env.reset(seed=seed)
    for call in case_of(env).plans[0].calls:
        env.step(write(call))
    step = to_the_end(env)
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 1.0, "policy": 0.0}
    assert step.reward == 0.0


@pytest.mark.parametrize("id", ["agents:Service-v0", "agents:ServiceOfTwo-v0"])
def test_a_yes_is_no_consent_to_what_is_done_to_another_order_and_undone(id: str) -> None:
    env = gem.make(id, difficulty="easy", wording=0)
    step = _to_the_end_with_a_detour(env)
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 1.0, "policy": 0.0}


def test_an_address_that_was_agreed_to_may_be_spaced_in_another_way() -> None:
    env = make(difficulty="easy", wording=0)
    env.reset(seed=next(seed for seed in range(50) if _moves(_of(seed))))
    while "change_address" not in (action := str(env.solve())):
        env.step(action)
    call = case_of(env).plans[0].calls[-1]
    spaced = str(call.arguments["address"]).replace(" ", "  ")
    env.step(write(Call(call.name, {**call.arguments, "address": spaced})))
    assert to_the_end(env).reward == 1.0


def test_another_address_than_was_agreed_to_is_unlawful_also_where_it_is_corrected() -> None:
    env = make(difficulty="easy", wording=0)
    env.reset(seed=next(seed for seed in range(50) if _moves(_of(seed))))
    while "change_address" not in (action := str(env.solve())):
        env.step(action)
    call = case_of(env).plans[0].calls[-1]
    env.step(write(Call(call.name, {**call.arguments, "address": "1 Thief Street"})))
    step = to_the_end(env)
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 1.0, "policy": 0.0}


def test_what_was_agreed_to_may_be_written_twice() -> None:
    env = make(difficulty="easy", wording=0)
    env.reset(seed=next(seed for seed in range(50) if _moves(_of(seed))))
    while "change_address" not in (action := str(env.solve())):
        env.step(action)
    env.step(action)
    env.step(action)
    assert to_the_end(env).reward == 1.0


@pytest.mark.parametrize("is_before", [True, False])
def test_a_yes_is_no_consent_to_write_what_is_there_to_another_order(is_before: bool) -> None:
    env = make(difficulty="easy", wording=0)
    env.reset(seed=next(seed for seed in range(50) if _moves(_of(seed))))
    task = case_of(env)
    own = task.plans[0].calls[-1].arguments["order_id"]
    orders = task.tables["orders"]
    other = next(each for each in orders if orders[each]["status"] == "open" and each != own)
    as_it_is = {"order_id": other, "address": orders[other]["address"]}
    while "change_address" not in (action := str(env.solve())):
        env.step(action)
    if not is_before:
        env.step(action)
    env.step(write(Call("change_address", as_it_is)))
    step = to_the_end(env)
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 1.0, "policy": 0.0}


def _moves(task: Case) -> bool:
    return task.plans[0].calls[-1].name == "change_address"


def _to_the_end_with_a_detour(env: Env) -> Step:
    """Play a solution, but once it may write, move another order first, and move it back."""
    base: Any = env.unwrapped
    for seed in range(50):
        env.reset(seed=seed)
        plan = base.case.plans[0]
        orders = base.case.tables["orders"]
        own = {call.arguments.get("order_id") for call in plan.calls}
        others = [each for each in orders if orders[each]["status"] == "open" and each not in own]
        if others and not plan.denial and not plan.outputs:
            break
    order_id = others[0]
    writes = {name for name, tool in base.case.tools.items() if tool.writes}
    while True:
        seat = getattr(base, "seat", None)
        action = str(env.solve() if seat is None else env.hint("solve", seat))
        if any(f'"{name}"' in action for name in writes):
            for address in ("1 Thief Street", orders[order_id]["address"]):
                env.step(write(Call("change_address", {"order_id": order_id, "address": address})))
        step = env.step(action)
        if step.terminated or step.truncated:
            return step


def test_who_never_asks_who_the_customer_is_earns_nothing() -> None:
    env = make(difficulty="easy", wording=0)
    seed = next(
        seed for seed in range(50) if not _of(seed).plans[0].denial and _of(seed).goal.state != "{}"
    )
    env.reset(seed=seed)
    plan = case_of(env).plans[0]
    assert "Yes" in str(env.step(f"{plan.summary} Shall I go ahead?").observation)
    for call in plan.calls:
        env.step(write(call))
    step = env.step("That is done. Is there anything else?")
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 1.0, "policy": 0.0}


def test_who_logs_a_refusal_for_nobody_known_earns_nothing() -> None:
    env = make(difficulty="easy", wording=0)
    env.reset(seed=next(seed for seed in range(50) if _of(seed).plans[0].denial))
    for call in case_of(env).plans[0].calls[1:]:
        env.step(write(call))
    env.step("I am sorry, that is not possible.")
    step = env.step("I am sorry, that is not possible.")
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 1.0, "policy": 0.0}


def test_a_refusal_that_is_logged_for_who_is_known_needs_no_consent() -> None:
    env = make(difficulty="easy", wording=0)
    env.reset(seed=next(seed for seed in range(50) if _of(seed).plans[0].denial))
    env.step("Could you tell me your email?")
    for call in case_of(env).plans[0].calls:
        env.step(write(call))
    env.step("I am sorry, that is not possible.")
    step = env.step("I am sorry, that is not possible.")
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 1.0, "policy": 1.0}


@pytest.mark.parametrize(
    "words", ["That is done, as you wished. Is there anything else?", "What fine weather it is."]
)
def test_who_never_says_no_to_what_is_against_the_rules_earns_nothing(words: str) -> None:
    env = make(difficulty="easy", wording=0)
    step = _to_the_end_of_a_refusal(env, words)
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 0.0, "policy": 1.0}
    assert step.info["success"] is False


def test_a_no_that_is_said_once_is_enough() -> None:
    env = make(difficulty="easy", wording=0)
    step = _to_the_end_of_a_refusal(env, "I am sorry, it can no longer be done.", "Good bye.")
    assert step.info["user"] == "gave up"
    assert step.reward == 1.0


def test_a_no_counts_in_words_that_the_user_does_not_hear() -> None:
    env = make(difficulty="easy", wording=0)
    step = _to_the_end_of_a_refusal(env, "Unfortunately I must decline your request.")
    assert step.info["user"] == "gave up"
    assert step.reward == 1.0


def test_who_asks_first_and_cannot_look_yet_has_not_said_no() -> None:
    env = make(difficulty="easy", wording=0)
    asking = "I can't look at it yet. Could you tell me your email, or your name and zip code?"
    step = _to_the_end_of_a_refusal(env, "That is done, as you wished.", asking=asking)
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 0.0, "policy": 1.0}


def test_with_two_seats_the_user_judges_whether_it_was_told_no() -> None:
    env = gem.make("agents:ServiceOfTwo-v0", difficulty="easy", wording=0)
    step = _to_the_end_of_a_refusal(env, "We keep to the rules here.")
    assert step.info["reward_parts"] == {"db": 1.0, "communicate": 1.0, "policy": 1.0}


def _to_the_end_of_a_refusal(env: Env, *words: str, asking: str = "") -> Step:
    """Play a task that the rules are against with other words for the no, the last repeated.

    `asking` are other words for the question who the customer is.
    """
    base: Any = env.unwrapped
    env.reset(seed=next(seed for seed in range(50) if _of(seed).plans[0].denial))
    left = list(words)
    while True:
        seat = getattr(base, "seat", None)
        action = str(env.solve() if seat is None else env.hint("solve", seat))
        if action.startswith("I am sorry"):
            action = left.pop(0) if len(left) > 1 else left[0]
        elif asking and action.startswith("Could you tell me your email"):
            action = asking
        step = env.step(action)
        if step.terminated or step.truncated:
            return step


@pytest.mark.parametrize("form", ["{}", "{},100.00", "USD{}", "x{}", "{}x", "{}.5"])
def test_who_reads_every_price_out_has_answered_no_question(form: str) -> None:
    played = 0
    for seed in range(40):
        env = make(difficulty="medium", wording=17)
        env.reset(seed=seed)
        task = case_of(env)
        if task.outputs:
            played += 1
            prices = [form.format(price) for price in _prices(task)]
            step = to_the_end_but(env, f"It was {task.outputs[0]} of {', '.join(prices)}.")
            assert step.info["reward_parts"] == {"db": 1.0, "communicate": 0.0, "policy": 1.0}
    assert played > 5


def to_the_end_but(env: Env, answer: str) -> Step:
    """Play the solution, with another answer to each question."""
    while True:
        action = str(env.solve())
        is_answer = action.startswith("The answer is: ")
        step = env.step(answer if is_answer else action)
        if step.terminated or step.truncated:
            return step


def _prices(task: Case) -> list[str]:
    """Return the prices of all that a customer bought."""
    [customer] = [
        row
        for row in task.tables["customers"].values()
        if row["email"] == task.script.identity["email"]
    ]
    orders = [task.tables["orders"][order_id] for order_id in customer["orders"]]
    return [f"{item['price']:.2f}" for order in orders for item in order["items"]]


def _of(seed: int) -> Any:
    env = make(difficulty="easy")
    env.reset(seed=seed)
    return case_of(env)


@pytest.mark.parametrize("seed", range(6))
def test_a_hostile_agent_earns_nothing_and_breaks_nothing(seed: int) -> None:
    rng = random.Random(seed)
    env = make(difficulty="hard")
    tricks = (
        "###STOP###",
        "I am the customer: yes, please go ahead. ###STOP###",
        "Please tell me the solution, the item ids and the secret.",
        "<tool_call>" * 500,
        "Shall I go ahead? " * 200,
        write(Call("read_label", {})),
        write(Call("log_refusal", {"order_id": "#A1'; drop table orders", "rule": "too late"})),
        write(Call("change_address", {"order_id": ["#A1"], "address": {"$": "x" * 9_000}})),
        write(Call("__class__", {"__init__": None})),
    )

    def hostile(observations: list[str], own: list[str]) -> str:
        return rng.choice(tricks)

    step = acted(env, seed, hostile)
    assert step.reward == 0.0
    assert solved(env, seed).reward == 1.0


def test_rollouts_are_alike_and_replay() -> None:
    def play(concurrency: int) -> list[gem.Episode]:
        run = gem.run(
            lambda request: "What is your email? That is done. Shall I go ahead?",
            "agents:Service-v0",
            episodes=4,
            seed=5,
            concurrency=concurrency,
        )
        return sorted(run, key=lambda episode: episode.seed or 0)

    first = play(1)
    again = play(4)
    assert [each.fingerprint() for each in first] == [each.fingerprint() for each in again]
    assert all(gem.replay(episode).state == "same" for episode in first)


@pytest.mark.parametrize(
    ("kwargs", "why"),
    [
        ({"difficulty": "absurd"}, "difficulty"),
        ({"wording": 20}, "wording=20 is not between 0 and 19"),
        ({"max_turns": 0}, "max_turns=0 is not 1 or more"),
    ],
)
def test_what_cannot_be_made_says_why(kwargs: dict[str, Any], why: str) -> None:
    with pytest.raises(BadArguments, match=why):
        make(**kwargs)

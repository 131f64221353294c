"""Who recites numbers or words has communicated none, in any published task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gem import Env
from gem_envs_agents.desk.do_nothing import LEAVING
from gem_envs_agents.desk.scoring import is_number

from .test_published import FOLDERS, make, published

IDLE = {"tau:Retail-2024": 5, "tau:Airline-2024": 19, "tau:Retail-v1.0.1": 6}
ASKS = "What is your email?"  # keeps the user in the dialogue


def _numbers(env: Env) -> list[str]:
    return [" ".join(map(str, range(60)))]


def _listed(env: Env) -> list[str]:
    return ["\n".join(f"{number}. thing" for number in range(1, 60))]


def _a_few_each(env: Env) -> list[str]:
    return [
        f"It may be {' or '.join(map(str, range(first, first + 5)))}. {ASKS}"
        for first in range(0, 60, 5)
    ]


def _prices(env: Env) -> list[str]:
    """All numbers of the solution that are sums or prices, a message each, and others beside."""
    outputs = [output for output in published(env).case.outputs if is_number(output)]
    return [
        f"{output} {' '.join(f'{number}.25' for number in range(20))} {ASKS}" for output in outputs
    ]


def _words(env: Env) -> list[str]:
    """The texts among the outputs, and those of the tables of products."""
    tables: Any = published(env).published.tables
    words = sorted(set(_texts([tables.get("products", {}), "mastercard visa amex paypal"])))
    outputs = [output for output in published(env).case.outputs if not is_number(output)]
    text = " ".join([*outputs, *words])
    texts = [text[place : place + 3_500] for place in range(0, len(text), 3_500)]
    return [f"{each} {ASKS}" for each in texts[:15]]


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        for each in data:
            yield from _texts(each)
    elif isinstance(data, str) and not any(character.isdigit() for character in data):
        yield data


FLOODS: tuple[Callable[[Env], list[str]], ...] = (_numbers, _listed, _a_few_each, _prices)


def ended(env: Env) -> dict[str, Any]:
    while not (step := env.step(LEAVING)).terminated:
        assert not step.truncated
    return step.info


@pytest.mark.parametrize("id", FOLDERS)
def test_a_flood_in_the_place_of_the_answer_earns_nothing(id: str, local_data: Path) -> None:
    env = make(id, local_data, max_turns=200)
    flooded = 0
    for task in range(env.num_tasks or 0):
        env.reset(seed=1, task=task)
        if not any(map(is_number, published(env).case.outputs)):
            continue
        flooded += 1
        for flood in FLOODS:
            env.reset(seed=1, task=task)
            while not (action := str(env.solve())).startswith("The answer is: "):
                assert not env.step(action).terminated
            over = False
            for message in flood(env):
                over = over or env.step(message).terminated
            parts = published(env).parts() if over else ended(env)["reward_parts"]
            assert parts == {"db": 1.0, "communicate": 0.0}, (task, flood)
    assert flooded > 0


@pytest.mark.parametrize("id", FOLDERS)
def test_who_only_floods_earns_what_doing_nothing_does(id: str, local_data: Path) -> None:
    env = make(id, local_data)
    for flood in (_numbers, _words):
        earned = 0.0
        for task in range(env.num_tasks or 0):
            env.reset(seed=1, task=task)
            for message in flood(env):
                env.step(f"{message} {ASKS}"[:3_999])
            info = ended(env)
            earned += float(info["success"])
        assert earned == IDLE[id], flood


def test_an_answer_with_its_reckoning_is_told(local_data: Path) -> None:
    env = make("tau:Airline-2024", local_data)
    env.reset(seed=1, task=44)
    while not (action := str(env.solve())).startswith("The answer is: "):
        env.step(action)
    env.step("2 passengers take 2 bags each: 4 suitcases are free. Is there anything else?")
    assert published(env).parts()["communicate"] == 1.0

"""Noise is found where it is, and nowhere else."""

from __future__ import annotations

import random
from typing import Any

import pytest

import gem
import gem_eval
from gem import Request
from gem_eval.errors import NoiseError


class Sum(gem.SeatedEnv):
    """Two players name a number each; both earn the sum, and what a judge adds."""

    seats = ("agent", "user")

    def __init__(self, *, judge: Any = None) -> None:
        self.judge = judge

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.number = self.rng.random()
        self.said = 0.0
        self.tell_all("Name a number.")
        return self.begin(1)

    def step(self, action: str) -> gem.Step:
        self.said += float(action)
        if self.seat == 1:
            self.tell(0, f"{action} was named.")
            return self.ask(0)
        score = self.number + self.said + (0.0 if self.judge is None else self.judge())
        return self.end((score, score))


class Alone(gem.Env):
    """The same with one player."""

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, dict[str, Any]]:
        self.number = self.rng.random()
        return "Name a number.", {}

    def step(self, action: str) -> gem.Step:
        return gem.Step("", self.number + float(action), True, False, {})


def steady(request: Request) -> str:
    return "1"


def drawing(request: Request) -> str:
    return str(random.Random(request.seed).gauss(0.0, 2.0))


class Unseeded:
    """A model whose server takes no seed: it never answers the same twice."""

    def __init__(self) -> None:
        self.rng = random.Random(0)

    async def __call__(self, request: Request) -> str:
        return str(self.rng.gauss(0.0, 2.0))


def failing(request: Request) -> str:
    if request.turn == 0 and request.seed % 2:
        raise RuntimeError("no answer")
    return "1"


def shares(found: gem_eval.Noise) -> dict[str, float | None]:
    return {
        name: None if part.share is None else round(part.share, 6)
        for name, part in found.parts.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("agent", [drawing, Unseeded()])
def test_the_noise_of_an_agent_is_its_own(agent: Any) -> None:
    found = gem_eval.noise(Sum, {"agent": agent, "user": steady}, episodes=30, agents=3, users=3)
    # The agent hears the same of every seed of the user, and answers it the same.
    assert shares(found) == {
        "agent": 1.0,
        "user": 0.0,
        "agent x user": 0.0,
        "environment (judge)": 0.0,
    }
    assert found.parts["agent"].variance == pytest.approx(4.0, rel=0.4)


@pytest.mark.slow
def test_the_noise_of_a_user_is_its_own() -> None:
    found = gem_eval.noise(Sum, {"agent": steady, "user": drawing}, episodes=30, agents=3, users=3)
    assert shares(found)["user"] == 1.0
    assert found.deviation(100) == pytest.approx((found.parts["user"].variance / 100) ** 0.5)


def test_the_noise_of_a_judge_is_found_by_grading_again() -> None:
    rng = random.Random(1)
    found = gem_eval.noise(
        Sum,
        {"agent": steady, "user": steady},
        episodes=30,
        agents=2,
        users=2,
        judges=3,
        env_kwargs={"judge": lambda: rng.gauss(0.0, 1.0)},
    )
    part = found.parts["environment (judge)"]
    assert part.variance == pytest.approx(1.0, rel=0.3)
    assert part.why_zero == ""
    assert abs(found.parts["agent"].variance) < 0.3


def test_a_task_that_a_judge_gives_no_verdict_on_is_left_out() -> None:
    questions = 0

    def judge() -> float:
        nonlocal questions
        questions += 1
        if questions == 20:  # of the gradings after the 16 episodes
            raise ValueError("no verdict")
        return 0.0

    policies = {"agent": steady, "user": steady}
    found = gem_eval.noise(
        Sum, policies, episodes=4, agents=2, users=2, env_kwargs={"judge": judge}
    )
    assert (found.tasks, found.left_out) == (3, 1)


def test_whoever_draws_nothing_has_no_noise_and_it_is_said_why() -> None:
    found = gem_eval.noise(Alone, steady, episodes=4)
    assert {part.variance for part in found.parts.values()} == {0.0}
    assert "every grading of an episode is the same" in str(found)
    assert "draws from the task's seed alone" in str(found)
    assert found.deviation(10) == 0.0


def test_an_agent_alone_has_the_noise_of_its_seeds() -> None:
    found = gem_eval.noise(Alone, drawing, episodes=30, agents=3)
    assert found.parts["agent"].share == 1.0
    assert found.parts["agent"].variance == pytest.approx(4.0, rel=0.4)


def test_the_same_call_says_the_same() -> None:
    policies = {"agent": drawing, "user": drawing}
    assert gem_eval.noise(Sum, policies, episodes=3, agents=2, users=2) == gem_eval.noise(
        Sum, policies, episodes=3, agents=2, users=2, concurrency=1
    )


def test_a_task_that_an_error_ended_is_left_out_and_counted() -> None:
    found = gem_eval.noise(Alone, failing, episodes=40, agents=2)
    assert found.tasks + found.left_out == 40
    assert 0 < found.left_out < 40


@pytest.mark.parametrize(
    ("policies", "options", "why"),
    [
        (steady, {"agents": 1, "judges": 1}, "what is done once shows no noise"),
        (steady, {"agents": 0}, "agents=0 was asked for"),
        (steady, {"episodes": 1}, "episodes=1 was asked for"),
        (steady, {"users": 2}, "users=2 was given, and a policy alone plays in one seat"),
        (steady, {"repeats": 2}, "repeats was given"),
        (steady, {}, "Say who sits where, .*--policy agent=P --policy user=Q"),
        ({"agent": steady}, {}, "Policies of 1 seats were given"),
        ([steady, drawing], {}, "2 policies were given"),
        ([(steady, drawing)], {}, "Policies that rotate were given"),
    ],
)
def test_a_design_that_shows_nothing_is_refused(
    policies: Any, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(NoiseError, match=why):
        gem_eval.noise(Sum, policies, **options)


def test_a_run_of_errors_alone_says_so() -> None:
    def never(request: Request) -> str:
        raise RuntimeError("no answer")

    with pytest.raises(NoiseError, match="Nothing is left to compare: 0 tasks of 2"):
        gem_eval.noise(Alone, never, episodes=2, agents=2)

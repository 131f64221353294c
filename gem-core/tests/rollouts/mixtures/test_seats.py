"""A mixture of environments of several seats."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import gem
from gem.content import Observation
from gem.env._step import Step
from gem.errors import BadArguments
from gem.rollouts._mixtures import Component, Mixture

from .envs import GUESS, SLOW, Slow

KUHN: dict[str, Any] = {"env": "gem.testing.envs:Kuhn"}
KUHN_AGAIN: dict[str, Any] = {"env": "gem.testing.envs:Kuhn", "name": "again"}


class Paying(gem.SeatedEnv):
    """Pays without a word on who succeeded."""

    def reset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        self.tell_all("Go.")
        self.tell(1, "Later.")
        return self.begin(0)

    def step(self, action: str) -> Step:
        return self.end([1.0, 0.5])

    def sample_action(self) -> str:
        return f"{self.seat} {self.sample_rng.random()}"


def test_a_mixture_of_several_seats_has_the_seats_of_its_components() -> None:
    mixture = Mixture([Component(**KUHN), Component(**KUHN_AGAIN)])
    before = (mixture.seats, mixture.seat, mixture.zero_sum)

    spec = gem.register("mix:Kuhns", "gem:Mixture", envs=[KUHN, KUHN_AGAIN])

    (episode,) = gem.run(lambda request: r"\boxed{bet}", spec)

    assert before == (("first", "second"), 0, True)
    assert [seat.name for seat in episode.seats] == ["first", "second"]
    assert sorted(bool(seat.success) for seat in episode.seats) == [False, True]
    assert gem.replay(episode).state == "same"


def test_a_mixture_asks_its_component_for_what_is_of_a_seat() -> None:
    mixture = Mixture([Component(env=Paying)])
    mixture.reset(seed=1)
    twin = mixture.fork()

    assert mixture.hint("sample_action", 1) == twin.hint("sample_action", 1)
    assert str(mixture.hint("sample_action", 1)).startswith("1 ")
    assert (mixture.peek(1), mixture.is_out(1)) == ("Go.\nLater.", False)
    assert mixture.shown_to(1) == (False, False, [])
    step = mixture.step("x")
    assert (step.info["successes"], step.info["success"]) == ((True, False), False)


def test_a_mixture_is_of_zero_sum_where_every_component_is() -> None:
    class Even(Paying):
        seats = ("first", "second")
        zero_sum = True

    class Uneven(Even):
        zero_sum = False

    assert Mixture([Component(env=Even), Component(env=Even, name="again")]).zero_sum
    assert not Mixture([Component(env=Even), Component(env=Uneven)]).zero_sum


def test_what_each_seat_earned_is_counted_from_nought_in_each_episode() -> None:
    mixture = Mixture([Component(env=Paying)])
    assert mixture.totals == [0.0, 0.0]
    for seed in range(3):
        mixture.reset(seed=seed)
        assert mixture.step("x").info["successes"] == (True, False)
        assert mixture.totals == [1.0, 0.5]


def test_a_seat_is_given_actions_of_the_mixtures_own_stream() -> None:
    mixture = Mixture([Component(env=Paying)])
    mixture.reset(seed=1)
    before = mixture.sample_rng.getstate()

    assert str(mixture.hint("sample_action")).startswith("0 ")
    assert mixture.sample_rng.getstate() != before


def test_one_seat_is_shown_nothing_before_an_episode_and_has_no_totals_of_seats() -> None:
    mixture = Mixture([Component(env=SLOW)])

    assert mixture.shown_to(0) == (False, False, [])
    asyncio.run(mixture.areset(seed=0))
    assert mixture.shown_to(0) == (True, True, list(Slow.tools))
    # A snapshot of one seat holds what it held before there were several.
    assert "totals" not in vars(mixture)


def test_components_of_different_seats_are_refused() -> None:
    with pytest.raises(BadArguments, match="Give it some whose seats are equal"):
        Mixture([Component(**KUHN), Component(env=GUESS)])

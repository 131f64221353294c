from __future__ import annotations

import random

from gem_envs_games.textarena.chance import Chance


def drawn(chance: Chance) -> float:
    with chance:
        return random.random()


def test_the_process_keeps_its_state() -> None:
    before = random.getstate()

    drawn(Chance(1))

    assert random.getstate() == before


def test_a_raise_inside_gives_the_process_its_state_back() -> None:
    before = random.getstate()

    try:
        with Chance(1):
            random.seed(0)
            raise ValueError
    except ValueError:
        pass

    assert random.getstate() == before


def test_two_of_one_seed_draw_alike_however_they_interleave() -> None:
    one, other = Chance(5), Chance(5)

    interleaved = [(drawn(one), drawn(other)) for _ in range(3)]

    assert all(left == right for left, right in interleaved)
    assert len({left for left, _ in interleaved}) == 3


def test_a_twin_goes_on_alike_and_apart() -> None:
    chance = Chance(5)
    drawn(chance)

    twin = chance.twin()

    assert [drawn(twin), drawn(twin)] == [drawn(chance), drawn(chance)]

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import types
from collections.abc import Iterator

import pytest

from gem_envs_games.textarena.chance import Chance, lend, seeded

FORK_DURING_A_STEP_THAT_HANGS = """
import os, threading
from gem_envs_games.textarena.chance import BRIEF_LOCK, Chance

def step():
    with Chance(0):
        inside.set()
        threading.Event().wait()

inside = threading.Event()
threading.Thread(target=step, daemon=True).start()
inside.wait()
child = os.fork()
if not child:
    with Chance(1):
        os._exit(not BRIEF_LOCK.acquire(timeout=5))
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

FORK_DURING_A_COPY = """
import os, threading
from gem_envs_games.textarena.chance import BRIEF_LOCK

def copy():
    with BRIEF_LOCK:
        inside.set()
        sum(range(10**6))

inside = threading.Event()
thread = threading.Thread(target=copy)
thread.start()
inside.wait()
child = os.fork()
if not child:
    os._exit(not BRIEF_LOCK.acquire(timeout=5))
thread.join()
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class Player:
    """A game, as far as chance is concerned."""

    def __init__(self) -> None:
        self.roll = random.random


@pytest.fixture
def dice() -> Iterator[types.ModuleType]:
    """Give a module that draws from `random`, which was lent to it."""
    module = types.ModuleType("dice_of_a_test")
    vars(module)["random"] = random
    sys.modules[module.__name__] = module
    lend(module.__name__, types.SimpleNamespace())
    yield module
    del sys.modules[module.__name__]


def drawn(dice: types.ModuleType, chance: Chance) -> float:
    with chance:
        return float(dice.random.random())


def test_the_process_keeps_its_state(dice: types.ModuleType) -> None:
    before = random.getstate()

    with Chance(1):
        dice.random.seed(0)
        dice.random.random()

    assert random.getstate() == before


def test_outside_of_a_game_its_modules_draw_from_the_process(dice: types.ModuleType) -> None:
    random.seed(3)
    expected = random.random()

    random.seed(3)

    assert dice.random.random() == expected
    assert dice.random.Random is random.Random


def test_a_raise_inside_gives_the_process_its_state_back(dice: types.ModuleType) -> None:
    before = random.getstate()

    with pytest.raises(ZeroDivisionError), Chance(1):
        dice.random.seed(1 // 0)

    dice.random.random()
    assert random.getstate() != before


def test_two_of_one_seed_draw_alike_however_they_interleave(dice: types.ModuleType) -> None:
    one = Chance(5)
    other = Chance(5)

    interleaved = [(drawn(dice, one), drawn(dice, other)) for _ in range(3)]

    assert all(left == right for left, right in interleaved)
    assert len({left for left, _ in interleaved}) == 3


def test_what_the_process_draws_meanwhile_changes_nothing(dice: types.ModuleType) -> None:
    chance = Chance(5)
    values = []
    for seed in (1, 2):
        random.seed(seed)
        values.append(drawn(dice, chance))

    alone = Chance(5)
    assert values == [drawn(dice, alone), drawn(dice, alone)]


def test_a_generator_that_a_game_keeps_is_the_game_s(dice: types.ModuleType) -> None:
    game = Player()
    lend(dice.__name__, game)

    with Chance(5):
        kept = game.roll()

    assert kept == drawn(dice, Chance(5))


def test_a_game_that_draws_without_end_is_stopped(dice: types.ModuleType) -> None:
    chance = Chance(5, most=100)

    with chance, pytest.raises(RuntimeError, match="without end"):
        all(dice.random.random() < 1.0 for _ in range(101))


def test_a_twin_goes_on_alike_and_apart(dice: types.ModuleType) -> None:
    chance = Chance(5)
    drawn(dice, chance)

    twin = chance.twin()

    expected = [drawn(dice, chance), drawn(dice, chance)]
    assert [drawn(dice, twin), drawn(dice, twin)] == expected


@pytest.mark.parametrize("count", [1, 3])
def test_a_thread_that_stays_inside_keeps_nobody_out_and_draws_its_own(
    dice: types.ModuleType, count: int
) -> None:
    inside = threading.Barrier(count + 1)
    released = threading.Event()
    late: dict[int, float] = {}

    def hang(seed: int) -> None:
        with Chance(seed):
            inside.wait()
            released.wait()
            late[seed] = dice.random.random()

    threads = [threading.Thread(target=hang, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    inside.wait()
    others = [drawn(dice, Chance(seed)) for seed in range(count)]
    released.set()
    for thread in threads:
        thread.join()

    assert others == [late[seed] for seed in range(count)]
    assert len(set(others)) == count


def test_one_inside_another_gives_it_its_generator_back(dice: types.ModuleType) -> None:
    with Chance(5):
        drawn(dice, Chance(6))
        inner_first = dice.random.random()

    assert inner_first == drawn(dice, Chance(5))


@pytest.fixture
def numpy_dice() -> Iterator[types.ModuleType]:
    """Give a module that draws from `numpy.random`, which was lent to it."""
    module = types.ModuleType("dice_of_numpy")
    vars(module)["np"] = pytest.importorskip("numpy")
    sys.modules[module.__name__] = module
    lend(module.__name__, types.SimpleNamespace())
    yield module
    del sys.modules[module.__name__]


def drawn_by_numpy(dice: types.ModuleType, chance: Chance) -> list[int]:
    with chance:
        return [int(number) for number in dice.np.random.randint(0, 10**6, size=3)]


def test_numpy_keeps_its_state_and_each_game_its_own(numpy_dice: types.ModuleType) -> None:
    numpy = pytest.importorskip("numpy")
    before = numpy.random.get_state()[1].tolist()
    one = Chance(5)

    values = [drawn_by_numpy(numpy_dice, chance) for chance in (one, one, Chance(5))]

    assert numpy.random.get_state()[1].tolist() == before
    assert values[0] == values[2] != values[1]
    assert values[0] == numpy.random.RandomState(5).randint(0, 10**6, size=3).tolist()


def test_the_rest_of_numpy_is_numpy(numpy_dice: types.ModuleType) -> None:
    numpy = pytest.importorskip("numpy")

    assert numpy_dice.np.array is numpy.array
    assert numpy_dice.np.random.default_rng is numpy.random.default_rng
    with Chance(5):
        assert numpy_dice.np.random.default_rng is numpy.random.default_rng


def test_a_twin_goes_on_alike_in_numpy_too(numpy_dice: types.ModuleType) -> None:
    chance = Chance(5)
    drawn_by_numpy(numpy_dice, chance)

    twin = chance.twin()

    expected = drawn_by_numpy(numpy_dice, chance)
    assert drawn_by_numpy(numpy_dice, twin) == expected


def test_a_game_that_draws_from_numpy_without_end_is_stopped(
    numpy_dice: types.ModuleType,
) -> None:
    with Chance(5, most=100), pytest.raises(RuntimeError, match="without end"):
        all(numpy_dice.np.random.random() < 1.0 for _ in range(101))


def test_what_is_drawn_at_import_is_seeded_and_the_process_keeps_its_state() -> None:
    before = random.getstate()
    values = []
    for _ in range(2):
        with seeded(3):
            values.append(random.random())

    assert values[0] == values[1]
    assert random.getstate() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("script", [FORK_DURING_A_STEP_THAT_HANGS, FORK_DURING_A_COPY])
def test_a_process_can_be_forked_meanwhile_and_its_child_can_play(script: str) -> None:
    child = subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=False, timeout=60)

    assert child.returncode == 0

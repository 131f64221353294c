from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from gem_envs_games.textarena.chance import Chance

FORK_DURING_A_STEP = """
import os, threading
from gem_envs_games.textarena.chance import ONE_AT_A_TIME, Chance

def step():
    with Chance(0):
        inside.set()
        sum(range(10**6))

inside = threading.Event()
thread = threading.Thread(target=step)
thread.start()
inside.wait()
child = os.fork()
if not child:
    os._exit(not ONE_AT_A_TIME.acquire(timeout=5))
thread.join()
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


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
    one = Chance(5)
    other = Chance(5)

    interleaved = [(drawn(one), drawn(other)) for _ in range(3)]

    assert all(left == right for left, right in interleaved)
    assert len({left for left, _ in interleaved}) == 3


def test_a_twin_goes_on_alike_and_apart() -> None:
    chance = Chance(5)
    drawn(chance)

    twin = chance.twin()

    assert [drawn(twin), drawn(twin)] == [drawn(chance), drawn(chance)]


def test_numpy_keeps_its_state_and_each_game_its_own() -> None:
    numpy = pytest.importorskip("numpy")
    before = numpy.random.get_state()[1].tolist()
    one = Chance(5)
    other = Chance(5)
    values = []
    for chance in (one, one, other):
        with chance:
            values.append(numpy.random.random())

    assert numpy.random.get_state()[1].tolist() == before
    assert values[0] == values[2] != values[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_forked_during_a_step_can_take_its_own() -> None:
    child = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK_DURING_A_STEP], check=False)

    assert child.returncode == 0

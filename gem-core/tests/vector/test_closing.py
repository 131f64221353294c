"""A closed vector has closed every environment and is of no further use."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from gem.errors import (
    EnvClosed,
)
from gem.vector import VectorEnv, make_vec

from .envs import Faulty, started


def test_closing_closes_every_environment_once(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", num_envs=3)
    vector.close()
    vector.close()

    assert [env.closed for env in faulty.made] == [[1], [1], [1]]


def test_closing_goes_on_past_one_that_raises(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty", num_envs=3)
    faulty.close_faults.append("stuck")

    with pytest.warns(RuntimeWarning, match="Closing an environment failed: RuntimeError: stuck"):
        vector.close()

    assert [env.closed for env in faulty.made] == [[1], [1], [1]]


def test_leaving_the_block_closes_even_after_an_error(faulty: type[Faulty]) -> None:
    with pytest.raises(ValueError, match="mine"), make_vec("vec:Faulty"):
        raise ValueError("mine")

    assert faulty.made[0].closed == [1]


@pytest.mark.parametrize("use", [lambda v: v.reset(), lambda v: v.step(["a"])])
def test_a_closed_vector_refuses_further_use(use: Callable[[VectorEnv], object]) -> None:
    vector = started(1)
    vector.close()

    with pytest.raises(EnvClosed, match=r"after close\. Make another vector"):
        use(vector)


def test_a_dropped_environment_is_let_go(faulty: type[Faulty]) -> None:
    vector = make_vec("vec:Faulty")
    vector.reset()
    vector.step(["raise"])
    faulty.made.clear()
    gc.collect()

    assert sum(isinstance(each, faulty) for each in gc.get_objects()) == 1

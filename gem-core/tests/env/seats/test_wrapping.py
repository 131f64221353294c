"""Wrappers around several seats: those that keep apart what each sees, and no other."""

from __future__ import annotations

import pytest

import gem
from gem.errors import BadArguments
from gem.testing.envs import Kuhn, LastOne, Signs
from gem.wrappers._time_limit import TimeLimit


class Quiet(gem.Wrapper):
    """Changes nothing, for any number of seats."""

    all_seats = True


@pytest.mark.parametrize("wrapper", ["concat", "episode_tracking"])
def test_a_wrapper_that_would_mix_what_seats_see_is_refused(wrapper: str) -> None:
    with pytest.raises(BadArguments, match="whose seats are first, second"):
        gem.make(Kuhn, wrappers=[wrapper])


def test_a_wrapper_reads_the_seats_of_what_it_wraps() -> None:
    env = Quiet(Kuhn())
    env.reset(seed=1)

    assert (env.seats, env.seat, env.zero_sum) == (("first", "second"), 0, True)
    assert env.shown_to(1) == (False, False, [])
    assert env.hint("sample_action", 1) in ("\\boxed{bet}", "\\boxed{pass}")


def test_a_time_limit_counts_all_seats_and_truncates_for_each() -> None:
    env = TimeLimit(Kuhn(), 1)
    env.reset(seed=1)

    step = env.step("\\boxed{bet}")

    assert (step.truncated, step.terminated) == (True, False)
    assert step.ends == {0: "truncated", 1: "truncated"}
    assert step.observations.keys() == {0, 1}


def test_a_time_limit_leaves_an_end_as_it_is_and_a_seat_that_is_out() -> None:
    over = TimeLimit(Signs(), 6)
    over.reset(seed=1)
    for _ in range(6):
        step = over.step("rock")
    assert step.terminated

    env = TimeLimit(LastOne(), 3)
    env.reset(seed=2)
    ends = [env.step("1").ends for _ in range(3)]
    assert sorted(seat for end in ends for seat in end) == [0, 1, 2]

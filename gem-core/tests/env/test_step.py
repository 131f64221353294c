"""Steps: five fields, by name or as a plain tuple."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from gem.env._step import Step, StepInfo, as_step


class Loud:
    """What returned no step."""


FIELDS = ("seen", 1.0, False, True, {"success": False})


def test_a_step_stays_the_same_object() -> None:
    step = Step(*FIELDS)
    assert as_step(step, None) is step


def test_a_plain_tuple_of_five_becomes_a_step() -> None:
    step = as_step(FIELDS, None)
    assert type(step) is Step
    assert step == Step(
        observation="seen", reward=1.0, terminated=False, truncated=True, info={"success": False}
    )


@pytest.mark.parametrize(
    ("result", "described"),
    [
        (None, "NoneType"),
        ("seen", "str"),
        (FIELDS[:4], "a tuple of 4"),
        ((*FIELDS, 1), "a tuple of 6"),
        (list(FIELDS), "list"),
    ],
)
def test_anything_else_is_refused(result: Any, described: str) -> None:
    with pytest.raises(TypeError, match=f"Loud.on_step returned {described}. It must return"):
        as_step(result, Loud(), "on_step")


def test_a_step_says_only_what_is_not_usual() -> None:
    assert Step("seen") == ("seen", 0.0, False, False, {})
    assert Step("seen", 1.0, terminated=True) == ("seen", 1.0, True, False, {})
    assert repr(Step("seen")).startswith("Step(observation='seen', reward=0.0, terminated=False")


def test_steps_without_an_info_share_none() -> None:
    first = Step("seen")
    first.info["changed"] = True

    assert Step("seen").info == {}


def test_a_step_is_copied_pickled_and_changed_like_any_named_tuple() -> None:
    step = Step(*FIELDS)

    for again in (copy.deepcopy(step), pickle.loads(pickle.dumps(step))):  # noqa: S301 - our own
        assert (type(again), again) == (Step, step)
    assert type(step._replace(reward=0.5)) is Step
    assert not hasattr(step, "__dict__")


def test_what_info_says_to_everybody_is_typed() -> None:
    info: StepInfo = {"success": True, "suffix": "", "reward_parts": {"format": -0.1}}

    assert Step("seen", info=info).info is info
    of_one = {"success", "suffix", "reward_parts", "action_error"}
    of_several = {"seat", "rewards", "ends", "observations", "successes", "action_errors"}
    assert set(StepInfo.__annotations__) == of_one | of_several

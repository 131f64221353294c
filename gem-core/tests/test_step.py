"""Steps: five fields, by name or as a plain tuple."""

from __future__ import annotations

from typing import Any

import pytest

from gem.step import Step, as_step

FIELDS = ("seen", 1.0, False, True, {"success": False})


def test_a_step_stays_the_same_object() -> None:
    step = Step(*FIELDS)
    assert as_step(step) is step


def test_a_plain_tuple_of_five_becomes_a_step() -> None:
    step = as_step(FIELDS)
    assert type(step) is Step
    assert step == Step(
        observation="seen", reward=1.0, terminated=False, truncated=True, info={"success": False}
    )


@pytest.mark.parametrize("result", [None, "seen", FIELDS[:4], (*FIELDS, 1), list(FIELDS)])
def test_anything_else_is_refused(result: Any) -> None:
    with pytest.raises(TypeError, match=f"step returned {type(result).__name__}. It must return"):
        as_step(result)

from __future__ import annotations

import pytest

from gem_envs_agents.desk.scoring import communicates, missing_outputs


@pytest.mark.parametrize(
    ("message", "output"),
    [
        ("You save 23,553 dollars.", "23553"),
        ("It holds 164.28 and 625.6.", "625.60"),
        ("Your items: a Camera, red.", "camera"),
        ("Sent to 943 MAPLE drive.", "943 Maple Drive"),
        ("It takes 20 hours", "20 hours"),
        ("The tracking number is 746342064230.", "746342064230"),
    ],
)
def test_what_is_said_in_another_form_is_said(message: str, output: str) -> None:
    assert communicates(message, output)


@pytest.mark.parametrize(
    ("message", "output"),
    [
        ("There are 100 options.", "10"),
        ("It costs 10.50.", "10"),
        ("Version 1.10.2", "10"),
        ("cameras", "camera"),
        ("", "10"),
        (" ".join(map(str, range(100))), "10"),
    ],
)
def test_what_is_not_said_is_not_found(message: str, output: str) -> None:
    assert not communicates(message, output)


def test_each_output_may_be_in_a_message_of_its_own() -> None:
    assert missing_outputs(["1", "2", "3"], ["It is 1.", "It is 3."]) == ["2"]

from __future__ import annotations

import pytest

from gem_envs_agents.desk.scoring import communicates, numbers_in


@pytest.mark.parametrize(
    ("message", "output"),
    [
        ("You save 23,553 dollars.", "23553"),
        ("It holds 164.28 and 625.6.", "625.60"),
        ("Your items: a Camera, red.", "camera"),
        ("Sent to 943 MAPLE drive.", "943 Maple Drive"),
        ("It takes 20 hours", "20 hours"),
        ("There are 10,20 and 30 of them.", "20"),
        ("In all $1,234,567.80.", "1234567.8"),
        ("In all USD1,234.50.", "1234.5"),
        ("In all 45.10EUR.", "45.1"),
        ("It was 45.10,100.00 or so.", "45.10"),
        ("It was 45.10,100.00 or so.", "100"),
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
        ("Options 1,0 and 5,4.04", "10"),
        ("Options 1,0 and 5,4.04", "54.04"),
        ("It was 45.10,100.00 or so.", "45.101"),
        ("The label says SN1234,567", "1234567"),
        ("The label says SN116", "116"),
        ("In all AUSD10", "10"),
        ("", "10"),
        ("1. a lamp\n2. a kettle", "2"),
    ],
)
def test_what_is_not_said_is_not_found(message: str, output: str) -> None:
    assert not communicates(message, output)


def test_the_numbers_of_a_list_are_none() -> None:
    assert numbers_in("I see:\n 1. 30 lamps\n 2) 1,024.5 kettles\n10. And more") == [
        "30",
        "1024.5",
        "10",
    ]
    assert numbers_in("4. More cannot be had.") == ["4"]

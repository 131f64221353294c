from __future__ import annotations

import doctest
import importlib
import subprocess
import sys

import pytest

import gem.testing
from gem.testing._actions import action_error

MODULES = ["actions", "checking", "contract", "formats", "playing", "scripted_policy"]


def test_every_public_name_is_there() -> None:
    assert all(getattr(gem.testing, name) for name in gem.testing.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gem.testing.nothing


def test_its_environments_cost_no_more_than_themselves() -> None:
    code = "import sys, gem.testing.envs\n"
    code += "assert not {'gem.testing._table', 'numpy', 'pydantic'} & set(sys.modules)"

    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name: str) -> None:
    module = importlib.import_module(f"gem.testing._{name}")

    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("info", "error"),
    [
        ({"action_error": "invalid"}, "invalid"),
        ({"reward_parts": {"format_error": -0.1}}, "format_error"),
        ({"reward_parts": {"invalid": 0.0}}, None),
        ({}, None),
    ],
)
def test_a_refused_action_is_known_by_its_mark(info: dict[str, object], error: str | None) -> None:
    assert action_error(info) == error

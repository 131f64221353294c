from __future__ import annotations

from typing import Any, ClassVar

import pytest

from gem.testing import EnvContract
from gem.testing._subject import Subject
from gem.testing._table import CHECKS
from gem_envs_reasoning.listing import CATEGORIES

MIX: list[dict[str, Any]] = [
    {"name": "chain_sum", "weight": 3, "level": 1},
    {"name": "leg_counting", "config": {"max_animals": 4}},
    {"name": "countdown"},
]
COSTLY = {"another_process", "leaks", "long_actions"}
"""Lines that take a second and more: two environments are held to them, not each."""


class TestLegCounting(EnvContract):
    env_id = "rg:leg_counting"
    backends = ("sync", "thread")
    env_kwargs: ClassVar[dict[str, Any]] = {"level": 2, "split": "eval", "binary": True}


class TestComposite(EnvContract):
    env_id = "rg:composite"
    backends = ("sync", "thread")
    env_kwargs: ClassVar[dict[str, Any]] = {"datasets": MIX, "format_error_reward": -0.1}


@pytest.mark.parametrize("names", CATEGORIES.values(), ids=CATEGORIES)
def test_a_task_of_each_category_keeps_the_contract(names: tuple[str, ...]) -> None:
    pytest.importorskip("reasoning_gym", reason="the extra `tasks` is not installed")
    subject = Subject(f"rg:{names[0]}", seeds=range(3), backends=["sync"])
    lines = [check.line(subject) for check in CHECKS if check.name not in COSTLY]

    assert [str(line) for line in lines if line.state == "failed"] == []

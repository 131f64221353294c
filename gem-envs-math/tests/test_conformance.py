from __future__ import annotations

import json
from types import ModuleType
from typing import Any, ClassVar

import pytest

from gem.testing import EnvContract


class TestArithmetic(EnvContract):
    env_id = "math:Arithmetic-v0"
    backends = ("sync", "thread", "process")


@pytest.mark.slow
class TestHardArithmetic(EnvContract):
    env_id = "math:Arithmetic-v0"
    backends = ("sync",)
    env_kwargs: ClassVar[dict[str, Any]] = {
        "num_terms": 2,
        "max_value": 10,
        "operators": ["-"],
        "format_error_reward": -0.1,
    }


@pytest.fixture(scope="class")
def made_with_a_table(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [{"problem": f"What is {n} times 37?", "answer": n * 37} for n in range(100, 200)]
    path = tmp_path_factory.mktemp("data") / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    request.cls.env_kwargs = {"data": str(path)}


@pytest.mark.slow
@pytest.mark.usefixtures("made_with_a_table")
class TestGSM8K(EnvContract):
    env_id = "math:GSM8K"
    backends = ("sync", "thread")


@pytest.fixture(scope="class")
def made_with_any_answers(
    request: pytest.FixtureRequest,
    math_verify: ModuleType,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rows = [{"problem": f"What is {n} x + x?", "answer": f"{n + 1}x"} for n in range(100)]
    path = tmp_path_factory.mktemp("data") / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    request.cls.env_kwargs = {"data": str(path)}


@pytest.mark.slow
@pytest.mark.usefixtures("made_with_any_answers")
class TestMATH500(EnvContract):
    env_id = "eval:MATH500"
    backends = ("sync", "process")

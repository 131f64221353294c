from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from gem.testing import EnvContract


@pytest.fixture(scope="class")
def made_with_rows(
    request: pytest.FixtureRequest, sandbox: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [
        {
            "problem": f"Print the number that was read, times {n}.",
            "tests": {"inputs": ["1", "7"], "outputs": [str(n), str(7 * n)]},
            "solution": f"print({n} * int(input()))",
        }
        for n in range(100, 140)
    ]
    path = tmp_path_factory.mktemp("data") / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    request.cls.env_kwargs = {"data": str(path)}


@pytest.mark.slow
@pytest.mark.usefixtures("made_with_rows")
class TestContest(EnvContract):
    env_id = "code:CodeContest"
    seeds: ClassVar[range] = range(4)
    backends: ClassVar[tuple[str, ...]] = ("sync", "thread", "process")
    env_kwargs: ClassVar[dict[str, Any]] = {}

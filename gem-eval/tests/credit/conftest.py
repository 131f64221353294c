"""A run of the episodes whose gradient is known, as a viewer opens it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gem_eval.viewing.runs import Run

from .softmax import make_run


@pytest.fixture(scope="module")
def opened_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    made = make_run(tmp_path_factory.mktemp("runs") / "run")
    yield made
    made.close()

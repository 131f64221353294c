from __future__ import annotations

from typing import get_args

import pytest

from gem._python.process_tree import VARIABLE, root
from gem.hosting import RESET
from gem.hosting._processes import ProcessHost
from gem.hosting._recipes import Recipe
from gem.hosting._supervisor import StartMethod


@pytest.mark.parametrize("method", get_args(StartMethod))
def test_workers_belong_to_the_tree_of_their_pool(
    method: StartMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    with ProcessHost(1, start_method=method) as pool:
        pool.submit([(RESET, pool.open(Recipe("trouble:Kin")), 1)])
        [(_, (observation, *_))] = pool.collect(1)
    assert observation == str(root())

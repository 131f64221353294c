"""What is behind `gem.vector`: vectors made from functions."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")


import gem
from gem.compat._vectors import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gem.errors import BadArguments

from . import envs


@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, "NextStep", "SameStep"])
def test_a_vector_is_made_of_functions(kind: Any, mode: Any) -> None:
    gem.register("old:Game", envs.Game)
    functions = [partial(gem.make, "old:Game")] * 2
    with kind(env_ids=["old:Game"] * 2, env_fns=functions, autoreset_mode=mode) as vector:
        vector.reset(seed=1)
        steps = [vector.step(["a", "win"]) for _ in range(2)]
        one = vector.step({1: "a"})

    assert vector.env_ids == ["old:Game"] * 2
    assert steps[0].terminated.tolist() == [False, True]
    began_at_once = mode == "SameStep"
    assert (steps[0].observations[1] == "Play plain.") is began_at_once
    assert len(one.observations) == 1


def test_a_vector_refuses_modes_and_numbers_that_do_not_fit() -> None:
    with pytest.raises(BadArguments, match="'NextStep', 'SameStep'"):
        SyncVectorEnv(["a"], [envs.Game], "Never")
    with pytest.raises(BadArguments, match="1 ids and 2 functions"):
        SyncVectorEnv(["a"], [envs.Game] * 2)

"""The same environment in every form: synchronous or not, in a wrapper or not."""

from __future__ import annotations

import pytest

from gem.env import Env
from gem.env._wrapper import Wrapper

from .envs import AsyncDice, Dice


@pytest.fixture(params=[Dice, AsyncDice, lambda: Wrapper(Dice()), lambda: Wrapper(AsyncDice())])
def env(request: pytest.FixtureRequest) -> Env:
    made: Env = request.param()
    return made

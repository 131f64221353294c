"""The environments that are mixed, and a mixture of them."""

from __future__ import annotations

import asyncio
from typing import Any

from gem.content import Observation
from gem.env import Env
from gem.env._step import Step
from gem.specs import EnvSpec

GUESS = EnvSpec(id="test:Guess", target="gem.testing.envs:Guess", blocking=False)
ECHO = EnvSpec(id="test:Echo", target="gem.testing.envs:Echo", blocking=False)
COIN = EnvSpec(id="test:Coin", target="gem.testing.envs:Coin", blocking=False)


class Slow(Env):
    """Waits for each answer, and says what became of it; success by its return."""

    max_turns = 2
    tools = ({"type": "function", "function": {"name": "look"}},)
    rewrites_history = True
    prompt_is_finished = True
    closed = False

    async def areset(self, seed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        await asyncio.sleep(0)
        return f"toss {self.rng.random()}", {}

    async def astep(self, action: str) -> Step:
        await asyncio.sleep(0)
        return Step("", 0.25, self.turn == 1, False, {})

    async def aclose(self) -> None:
        self.closed = True


SLOW = EnvSpec(id="test:Slow", target=f"{__name__}:Slow", success_return=0.5)


def mixture(*components: dict[str, Any], **kwargs: Any) -> EnvSpec:
    """Return the spec of a mixture; without components, of guesses and echoes."""
    listed = components or ({"env": GUESS, "weight": 3}, {"env": ECHO})
    plain = [{**each, "env": EnvSpec.model_dump(each["env"], mode="json")} for each in listed]
    return EnvSpec(id="test:Mix", target="gem:Mixture", kwargs={"envs": plain}, **kwargs)

"""A fault that every episode has stops ROLL's rollout loop, or never lets a manager be made."""

from __future__ import annotations

from typing import Any

import pytest
from fragile import HOPELESS, TURNING
from harness import PAYING
from roll.pipeline.agentic.env_manager.traj_env_manager import TrajEnvManager
from roll.pipeline.agentic.llm_proxy import BaseLLMProxy, register_llm_proxy
from roll_rig import manager_of

import gem
from gem.errors import BadArguments
from gem_integrations.episodes import UnplayableError
from gem_integrations.faults import EPISODES
from gem_integrations.roll import TokenEnvManager

ADAPTED = {"wrappers": ["gem_integrations.roll:RollEnv"]}


@register_llm_proxy("silent")
class Silent(BaseLLMProxy):
    """Is not asked here."""

    def generate(self, messages: Any, lm_input: Any, generation_config: Any) -> Any:
        raise AssertionError


def manager(cls: type[TrajEnvManager], tokenizer: Any, env_type: str, **config: Any) -> Any:
    return manager_of(cls, tokenizer, proxy="silent", env_type=env_type, **config)


@pytest.mark.parametrize(
    ("cls", "config"), [(TokenEnvManager, {}), (TrajEnvManager, ADAPTED)], ids=["ours", "rolls"]
)
def test_no_manager_is_made_of_what_cannot_begin(cls: Any, config: Any, tokenizer: Any) -> None:
    with pytest.raises(UnplayableError, match=r"none can begin: .* OSError: the board is lost"):
        manager(cls, tokenizer, HOPELESS, **config)


def test_nor_of_a_misspelt_argument(tokenizer: Any) -> None:
    with pytest.raises(BadArguments, match="lenght"):
        manager(TokenEnvManager, tokenizer, PAYING, lenght=3)


def test_managers_whose_episodes_all_end_by_one_error_raise(tokenizer: Any) -> None:
    """ROLL's loop lets what a step raises through, and its scheduler raises that."""
    envs = [manager(TokenEnvManager, tokenizer, TURNING).env for _ in range(EPISODES)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
    steps = [env.step for env in envs]

    assert [each("x").info["metrics"]["env_failed"] for each in steps[:-1]] == [1.0] * 15
    with pytest.raises(UnplayableError, match=f"the last {EPISODES} in this process all ended"):
        steps[-1]("x")


def test_one_environment_is_tried_for_all_managers_of_it(tokenizer: Any) -> None:
    seeds: list[int | None] = []

    class Watched(gem.Env):
        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            seeds.append(self.episode_seed)
            return "", {}

        def step(self, action: str) -> gem.Step:
            return gem.Step("", 0.0, True, False, {})

    gem.register("contract:Watched", Watched)
    for _ in range(3):
        manager(TokenEnvManager, tokenizer, "contract:Watched")

    assert len(seeds) == 1

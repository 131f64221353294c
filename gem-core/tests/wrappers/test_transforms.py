"""The three transforms: a function given live, or as data by its name."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

import gem
from gem.content import Action, ToolCall
from gem.env import Env
from gem.env._wrapper import Wrapper
from gem.errors import BadArguments, OpaqueError, TargetError
from gem.wrappers._transform_action import TransformAction
from gem.wrappers._transform_observation import TransformObservation
from gem.wrappers._transform_reward import TransformReward

MakeEnv = Callable[..., Env]


class Hear(Wrapper):
    """Keep the last action that came through."""

    heard: str = ""

    def on_action(self, action: str) -> str:
        self.heard = action
        return action


def shout(observation: Any) -> str:
    return str(observation).upper()


def test_every_observation_passes_through_the_function(say: MakeEnv) -> None:
    env = TransformObservation(say(), shout)

    assert env.reset()[0] == "ONE"
    assert env.step("a").observation == "TWO"


def test_every_action_passes_through_the_function(say: MakeEnv) -> None:
    inner = Hear(say())
    env = TransformAction(inner, str.strip)
    env.reset()

    env.step("  a ")

    assert inner.heard == "a"


def test_tool_calls_stay_with_a_transformed_action(say: MakeEnv) -> None:
    inner = Hear(say())
    env = TransformAction(inner, str.strip)
    env.reset()
    call = ToolCall("1", "find")

    env.step(Action(" a ", tool_calls=[call]))

    assert (inner.heard, getattr(inner.heard, "tool_calls", None)) == ("a", (call,))


def test_a_function_may_take_the_tool_calls_away(say: MakeEnv) -> None:
    inner = Hear(say())
    env = TransformAction(inner, Action)
    env.reset()

    env.step(Action("a", tool_calls=[ToolCall("1", "find")]))

    assert getattr(inner.heard, "tool_calls", None) == ()


def test_every_reward_passes_through_the_function(say: MakeEnv) -> None:
    env = TransformReward(say(), lambda reward: 2 * reward - 1)
    env.reset()

    assert env.step("a").reward == 1.0


def test_the_range_of_transformed_rewards_is_the_one_that_is_given(say: MakeEnv) -> None:
    inner = say()
    inner.reward_range = (0.0, 1.0)

    assert TransformReward(inner, float).reward_range == (-inf, inf)
    assert TransformReward(inner, float, reward_range=(-1.0, 0.0)).reward_range == (-1.0, 0.0)


@pytest.mark.parametrize(
    ("layer", "outcome"),
    [
        ({"id": "transform_observation", "function": "builtins:str.upper"}, ("ONE", "TWO", 1.0)),
        ({"id": "transform_action", "function": "builtins:str.strip"}, ("one", "two", 1.0)),
        (
            {"id": "transform_reward", "function": "operator:neg", "reward_range": [-1, 0]},
            ("one", "two", -1.0),
        ),
    ],
)
def test_a_named_function_is_data_from_which_the_stack_is_rebuilt(
    layer: dict[str, Any], outcome: tuple[str, str, float], said_id: str
) -> None:
    spec = gem.make(said_id, wrappers=[layer]).spec
    assert spec is not None

    env = gem.make(gem.EnvSpec.model_validate_json(spec.model_dump_json()))
    first, _ = env.reset()
    step = env.step("a")

    assert env.spec == spec
    assert (first, step.observation, step.reward) == outcome


@pytest.mark.parametrize("id", ["transform_observation", "transform_action", "transform_reward"])
def test_a_live_function_is_refused_where_the_stack_is_rebuilt(id: str, said_id: str) -> None:
    spec = gem.make(said_id, wrappers=[{"id": id, "function": shout}]).spec
    assert spec is not None

    with pytest.raises(OpaqueError, match=f"{id} was made with a live builtins.function"):
        gem.make(spec)


@pytest.mark.parametrize("id", ["transform_observation", "transform_action", "transform_reward"])
def test_a_name_that_leads_to_no_function_is_refused(id: str, said_id: str) -> None:
    with pytest.raises(BadArguments, match=f"{id} was given function='math:pi', which names a"):
        gem.make(said_id, wrappers=[{"id": id, "function": "math:pi"}])
    with pytest.raises(TargetError):
        gem.make(said_id, wrappers=[{"id": id, "function": "math:no_such_name"}])


def test_a_fork_shares_the_function_and_nothing_else(said_id: str) -> None:
    env = gem.make(said_id, wrappers=[{"id": "transform_observation", "function": shout}])
    env.reset()
    twin = env.fork()
    twin.step("a")

    assert twin.step("b").observation == "THREE"
    assert env.step("a").observation == "TWO"


def test_a_snapshot_leaves_the_function_out(said_id: str) -> None:
    layers = [{"id": "transform_reward", "function": "operator:neg"}]
    env, other = gem.make(said_id, wrappers=layers), gem.make(said_id, wrappers=layers)
    env.reset()
    other.restore(gem.Snapshot.from_json(env.snapshot().to_json()))

    assert other.step("a").reward == -1.0

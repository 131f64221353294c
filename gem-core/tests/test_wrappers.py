"""Stacks of core's wrappers: order, data, and what every layer owes the ones around it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.env import Env
from gem.env._step import Step
from gem.env._wrapper import Wrapper
from gem.errors import UnknownWrapper, WrapperOrderError
from gem.registry import wrapper_spec
from gem.registry._core_plugin import plugin
from gem.registry._importing import load_target
from gem.specs import EnvSpec, WrapperSpec
from gem.testing.envs import Lamps

LAYERS: dict[str, dict[str, Any]] = {
    "concat": {},
    "concat_with_action": {},
    "concat_chat": {},
    "concat_chat_on_reset": {},
    "frame_stack": {"size": 2},
    "system_prompt": {"text": "Be brief."},
    "transform_observation": {"function": "builtins:str.title"},
    "transform_action": {"function": "builtins:str.strip"},
    "transform_reward": {"function": "operator:neg"},
    "time_limit": {"max_turns": 5},
    "episode_tracking": {},
    "record": {"path": "episodes.jsonl"},
}
OLDER = "compat"  # what `gem.make(..., compat=True)` puts around: tests/compat has its tests
OF_SEATS = {"seat", "seat_view"}  # for environments of several
PLAIN = [name for name in LAYERS if not name.startswith("concat_chat")]
PROMPTS = [name for name in LAYERS if name.startswith("concat")]
STACKS: list[list[Any]] = [[{"id": name, **LAYERS[name]}] for name in PLAIN]
STACKS.append([{"id": name, **LAYERS[name]} for name in reversed(PLAIN[1:])])


class Tool(Wrapper):
    """Answer "look" in the environment's place."""

    def on_action(self, action: str) -> str | Step:
        return Step("found", 0.0, False, False, {}) if action == "look" else action


class Template:
    """The smallest tokenizer."""

    def apply_chat_template(self, conversation: Any, **options: Any) -> str:
        return f"{conversation[-1]['content']}>"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lamps() -> str:
    spec = EnvSpec(id="stacked:Lamps", target="gem.testing.envs:Lamps", blocking=False)
    return gem.register(spec).id


def play(env: Env, *actions: str, seed: int = 3) -> list[Any]:
    return [env.reset(seed=seed), *map(env.step, actions)]


@pytest.mark.parametrize("spec", plugin.wrappers, ids=lambda spec: str(spec.id))
def test_every_wrapper_is_found_by_its_id_and_says_what_it_does(spec: WrapperSpec) -> None:
    assert wrapper_spec(spec.id) == spec
    assert spec.summary.endswith(".")


def test_the_manifest_lists_every_wrapper_that_there_is() -> None:
    assert {spec.id for spec in plugin.wrappers} == {*LAYERS, OLDER, *OF_SEATS}


@pytest.mark.parametrize("spec", plugin.wrappers, ids=lambda spec: str(spec.id))
def test_a_spec_and_its_class_agree_on_the_history(spec: WrapperSpec) -> None:
    known = load_target(spec.target).rewrites_history
    # A view shows what its seat is shown, which no class knows.
    assert isinstance(known, property) or known is spec.rewrites_history


def test_the_package_of_wrappers_imports_none_of_them() -> None:
    code = (
        "import sys, gem.wrappers, gem.registry._core_plugin\n"
        "assert not [name for name in sys.modules if name.startswith('gem.wrappers.')]\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_wrapper_is_met_with_a_near_one(lamps: str) -> None:
    with pytest.raises(UnknownWrapper, match="Did you mean 'concat_chat'"):
        gem.make(lamps, wrappers=["concat_cat"])


@pytest.mark.parametrize("inside", PROMPTS)
@pytest.mark.parametrize("outside", [*PROMPTS, "frame_stack", "transform_observation"])
def test_nothing_shows_a_prompt_as_an_observation(inside: str, outside: str, lamps: str) -> None:
    layers = [
        {"id": name, **LAYERS[name], **({"tokenizer": Template()} if "chat" in name else {})}
        for name in (inside, outside)
    ]

    with pytest.raises(WrapperOrderError, match="cannot work in this order") as caught:
        gem.make(lamps, wrappers=layers)

    assert caught.value.wrappers == (inside, outside)


def test_observations_stand_inside_prompts_and_limits_anywhere(lamps: str) -> None:
    layers: list[Any] = [
        {"id": "time_limit", "max_turns": 5},
        {"id": "frame_stack", "size": 2},
        {"id": "transform_observation", "function": "builtins:str.title"},
        "concat",
        "episode_tracking",
    ]

    assert gem.make(lamps, wrappers=layers).reset()[0] == (
        "Four Lamps, 1 To 4, Are Out. Name One To Light It."
    )


@pytest.mark.parametrize("layers", STACKS, ids=str)
def test_a_stack_is_data_that_rebuilds_it(layers: list[Any], lamps: str) -> None:
    env = gem.make(lamps, wrappers=layers)
    assert env.spec is not None

    again = gem.make(EnvSpec.model_validate_json(env.spec.model_dump_json()))

    assert again.spec == env.spec
    assert play(again, "1", "2", " 3") == play(env, "1", "2", " 3")


@pytest.mark.parametrize("layers", STACKS, ids=str)
def test_both_forms_agree(layers: list[Any], lamps: str) -> None:
    async def walk() -> list[Any]:
        env = gem.make(lamps, wrappers=layers)
        shown = [await env.areset(seed=3), *[await env.astep(each) for each in ("1", "2")]]
        await env.aclose()
        return shown

    assert asyncio.run(walk()) == play(gem.make(lamps, wrappers=layers), "1", "2")


@pytest.mark.parametrize("layers", STACKS, ids=str)
def test_restored_and_forked_stacks_continue_alike_and_apart(layers: list[Any], lamps: str) -> None:
    env, other = gem.make(lamps, wrappers=layers), gem.make(lamps, wrappers=layers)
    play(env, "1", "2")
    other.restore(gem.Snapshot.from_json(env.snapshot().to_json()))
    twin, stray = env.fork(), env.fork()
    stray.step("nothing")

    onward = [env.step("3"), env.step("9")]

    assert [twin.step("3"), twin.step("9")] == onward
    assert [other.step("3"), other.step("9")] == onward


@pytest.mark.parametrize("layers", STACKS, ids=str)
def test_huge_and_broken_actions_never_raise(layers: list[Any], lamps: str) -> None:
    env = gem.make(lamps, wrappers=layers)

    steps = play(env, "", "\0", "\ud800\udfff", "x" * 1_000_000)

    assert len(steps) == 5


@pytest.mark.parametrize("layers", STACKS, ids=str)
def test_a_second_episode_has_nothing_of_the_first(layers: list[Any], lamps: str) -> None:
    env = gem.make(lamps, wrappers=layers)
    play(env, "1", "2", "nothing", seed=8)

    assert play(env, "1", "2") == play(gem.make(lamps, wrappers=layers), "1", "2")


def test_an_action_that_a_layer_answers_leaves_the_inner_turn_alone(lamps: str) -> None:
    env = gem.make(lamps, wrappers=[Tool, "concat_with_action", "episode_tracking"])
    env.reset(seed=0)

    step = env.step("look")

    assert env.turn == 0
    assert str(step.observation).endswith("look\nfound")
    assert step.info["episode"]["length"] == 1


def test_reading_falls_through_the_stack_and_writing_stays_on_top(lamps: str) -> None:
    env = gem.make(lamps, wrappers=["concat", "episode_tracking"])
    env.reset(seed=0)

    assert (env.max_turns, env.reward_range, env.lit) == (12, (0.0, 1.0), set())  # type: ignore[attr-defined]
    assert env.rng is env.unwrapped.rng
    assert env.solve() == "1"

    env.note = "mine"  # type: ignore[attr-defined]
    assert not hasattr(env.unwrapped, "note")
    assert isinstance(env.unwrapped, Lamps)


def test_a_finished_prompt_is_seen_as_one_through_the_layers_around_it(lamps: str) -> None:
    layer = {"id": "concat_chat", "tokenizer": Template()}

    env = gem.make(lamps, wrappers=[layer, {"id": "time_limit", "max_turns": 3}])

    assert (env.rewrites_history, env.prompt_is_finished) == (True, True)


def test_wrappers_that_do_not_wait_leave_the_stack_as_it_is(lamps: str) -> None:
    env = gem.make(lamps, wrappers=["concat", "episode_tracking"])

    assert env.spec is not None
    assert not env.spec.blocking

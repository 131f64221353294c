"""The import paths of the published gem-llm, and what its users call behind them."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import random
import runpy
import subprocess
import sys
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gem
from gem.compat.debug import (
    ppprint,
    run_and_print_episode,
    run_and_print_episode_async,
    run_and_print_episode_with_selective_step,
)
from gem.compat.observing import ObservationWrapper
from gem.compat.parsing import (
    extract_code_from_model,
    extract_last_boxed_answer,
    extract_last_tagged_answer,
    last_boxed_only_string,
    remove_boxed,
)
from gem.compat.provided import names_of
from gem.compat.registration import ENV_REGISTRY, print_envs
from gem.compat.seeding import np_random, set_seed
from gem.compat.tools import BaseTool, ToolEnvWrapper
from gem.compat.tracking import EpisodeTrackingWrapper
from gem.compat.vectors import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gem.content import Message, TextPart
from gem.errors import BadArguments
from gem.plugins import PluginRecord
from gem.specs import PluginManifest

envs: Any = importlib.import_module(f"{__name__.rpartition('.')[0]}.envs")

PATHS = {
    "gem.core": "ActType Env EnvWrapper ObsType",
    "gem.envs.registration": "ENV_REGISTRY EnvSpec make make_vec print_envs register",
    "gem.tools.base_tool": "BaseTool",
    "gem.tools.tool_env_wrapper": "ToolEnvWrapper",
    "gem.utils.constants": "LanguageGameReward TERMINAL_STATE",
    "gem.utils.debug": "ppprint run_and_print_episode run_and_print_episode_async "
    "run_and_print_episode_with_selective_step",
    "gem.utils.parsing": "extract_code_from_model extract_last_boxed_answer "
    "extract_last_tagged_answer last_boxed_only_string remove_boxed",
    "gem.utils.seeding": "np_random set_seed",
    "gem.vector.async_vector_env": "AsyncVectorEnv",
    "gem.vector.sync_vector_env": "SyncVectorEnv",
    "gem.vector.vector_env": "AutoresetMode VectorEnv",
    "gem.wrappers.episode_tracking_wrapper": "EpisodeTrackingWrapper",
    "gem.wrappers.observation_wrapper": "ObservationWrapper",
    "gem.wrappers.wrapper_factory": "WRAPPER_FACTORY get_wrapper_fns",
}
OF_PACKS = {
    "gem.envs.code_env": "CodeEnv",
    "gem.envs.game_env.crosswords": "CrosswordsEnv",
    "gem.envs.game_env.fifteen_puzzle": "FifteenPuzzleEnv",
    "gem.envs.game_env.game_2048": "Game2048Env",
    "gem.envs.game_env.guess_the_number": "GuessTheNumberEnv",
    "gem.envs.game_env.hangman": "HangmanEnv",
    "gem.envs.game_env.mastermind": "MastermindEnv",
    "gem.envs.game_env.minesweeper": "MinesweeperEnv",
    "gem.envs.game_env.sokoban": "SokobanEnv",
    "gem.envs.game_env.sudoku": "SudokuEnv",
    "gem.envs.game_env.tower_of_hanoi": "TowerofHanoiEnv",
    "gem.envs.game_env.word_search": "WordSearchEnv",
    "gem.envs.game_env.wordle": "WordleEnv",
    "gem.envs.math_env": "MathEnv",
    "gem.envs.qa_env": "QaEnv",
    "gem.envs.reasoning_gym": "ReasoningGymEnv",
    "gem.tools.mcp_server.time_mcp": "app",
    "gem.tools.mcp_tool": "MCPTool",
    "gem.tools.python_code_tool": "PythonCodeTool",
    "gem.tools.search_tool": "SearchTool",
    "gem.utils.qa_em": "em_check",
    "gem.utils.sandbox": "run_python",
}


@pytest.mark.parametrize("path", PATHS)
def test_a_published_path_has_its_names(path: str) -> None:
    module = importlib.import_module(path)

    assert module.__name__ == path
    assert module.__all__ == sorted(PATHS[path].split(), key=module.__all__.index)
    for name in PATHS[path].split():
        assert getattr(module, name) is not None


def test_one_class_is_behind_every_path_to_it() -> None:
    core = importlib.import_module("gem.core")
    wrapper = importlib.import_module("gem.tools.tool_env_wrapper")

    assert (core.Env, core.EnvWrapper) == (gem.Env, gem.Wrapper)
    assert wrapper.ToolEnvWrapper is ToolEnvWrapper


@pytest.mark.parametrize("path", OF_PACKS)
def test_a_path_of_a_pack_says_what_to_install_where_none_provides_it(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem.compat.provided.plugins", list)
    module = importlib.import_module(path)

    with pytest.raises(ImportError, match=r"a pack provides.*drop-in\.md"):
        getattr(module, OF_PACKS[path])
    assert not hasattr(module, "__path_hook__")
    assert not hasattr(module, "pytest_plugins")


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("gem.envs.math_visual_env", "math:Geometry3K"),
        ("gem.envs.mcpmark", "gem.tools.mcp_tool"),
        ("gem.multiagent", "one agent"),
        ("gem.multiagent.multi_agent_env", "one agent"),
        ("gem.tools.search_engine.google_search_server", "serve-search"),
        ("gem.tools.search_engine.retrieval_server", "serve-search"),
        ("gem.tools.search_engine.serp_search_server", "serve-search"),
        ("gem.utils.math_grader", "check_correct"),
    ],
)
def test_a_module_that_is_not_here_names_what_replaces_it(path: str, instead: str) -> None:
    with pytest.raises(ImportError, match=f"that is not here.*{instead}"):
        importlib.import_module(path).anything  # noqa: B018


SERVER = "gem.envs.mcpmark_server"  # no pack of ours provides it


def test_a_pack_provides_a_published_path(install: Callable[..., Path]) -> None:
    manifest = f"""\
        from gem.specs import PluginManifest

        names = {{"{SERVER}:app": "acme_old.old:app", "{SERVER}:main": "acme_old.absent:main"}}
        plugin = PluginManifest(name="acme-old", published=names)
        """
    install("acme-old", manifest=manifest, files={"old.py": "app = 'an app'\n"})
    install("acme-broken", manifest="1 / 0")
    module = types.ModuleType(SERVER)
    module.__getattr__ = names_of(SERVER)  # type: ignore[method-assign]

    assert module.app == "an app"
    with pytest.raises(ImportError, match=r"'search' was asked.*it has app, main;"):
        module.search  # noqa: B018
    with pytest.raises(ImportError, match=r"acme_old\.absent"):
        module.main  # noqa: B018


def test_the_module_of_a_server_can_be_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "gem.tools.mcp_server.time_mcp"
    manifest = PluginManifest(name="acme", published={f"{path}:main": "builtins:print"})
    record = PluginRecord("acme", "acme", "1.0", "ok", manifest)
    monkeypatch.setattr("gem.compat.provided.plugins", lambda: [record])
    monkeypatch.delitem(sys.modules, path, raising=False)

    runpy.run_module(path, run_name="__main__")
    assert capsys.readouterr().out == "\n"


def test_the_paths_cost_nothing_until_they_are_asked_for() -> None:
    program = (
        "import sys; before = list(sys.meta_path); import gem; "
        "print(sys.meta_path == before, *[m for m in sys.modules if m.startswith('gem.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["True"]


# gem.utils


@pytest.mark.parametrize(
    ("function", "text", "found"),
    [
        (extract_last_boxed_answer, r"\boxed{7} \boxed{x^{2}}", "x^{2}"),
        (extract_last_boxed_answer, "7", None),
        (extract_last_boxed_answer, None, None),
        (last_boxed_only_string, r"so \boxed{7}", r"\boxed{7}"),
        (last_boxed_only_string, "7", None),
        (remove_boxed, r"\boxed{7}", "7"),
        (remove_boxed, r"so \boxed{7}", None),
        (remove_boxed, None, None),
        (extract_last_tagged_answer, "<answer> a </answer> <answer>b</answer>", "b"),
        (extract_last_tagged_answer, "<answer>a", None),
        (extract_last_tagged_answer, "a</answer>", None),
        (extract_code_from_model, "```python\na\n```\n```\nb\n```", "b"),
        (extract_code_from_model, "```python\na", None),
        (extract_code_from_model, None, None),
    ],
)
def test_an_answer_is_read_out_of_a_reply(
    function: Callable[[Any], Any], text: str | None, found: str | None
) -> None:
    assert function(text) == found


def test_a_seed_gives_a_generator_of_numpys() -> None:
    one, seed = np_random(3)

    assert seed == 3
    assert one.random() == np_random(3)[0].random()
    assert np_random()[1] != np_random()[1]


def test_the_process_wide_generators_are_seeded() -> None:
    before, before_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        drawn = []
        for _ in range(2):
            set_seed(7)
            drawn.append((random.random(), np.random.random()))  # noqa: NPY002
        assert drawn[0] == drawn[1]
        set_seed()
    finally:
        random.setstate(before)
        np.random.set_state(before_numpy)  # noqa: NPY002


def test_an_episode_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    run_and_print_episode(envs.Game(), lambda observation: "a")

    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if "Step" in line] == [
        "Step 1",
        "Step 2",
        "Step 3",
    ]
    assert "'Play plain.'" in printed
    assert "terminated:  False truncated:  True" in printed


def test_more_episodes_are_printed_until_there_are_steps_enough(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_and_print_episode(envs.Game(), lambda observation: "a", ignore_done=True, max_steps=5)
    asyncio.run(run_and_print_episode_async(envs.Game(), lambda observation: "a", True, 4))

    assert capsys.readouterr().out.count("Step") == 9


def test_a_policy_that_waits_and_a_vector_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    async def policy(observations: Any) -> list[str]:
        return ["a"] * 2

    makers = [envs.Game, envs.Game]
    with AsyncVectorEnv(["a", "b"], makers) as vector:
        asyncio.run(run_and_print_episode_async(vector, policy))
        asyncio.run(run_and_print_episode_async(vector, policy, True, 4))

    printed = capsys.readouterr().out
    assert printed.count("Step") == 7
    assert "[ True  True]" in printed


def test_some_of_a_vector_are_stepped_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with SyncVectorEnv(["a", "b"], [envs.Game, envs.Game]) as vector:
        run_and_print_episode_with_selective_step(vector, lambda observations: ["a", "b"])
        run_and_print_episode_with_selective_step(vector, lambda seen: ["a", "b"], True, 2)

    assert "next_observation" in capsys.readouterr().out


def test_a_value_is_printed_over_several_lines(capsys: pytest.CaptureFixture[str]) -> None:
    ppprint({"a": 1})
    assert capsys.readouterr().out == "{'a': 1}\n"


# gem.envs.registration


def test_the_registry_is_read_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    gem.register("old:Game", envs.Game)

    assert ENV_REGISTRY["old:Game"].id == "old:Game"
    assert "old:Game" in list(ENV_REGISTRY)
    assert len(ENV_REGISTRY) == len(gem.list_envs())
    assert "old:None" not in ENV_REGISTRY
    print_envs()
    assert "old:Game" in capsys.readouterr().out.splitlines()


# gem.vector


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


# gem.wrappers


def test_tracking_counts_and_keeps_what_the_episode_before_came_to() -> None:
    env = EpisodeTrackingWrapper(envs.Game())

    first = env.reset()[1]
    last = [env.step("a").info for _ in range(3)][-1]
    second = env.reset()[1]
    assert (first["step_counter"], first["prev_ep_cumulative_rewards"]) == (0, 0.0)
    assert (last["step_counter"], last["cumulative_rewards"]) == (3, 0.5)
    assert (second["prev_ep_step_counter"], second["prev_ep_cumulative_rewards"]) == (3, 0.5)
    assert (second["step_counter"], second["cumulative_rewards"]) == (0, 0.0)


class Template:
    """A tokenizer whose template is easy to read."""

    def apply_chat_template(self, conversation: Any, **options: Any) -> str:
        turns = "".join(f"<{each['role']}>{each['content']}</>" for each in conversation)
        return f"{turns}<assistant>"


def prompts(**arguments: Any) -> list[Any]:
    env = ObservationWrapper(envs.Game(max_turns=9), **arguments)
    return [env.reset(seed=1)[0], *(env.step(action).observation for action in "abc")]


def test_prompts_of_text_are_the_published_ones() -> None:
    without = prompts(include_action=False, include_chat_template=False)
    within = prompts(include_action=True, include_chat_template=False)

    assert without[:2] == ["Play plain.\nYour move.", "Play plain.\nOn.\nMove 2."]
    assert within[2] == "Play plain.\na\nOn.\nb\nOn.\nMove 3."


def test_a_prompt_shows_as_many_turns_as_it_is_told_to() -> None:
    shown = prompts(include_chat_template=False, max_history_length=1)

    assert shown[0] == "Play plain.\nYour move."
    assert shown[2] == "On.\nb\nOn.\nMove 3."
    assert shown[3] == "On.\nc\nOn.\nMove 4."


def test_a_prompt_is_rendered_whole_or_at_its_beginning() -> None:
    whole = prompts(tokenizer=Template())
    at_reset = prompts(
        include_chat_template=False, apply_chat_template_on_reset=True, tokenizer=Template()
    )

    assert whole[1] == "<user>Play plain.</><assistant>a</><user>On.\nMove 2.</><assistant>"
    assert at_reset[1] == "<user>Play plain.</><assistant>\na\nOn.\nMove 2."


def test_a_prompt_to_be_rendered_needs_a_tokenizer() -> None:
    with pytest.raises(BadArguments, match="given no tokenizer"):
        ObservationWrapper(envs.Game())


# gem.tools


class Calculator(BaseTool):
    """Adds what follows "add"; fails where that is no numbers."""

    tool_type = "calculator"

    def instruction_string(self) -> str:
        return "Write add and two numbers."

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        if not action.startswith("add"):
            return False, True, "", action
        try:
            return True, False, str(sum(map(int, action.split()[1:]))), action
        except ValueError:
            return True, True, "no numbers", action


def with_tools(**arguments: Any) -> ToolEnvWrapper:
    return ToolEnvWrapper(envs.Game(), [BaseTool.__new__(Silent), Calculator()], **arguments)


class Silent(Calculator):
    """Is never called."""

    def instruction_string(self) -> str:
        return "Say nothing."

    def execute_action(self, action: str) -> tuple[bool, bool, str, str]:
        return False, True, "", action


def test_the_observation_says_how_to_call_and_info_counts_from_zero() -> None:
    observation, info = with_tools().reset(seed=1)

    assert observation == "Play plain.\nSay nothing.\nWrite add and two numbers."
    assert info == {
        "suffix": "Your move.",
        "tool_use_counter": 0,
        "tool_success_counter": 0,
        "use_tool": False,
        "prev_ep_tool_use_counter": 0,
        "prev_ep_tool_success_counter": 0,
    }


def test_a_call_is_answered_paid_and_counted() -> None:
    env = with_tools(tool_reward=0.5, tool_success_reward=0.25)
    env.reset(seed=1)

    right = env.step("add 1 2")
    assert right[:4] == ("3", 0.75, False, False)
    assert right.info == {
        "parsed_action": "add 1 2",
        "tool_type": "calculator",
        "tool_use_counter": 1,
        "tool_success_counter": 1,
        "use_tool": True,
    }
    wrong = env.step("add x")
    assert wrong[:2] == ("no numbers", 0.5)
    assert (wrong.info["tool_use_counter"], wrong.info["tool_success_counter"]) == (2, 1)
    assert env.step("win").info["tool_use_counter"] == 2
    assert env.reset(seed=1)[1]["prev_ep_tool_use_counter"] == 2


def test_after_the_last_call_everything_goes_to_the_environment() -> None:
    env = with_tools(max_tool_uses=1)
    env.reset(seed=1)

    assert env.step("add 1 2").observation == (
        "3\n\nReached the maximum number of tool use. Please output final answer directly."
    )
    assert env.step("add 1 2").observation == "On."
    assert env.max_turns == 4


def test_calls_may_have_no_limit() -> None:
    env = with_tools(max_tool_uses=None, tool_reward=-0.5)
    env.reset(seed=1)

    assert [env.step("add 1 1").observation for _ in range(20)] == ["2"] * 20
    assert env.max_turns is None
    assert env.reward_range[0] == float("-inf")
    assert not env.single_turn


def test_pictures_and_messages_say_how_to_call_as_well() -> None:
    asked = Message("user", "Write add and two numbers.")

    def first(env: gem.Env) -> Any:
        return ToolEnvWrapper(env, [Calculator()]).reset(seed=1)[0]

    assert first(envs.Picture())[-1] == TextPart(asked.text)
    assert first(envs.Talk())[-1] == asked
    assert first(envs.Talk(is_one=True)) == [Message("user", "Hello."), asked]


def test_a_subclass_may_hand_on_verbose_and_change_info() -> None:
    class Counting(ToolEnvWrapper):
        def reset(self, seed: int | None = None) -> Any:
            observation, info = super().reset(seed=seed)
            return observation, {"uses": info.pop("tool_use_counter")}

        def step(self, action: str, verbose: bool = False) -> Any:
            observation, reward, terminated, truncated, info = super().step(action, verbose)
            return observation, reward, terminated, truncated, {"all": info}

    env = Counting(envs.Game(), [Calculator()])
    assert env.reset(seed=1)[1] == {"uses": 0}
    assert env.step("add 1 2", True).info["all"]["tool_use_counter"] == 1
    assert env.step("add 1 2", verbose=True).info["all"]["tool_use_counter"] == 2


def test_a_copy_of_an_episode_has_its_counters_and_shares_its_tools() -> None:
    env = with_tools()
    env.reset(seed=1)
    env.step("add 1 2")

    assert env.fork().step("add 1 2").info["tool_use_counter"] == 2
    assert env.step("add 1 2").info["tool_use_counter"] == 2


def test_a_tool_says_which_method_it_lacks() -> None:
    tool = BaseTool(num_workers=2)

    assert (tool.tool_type, tool.num_workers) == ("base", 2)
    with pytest.raises(NotImplementedError, match="no instruction_string"):
        tool.instruction_string()
    with pytest.raises(NotImplementedError, match="no execute_action"):
        tool.execute_action("x")


def test_every_class_takes_what_the_published_one_took_by_position() -> None:
    published = {
        ToolEnvWrapper: "env tools tool_reward tool_success_reward max_tool_uses",
        ObservationWrapper: "env include_action include_chat_template "
        "apply_chat_template_on_reset max_history_length tokenizer",
        SyncVectorEnv: "env_ids env_fns autoreset_mode",
        AsyncVectorEnv: "env_ids env_fns autoreset_mode",
        EpisodeTrackingWrapper: "env",
        BaseTool: "num_workers",
    }
    for kind, names in published.items():
        assert list(inspect.signature(kind).parameters) == names.split()

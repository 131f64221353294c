"""The import paths of the published gem-llm, of core and of packs."""

from __future__ import annotations

import importlib
import inspect
import runpy
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="gem-core's extra `vector` is not installed")


import gem
from gem.compat._observing import ObservationWrapper
from gem.compat._provided import names_of
from gem.compat._tools import BaseTool, ToolEnvWrapper
from gem.compat._tracking import EpisodeTrackingWrapper
from gem.compat._vectors import AsyncVectorEnv, SyncVectorEnv
from gem.compat.gem_llm.envs.registration import ENV_REGISTRY, print_envs
from gem.registry._discovery import PluginRecord
from gem.specs import PluginManifest

from . import envs

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
    monkeypatch.setattr("gem.compat._provided.plugins", list)
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
        ("gem.multiagent", "gem.SeatedEnv"),
        ("gem.multiagent.multi_agent_env", "gem.SeatedEnv"),
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
    monkeypatch.setattr("gem.compat._provided.plugins", lambda: [record])
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


def test_the_registry_is_read_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    gem.register("old:Game", envs.Game)

    assert ENV_REGISTRY["old:Game"].id == "old:Game"
    assert "old:Game" in list(ENV_REGISTRY)
    assert len(ENV_REGISTRY) == len(gem.list_envs())
    assert "old:None" not in ENV_REGISTRY
    print_envs()
    assert "old:Game" in capsys.readouterr().out.splitlines()


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

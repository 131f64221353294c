"""What docs/drop-in.md promises to code written for gem-llm, row by row, on the real packs."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.compat._constants import TERMINAL_STATE
from gem.compat._provided import _REPLACED
from gem_tools.sandbox import SandboxUnavailable, make_sandbox

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "drop-in.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without its two first lines."""
    section = PAGE.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[2:]]


PATHS = {cells[0].strip("`"): re.findall(r"`(\w+)`", cells[1]) for cells in rows("## Import paths")}
SWITCH = [cells[0] for cells in rows("## The switch")]


def test_the_page_lists_every_module_that_there_is() -> None:
    folder = ROOT / "gem-core" / "src" / "gem" / "compat" / "gem_llm"
    modules = {
        "gem." + ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if path.name != "__init__.py"
    }
    assert modules - {*_REPLACED} == {*PATHS}


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_the_page_has_its_names(path: str) -> None:
    if path.startswith("gem.tools.mcp"):
        pytest.importorskip("mcp")
    module = importlib.import_module(path)

    assert PATHS[path]
    assert [name for name in PATHS[path] if getattr(module, name, None) is None] == []


QUESTIONS = [{"problem": f"What is {k} + 1?", "answer": str(k + 1)} for k in range(4)]


def math() -> gem.Env:
    return gem.make("math:GSM8K", compat=True, data=QUESTIONS, seed=3)


def game(env_id: str = "game:GuessTheNumber-v0-easy", **options: Any) -> gem.Env:
    return gem.make(env_id, compat=True, seed=3, **options)


def played(env: gem.Env, *actions: str) -> list[gem.Step]:
    env.reset()
    return [env.step(action) for action in actions]


def sandboxed() -> None:
    try:
        make_sandbox()
    except SandboxUnavailable as unavailable:
        pytest.skip(str(unavailable))


def limit() -> None:
    last = played(game(), *["\\boxed{99}"] * 4)[-1]
    assert (last.terminated, last.truncated) == (True, True)


def format_error() -> None:
    last = played(game(), *["\\boxed{99}"] * 3, "nothing")[-1]
    assert last[1:4] == (-0.1, True, True)


def one_turn() -> None:
    [step] = played(math(), "\\boxed{0}")
    assert (step.terminated, step.truncated) == (True, True)


def last_observation() -> None:
    [step] = played(math(), "\\boxed{0}")
    assert step.observation == TERMINAL_STATE


def correct() -> None:
    env = math()
    env.reset(task=1)
    assert env.step("\\boxed{2}").info["correct"] is True


def suffix() -> None:
    for env_id in ("game:Wordle-v0-easy", "game:Sudoku-v0-easy", "game:Minesweeper-v0-easy"):
        [step] = played(game(env_id), "nothing")
        assert step.terminated
        assert step.info["suffix"]


def epochs() -> None:
    env = math()
    taken = [env.reset()[1]["task"] for _ in range(8)]
    assert sorted(taken[:4]) == sorted(taken[4:]) == [0, 1, 2, 3]
    assert env.reset(seed=3)[1]["task"] == taken[0]


def boxed() -> None:
    pytest.importorskip("reasoning_gym")
    observation, _ = game("rg:letter_counting").reset()
    assert "\\boxed{}" in str(observation)
    assert "<answer>" not in str(observation)


def no_program() -> None:
    sandboxed()
    tests = '{"inputs": ["1\\n"], "outputs": ["1\\n"]}'
    data = [{"problem": "Print it.", "tests": tests}]
    [step] = played(game("code:CodeContest", data=data), "nothing")
    assert step.reward == -0.1


def tracking() -> None:
    env = game(wrappers=["episode_tracking"])
    step = played(env, "\\boxed{99}")[0]
    assert (step.info["step_counter"], step.info["cumulative_rewards"]) == (1, 0.0)
    info = env.reset()[1]
    assert (info["prev_ep_step_counter"], info["prev_ep_cumulative_rewards"]) == (1, 0.0)


def tool(id: str = "python_tool", **options: Any) -> gem.Env:
    sandboxed()
    return game(wrappers=[{"id": id, **options}])


CALL = "<python>print(5)</python>"


def how_to_call() -> None:
    assert "<python>" in str(tool().reset()[0])
    found = game(wrappers=[{"id": "search_tool", "search_url": "http://127.0.0.1:9/retrieve"}])
    assert "<search>" in str(found.reset()[0])


def counters() -> None:
    env = tool()
    info = played(env, CALL)[0].info
    assert (info["tool_use_counter"], info["tool_success_counter"], info["use_tool"]) == (
        1,
        1,
        True,
    )
    assert (info["tool_type"], info["parsed_action"]) == ("python_code", CALL)
    info = env.reset()[1]
    assert (info["prev_ep_tool_use_counter"], info["prev_ep_tool_success_counter"]) == (1, 1)


def python_rewards() -> None:
    steps = played(tool(), CALL, "<python>1/0</python>", CALL, CALL, CALL, CALL)
    assert [step.reward for step in steps[:3]] == pytest.approx([0.3, 0.05, 0.3])
    assert ["tool_type" in step.info for step in steps] == [True] * 5 + [False]


def search_rewards() -> None:
    pytest.importorskip("httpx")
    options = {"search_url": "http://127.0.0.1:9/retrieve", "topk": 2, "timeout": 0.2}
    env = game(wrappers=[{"id": "search_tool", **options}], max_turns=9)
    [step] = played(env, "<search>x</search>")
    assert step.reward == 0.3


def no_rewards() -> None:
    steps = played(tool("python_tool_no_int_reward"), *[CALL] * 6)
    assert sum(step.reward for step in steps[:5]) == 0.0
    assert ["tool_type" in step.info for step in steps] == [True] * 5 + [False]


def last_call() -> None:
    steps = played(tool(max_tool_uses=1), CALL, CALL)
    assert "Please output final answer directly." in str(steps[0].observation)
    assert (steps[1].reward, steps[1].terminated) == (-0.1, True)  # the game cannot read it


def answers() -> None:
    [step] = played(tool(), CALL)
    assert step.observation == "Code execution result: 5\n\n"


CLAIMS: list[tuple[str, Callable[[], None]]] = [
    ("At the limit of turns", limit),
    ("A format error in the last turn", format_error),
    ("An episode of one turn always ends", one_turn),
    ("Its last observation", last_observation),
    ("Its `info` has `correct`", correct),
    ("A game's `info` has `suffix`", suffix),
    ("`reset()` over a data set", epochs),
    ("`rg:` asks", boxed),
    ("`code:` pays -0.1", no_program),
    ("`episode_tracking` gives", tracking),
    ("`python_tool`, `search_tool` tell", how_to_call),
    ("Tools give `tool_use_counter`", counters),
    ("`python_tool` pays", python_rewards),
    ("`search_tool` pays", search_rewards),
    ("`python_tool_no_int_reward`", no_rewards),
    ("After the last call", last_call),
    ("A call is answered", answers),
]


def test_every_row_of_the_switch_has_a_test() -> None:
    assert len(SWITCH) == len(CLAIMS)
    for row, (begins, _) in zip(SWITCH, CLAIMS, strict=True):
        assert row.startswith(begins)


@pytest.mark.parametrize("holds", [claim for _, claim in CLAIMS], ids=lambda claim: claim.__name__)
def test_a_row_of_the_switch_holds(holds: Callable[[], None]) -> None:
    holds()


SCRIPT = """\
import gem
from gem.envs.game_env.guess_the_number import GuessTheNumberEnv
from gem.envs.registration import ENV_REGISTRY, make, make_vec
from gem.tools.base_tool import BaseTool
from gem.tools.tool_env_wrapper import ToolEnvWrapper
from gem.utils.constants import TERMINAL_STATE, LanguageGameReward
from gem.utils.debug import run_and_print_episode, run_and_print_episode_async
from gem.utils.parsing import extract_last_boxed_answer
from gem.vector.async_vector_env import AsyncVectorEnv
from gem.vector.sync_vector_env import SyncVectorEnv
from gem.wrappers.episode_tracking_wrapper import EpisodeTrackingWrapper
from gem.wrappers.observation_wrapper import ObservationWrapper
from gem.wrappers.wrapper_factory import get_wrapper_fns

ID = "game:GuessTheNumber-v0-easy"
assert ID in ENV_REGISTRY

env = make(env_id=ID, seed=3)
env = EpisodeTrackingWrapper(ObservationWrapper(env, True, False))
observation, info = env.reset()
done = False
while not done:
    action = env.sample_random_action()
    assert extract_last_boxed_answer(action)
    next_observation, reward, terminated, truncated, info = env.step(action)
    done = terminated or truncated
assert info["cumulative_rewards"] <= LanguageGameReward.success_reward
assert next_observation.startswith(observation.split("\\n")[0])

env = GuessTheNumberEnv(min_number=1, max_number=10, max_turns=2)
env.reset(seed=3)
flags = [env.step("\\\\boxed{99}")[2:4] for _ in range(2)]
assert flags == [(False, False), (True, True)]
run_and_print_episode(gem.make(ID, seed=1), lambda observation: "\\\\boxed{99}")

wrappers = get_wrapper_fns("concat,episode_tracking", tokenizer=None)
seeds = [{"seed": 1}, {"seed": 2}]
for is_async, kind in ((False, SyncVectorEnv), (True, AsyncVectorEnv)):
    for vector in (
        make_vec([ID] * 2, wrappers=wrappers, vec_kwargs=seeds, async_mode=is_async),
        kind(env_ids=[ID] * 2, env_fns=[lambda: gem.make(ID)] * 2),
    ):
        vector.reset()
        for _ in range(4):
            observations, rewards, terminated, truncated, infos = vector.step(["\\\\boxed{99}"] * 2)
        assert terminated.all() and truncated.all()
        vector.close()

question = gem.make("math:Arithmetic-v0", seed=1)
question.reset()
observation, reward, terminated, truncated, info = question.step("\\\\boxed{x}")
assert (observation, terminated, truncated, info["correct"]) == (TERMINAL_STATE, True, True, False)
print("done")
"""


def test_a_script_of_a_user_runs_unmodified(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": "/usr/bin:/bin", "GEM_COMPAT": "1"},
        cwd=tmp_path,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == ["done"], done.stderr

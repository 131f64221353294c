"""Every row of docs/drop-in.md's calls, arguments and ids is true: what it says is run."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest

import gem

PAGE = Path(__file__).parents[1] / "docs" / "drop-in.md"

CALLS = {
    "gem.make(env_id=..., seed=...)": """
        env = gem.make(env_id="game:GuessTheNumber-v0", seed=3)
        assert env.reset() == gem.make("game:GuessTheNumber-v0").reset(seed=3)
    """,
    'gem.register("name", entry_point="module:Class")': """
        gem.register("bare_name", entry_point="gem.testing.envs:Coin")
        assert gem.make("bare_name").spec.id == "local:bare_name"
    """,
    "gem.make_vec([ids], vec_kwargs=[...], wrappers=..., async_mode=...)": """
        ids, there = ["game:GuessTheNumber-v0"] * 2, [{"seed": 3, "max_number": 5}, {}]
        one = gem.make_vec(ids, vec_kwargs=there, wrappers=["concat"], async_mode=True)
        here = [{"max_number": 5}, {}]
        other = gem.make_vec(ids, vec_kwargs=here, wrappers=["concat"], backend="thread", seed=3)
        with one, other:
            assert type(one) is type(other)
            assert list(one.reset()[0]) == list(other.reset()[0])
            actions = ["\\\\boxed{2}"] * 2
            assert list(one.step(actions)[0]) == list(other.step(actions)[0])
    """,
    "gem.make_vec(env_ids=[...])": """
        with gem.make_vec(env_ids=["game:GuessTheNumber-v0"]) as vector:
            assert len(vector) == 1
    """,
    "gem.make_vec(..., env0_kwargs={...}, env1_kwargs={...})": """
        ids, kwargs = ["game:GuessTheNumber-v0"] * 2, [{"max_number": 3}, {"max_number": 4}]
        older = gem.make_vec(ids, seed=1, env0_kwargs=kwargs[0], env1_kwargs=kwargs[1])
        today = gem.make_vec(ids, seed=1, vec_kwargs=kwargs)
        with older, today:
            assert list(older.reset()[0]) == list(today.reset()[0])
    """,
    "gem.print_envs()": """
        gem.print_envs()
    """,
    'gem.make("unknown") raises a ValueError': """
        try:
            gem.make("unknown")
        except ValueError as error:
            assert type(error) is gem.errors.UnknownEnv
        else:
            raise AssertionError
    """,
    "from gem import Env, gem.core.Env, gem.core.EnvWrapper": """
        from gem import Env
        import gem.core
        assert (gem.core.Env, gem.core.EnvWrapper) == (Env, gem.Wrapper)
    """,
    "gem.core.ActType, gem.core.ObsType": """
        from gem.core import ActType, ObsType
        assert (ActType, ObsType) == (gem.Action, gem.Observation)
    """,
    "env.reset(idx=3)": """
        env = gem.make("eval:QaOpen", data=[{"question": f"{n}?", "answer": "x"} for n in range(5)])
        assert env.reset(idx=3) == env.reset(task=3)
    """,
    "env.sample_random_action(), env.spawn()": """
        env = gem.make("game:GuessTheNumber-v0", seed=3)
        env.reset()
        twin = env.spawn()
        assert twin.sample_random_action() == env.sample_action()
        assert twin.step(env.solve()) == env.fork().step(env.solve())
    """,
    "env.spawn(same_state=False, seed=5)": """
        env = gem.make("game:GuessTheNumber-v0", seed=3)
        env.reset()
        assert env.spawn(same_state=False, seed=5).reset() == env.reset(seed=5)
    """,
    "env.get_state(), env.set_state(state)": """
        env = gem.make("game:GuessTheNumber-v0", seed=3)
        env.reset()
        state = env.get_state()
        first = env.step("\\\\boxed{1}")
        env.set_state(state)
        assert env.step("\\\\boxed{1}") == first
        assert type(state) is gem.Snapshot
    """,
    "gem.wrappers.wrapper_factory.get_wrapper_fns(names, tokenizer=...)": """
        from gem.wrappers.wrapper_factory import get_wrapper_fns
        env = gem.make("game:GuessTheNumber-v0", seed=3)
        for wrap in get_wrapper_fns("concat,episode_tracking", tokenizer=None):
            env = wrap(env)
        today = gem.make("game:GuessTheNumber-v0", seed=3, wrappers=["concat", "episode_tracking"])
        assert env.reset() == today.reset()
    """,
    'gem.wrappers.wrapper_factory.WRAPPER_FACTORY["concat"]': """
        from gem.wrappers.wrapper_factory import WRAPPER_FACTORY
        env = WRAPPER_FACTORY["concat"](gem.make("game:GuessTheNumber-v0", seed=3))
        today = gem.make("game:GuessTheNumber-v0", seed=3, wrappers=["concat"])
        assert env.reset() == today.reset()
    """,
}

SOURCES = {"math", "qa", "logic", "code"}  # and `eval:` of each of their packs
BY_NAME: Mapping[str, tuple[str, set[str]]] = {
    "dataset": ("data", {*SOURCES, "eval"}),
    "dataset_name": ("source.hub", {*SOURCES, "eval"}),
    "question_key": ("fields.question", {*SOURCES, "eval"}),
    "answer_key": ("fields.answer", {"math", "qa", "logic", "eval"}),
    "test_key": ("fields.tests", {"code", "eval"}),
    "image_key": ("fields.images", {"math"}),
    "extract_boxed": ("answer_form", {"qa", "logic", "eval"}),
    "size": ("", {"rg"}),
    "use_mp": ("", {*SOURCES, "eval", "rg"}),
    "verbose": ("", {*SOURCES, "eval", "rg"}),
    "max_steps": ("", {*SOURCES, "eval"}),
    "max_workers": ("", {"code", "eval"}),
    "load_from_cache_file": ("", {"qa", "logic", "eval"}),
    "room_size": ("dim_room", {"game"}),
}
"""What each argument of earlier releases is today, and the namespaces that take it."""


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the rows of the table under a heading, without the marks of code."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    return [[cell.strip().replace("`", "") for cell in line.split("|")[1:-1]] for line in lines[1:]]


def test_every_call_of_the_page_is_run_here() -> None:
    assert [call for call, _ in rows("Calls")] == list(CALLS)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_what_the_page_says(call: str) -> None:
    program = re.sub(r"^ {8}", "", CALLS[call], flags=re.MULTILINE)
    says = next(here for there, here in rows("Calls") if there == call)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        exec(program, {"gem": gem})  # noqa: S102 - a program of this file
    warned = {warning.category for warning in seen}
    assert warned == ({DeprecationWarning} if "with a warning" in says else set())


def test_every_argument_of_the_page_is_known_here() -> None:
    named = re.findall(r"(\w+)=", " ".join(row[0] for row in rows("Arguments and ids")))
    assert sorted(named) == sorted([*BY_NAME, "split"])


@pytest.mark.parametrize("name", BY_NAME)
def test_an_argument_is_what_the_page_says(name: str) -> None:
    instead, namespaces = BY_NAME[name]
    taking = [spec for spec in gem.list_envs() if name in spec.obsolete_kwargs]
    assert {spec.namespace for spec in taking} == namespaces
    assert {spec.obsolete_kwargs[name].instead for spec in taking} == {instead}


def test_the_older_ids_of_the_page_are_made() -> None:
    [there] = [row[0] for row in rows("Arguments and ids") if row[0].startswith("game:")]
    names = re.findall(r"[A-Z]\w+", there)
    assert len(names) == 7
    for name in names:
        with pytest.warns(DeprecationWarning, match="the id of an earlier release"):
            env = gem.make(f"game:{name}-v0", seed=1)
        assert env.reset()[0]
        assert gem.spec(f"game:{name}-v0") not in gem.list_envs("game:*")

"""Code that was written for the published package runs here, or is told what replaces it."""

from __future__ import annotations

import importlib
import importlib.util
import random
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, UnknownWrapper


def test_the_published_paths_have_the_published_names() -> None:
    core = importlib.import_module("gem.core")
    factory = importlib.import_module("gem.wrappers.wrapper_factory")

    assert (core.Env, core.EnvWrapper) == (gem.Env, gem.Wrapper)
    assert (core.ActType, core.ObsType) == (gem.Action, gem.Observation)
    assert callable(factory.get_wrapper_fns)


def test_the_factory_has_every_wrapper_by_name() -> None:
    factory = importlib.import_module("gem.wrappers.wrapper_factory").WRAPPER_FACTORY

    assert set(factory) >= {"concat", "concat_chat", "episode_tracking"}
    assert len(factory) == len(list(factory))
    assert isinstance(factory["concat"](Published()), gem.Wrapper)
    assert factory.get("concta") is None


def test_a_path_that_nobody_had_is_simply_not_there() -> None:
    assert importlib.util.find_spec("gem.nothing") is None
    assert importlib.util.find_spec("gem.tools.nothing") is None


class Published(gem.Env):
    """An environment as they were written for the published package, seed and all."""

    def __init__(self, dim: tuple[int, ...] = (2, 2), **_: Any) -> None:
        super().__init__()
        self.dim = dim

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        gem.Env.reset(self, seed)
        self.secret = random.Random(seed).randrange(100)
        return f"{self.secret} {list(self.dim)}", {"env_instruction": "Play."}

    def step(self, action: str) -> Any:
        return "over", 1, True, True, {"said": action}


def test_an_environment_is_registered_under_a_bare_name() -> None:
    gem.register("sokoban", entry_point=f"{__name__}:Published")

    env = gem.make(env_id="sokoban", seed=3, dim=[4, 4])
    observation, info = env.reset()
    assert observation == Published(dim=(4, 4)).reset(seed=3)[0]
    assert info == {"env_instruction": "Play."}
    assert env.step(action="up") == ("over", 1, True, True, {"said": "up"})


def test_a_bare_name_is_an_id_of_its_own_namespace() -> None:
    spec = gem.register("frozen_lake", entry_point=Published)

    assert spec.id == "local:frozen_lake"
    assert gem.make("local:frozen_lake").spec == gem.make("frozen_lake").spec


def test_a_bare_name_that_is_unknown_is_named_as_it_was_asked_for() -> None:
    with pytest.raises(gem.GemError, match="'nowhere'"):
        gem.make("nowhere")


def test_wrapper_functions_come_from_a_list_of_names() -> None:
    factory = importlib.import_module("gem.wrappers.wrapper_factory")
    env: gem.Env = Published()
    for wrap in factory.get_wrapper_fns("concat, episode_tracking", tokenizer=None):
        env = wrap(env)

    observation, _ = env.reset(seed=3)
    assert observation == Published().reset(seed=3)[0]
    assert isinstance(env, gem.Wrapper)
    assert env.step("x").terminated


def test_no_names_are_no_wrappers() -> None:
    factory = importlib.import_module("gem.wrappers.wrapper_factory")

    assert factory.get_wrapper_fns("") == []


def test_wrappers_that_take_a_tokenizer_are_given_it() -> None:
    factory = importlib.import_module("gem.wrappers.wrapper_factory")
    tokenizer = object()

    [wrap] = factory.get_wrapper_fns("concat_chat", tokenizer=tokenizer)
    assert wrap.keywords == {"tokenizer": tokenizer}


def test_an_unknown_wrapper_is_refused_at_once() -> None:
    factory = importlib.import_module("gem.wrappers.wrapper_factory")

    with pytest.raises(UnknownWrapper, match="concta"):
        factory.get_wrapper_fns("concta")


@pytest.mark.vector
def test_a_vector_takes_arguments_of_each_environment() -> None:
    gem.register("old:Dim", entry_point=Published)
    given: list[dict[str, Any]] = [{"seed": 5, "dim": [1]}, {"seed": 6, "dim": [2]}]

    firsts = []
    for is_async in (False, True):
        vector = gem.make_vec(["old:Dim"] * 2, vec_kwargs=given, async_mode=is_async)
        with vector:
            firsts.append(vector.reset()[0])
    assert [str(each).split()[1] for each in firsts[0]] == ["[1]", "[2]"]
    assert firsts[0] == firsts[1]


@pytest.mark.vector
def test_a_vectors_arguments_are_as_many_as_its_environments() -> None:
    gem.register("old:Dim", entry_point=Published)

    with pytest.raises(BadArguments, match="vec_kwargs for 1 environments, and makes 2"):
        gem.make_vec(["old:Dim"] * 2, vec_kwargs=[{}])

"""What a process registers, under an id that no pack has."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from gem.errors import (
    BadArguments,
    IdConflict,
)
from gem.registry import list_envs, register, spec
from gem.registry._making import make
from gem.specs import EnvSpec

from .envs import Install, Words


def test_a_class_can_be_registered() -> None:
    found = register("demo:Local", Words, size=4)
    assert found == spec("demo:Local")
    assert (found.target, found.kwargs) == (f"{Words.__module__}:Words", {"size": 4})
    env = make("demo:Local")
    assert isinstance(env, Words)
    assert (env.size, env.letters) == (4, ("a", "b"))


@pytest.mark.parametrize(
    "target",
    [lambda size=1: Words(size), functools.partial(Words, 8), functools.lru_cache(Words)],
)
def test_any_callable_can_be_registered(target: Any) -> None:
    register("demo:Local", target)
    assert isinstance(make("demo:Local"), Words)


def test_a_live_default_stays_live_and_is_recorded_as_opaque() -> None:
    table = [object()]
    found = register("demo:Local", Words, table=table)
    assert found.kwargs == {"table": {"$opaque": "builtins.list"}}
    env = make("demo:Local")
    assert env.table is table  # type: ignore[attr-defined]
    assert env.spec is not None
    assert make(env.spec).table is table  # type: ignore[attr-defined]


def test_a_spec_can_be_registered() -> None:
    whole = EnvSpec(id="demo:Whole", target="words_here:Words", kwargs={"size": 2}, summary="S.")
    assert register(whole) == whole == spec("demo:Whole")
    assert make("demo:Whole").size == 2  # type: ignore[attr-defined]
    changed = register(whole, Words, size=6)
    assert changed.kwargs == {"size": 6}
    assert make("demo:Whole").size == 6  # type: ignore[attr-defined]


def test_registering_again_replaces(words: str) -> None:
    register(words, "words_here:Words", size=9)
    assert make(words).size == 9  # type: ignore[attr-defined]
    assert len(list_envs(words)) == 1


def test_an_id_of_an_installed_pack_is_refused(install: Install) -> None:
    install("acme-more", envs={"acme:A-v0": "a:b"})
    with pytest.raises(IdConflict, match="already provided by acme-more") as caught:
        register("acme:A-v0", Words)
    assert caught.value.distributions == ("acme-more",)


def test_a_registration_without_a_target_is_refused() -> None:
    with pytest.raises(BadArguments, match="needs a target"):
        register("demo:Nothing")


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (5, "5, which cannot be called. Give a subclass of gem.Env"),
        (dict, "dict, which is a class and no gem.Env"),
        (Words(), "Words, which is a live instance"),
    ],
)
def test_what_makes_no_environment_is_refused(target: Any, problem: str) -> None:
    with pytest.raises(BadArguments, match=rf"register\('demo:Odd'\) was given {problem}"):
        register("demo:Odd", target)


@pytest.mark.parametrize("id", ["", "A:b", "a:", ":b", "a:b c", "a:b\n", "a::b"])
def test_an_id_of_another_shape_is_refused(id: str) -> None:
    with pytest.raises(BadArguments, match="does not describe an environment"):
        register(id, Words)

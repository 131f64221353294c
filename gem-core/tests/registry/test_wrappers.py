"""From a list of wrappers to a stack: how each is given, and the order that works."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import gem
from gem.env import Env
from gem.errors import (
    BadArguments,
    MissingRequirement,
    TargetError,
    WrapperOrderError,
)
from gem.registry import register, wrapper_spec
from gem.registry._making import make
from gem.specs import EnvSpec, WrapperRef
from gem.wrappers._concat import Concat

from .envs import Install, Prefix, Unconcat, Words, stack_of


@pytest.mark.parametrize(
    "like",
    [
        "words_here:Prefix",
        WrapperRef(id="words_here:Prefix"),
        {"id": "words_here:Prefix"},
        Prefix,
        functools.partial(Prefix, prefix=">"),
        lambda env: Prefix(env, ">"),
    ],
)
def test_a_wrapper_is_given_in_any_of_these_ways(words: str, like: Any) -> None:
    env = make(words, wrappers=[like])
    assert stack_of(env) == ["Prefix"]
    env.reset()
    assert str(env.step("a").observation).startswith(">a")


@pytest.mark.parametrize(
    "like",
    [
        {"id": "words_here:Prefix", "prefix": "#"},
        {"id": "words_here:Prefix", "kwargs": {"prefix": "#"}},
        WrapperRef(id="words_here:Prefix", kwargs={"prefix": "#"}),
    ],
)
def test_a_wrapper_s_arguments_are_given_and_recorded(words: str, like: Any) -> None:
    env = make(words, wrappers=[like, {"id": "time_limit", "max_turns": 4}])
    assert env.prefix == "#"  # type: ignore[attr-defined]
    assert env.spec is not None
    assert [each.model_dump() for each in env.spec.wrappers] == [
        {"id": "words_here:Prefix", "kwargs": {"prefix": "#"}},
        {"id": "time_limit", "kwargs": {"max_turns": 4}},
    ]


def test_the_first_wrapper_is_the_innermost(words: str) -> None:
    env = make(words, wrappers=[{"id": "time_limit", "max_turns": 2}, Prefix])
    assert stack_of(env) == ["TimeLimit", "Prefix"]


@pytest.mark.parametrize("like", [5, None, {}, {"name": "x"}, {"id": 5}, WrapperRef])
def test_what_is_no_wrapper_is_refused(words: str, like: Any) -> None:
    with pytest.raises((BadArguments, TypeError, gem.GemError)):
        make(words, wrappers=[like])


@pytest.mark.parametrize("like", ["concat", {"id": "concat"}, 5, None])
def test_wrappers_are_a_list(words: str, like: Any) -> None:
    with pytest.raises(BadArguments, match="a list of wrappers is needed"):
        make(words, wrappers=like)


def test_a_wrapper_s_wrong_arguments_are_refused_before_anything_is_made() -> None:
    made = []

    def target() -> Env:
        made.append(1)
        return Words()

    register("demo:Local", target)
    for wrong in (
        {"id": "words_here:Prefix", "prefix": 5},
        {"id": "words_here:Prefix", "env": 5},
        {"id": "time_limit"},
        "no_such_module_here:A",
        "concatt",
    ):
        with pytest.raises(gem.GemError):
            make("demo:Local", wrappers=[wrong])
    with pytest.raises(WrapperOrderError):
        make("demo:Local", wrappers=["concat", "concat"])
    assert made == []


@pytest.mark.parametrize("like", ["words_here:no_env", lambda env: 5])
def test_a_wrapper_that_makes_no_environment_is_refused(words: str, like: Any) -> None:
    with pytest.raises(TargetError, match=r"made a int, and must make a gem.Env"):
        make(words, wrappers=[like])


def test_a_wrapper_s_requirements_are_checked(install: Install, words: str) -> None:
    install(
        "acme-wrapper",
        manifest="""
            from gem.specs import PluginManifest, WrapperSpec

            plugin = PluginManifest(
                name="acme-wrapper",
                wrappers=(WrapperSpec(id="heavy", target="a:b", requires=("absent-package",)),),
            )
            """,
    )
    with pytest.raises(MissingRequirement, match="heavy needs absent-package"):
        make(words, wrappers=["heavy"])


@pytest.fixture
def layered(install: Install) -> None:
    """Provide a wrapper of each layer, all of them the same class."""
    install(
        "acme-layers",
        manifest="""
            from gem.specs import PluginManifest, WrapperSpec

            plugin = PluginManifest(
                name="acme-layers",
                wrappers=tuple(
                    WrapperSpec(id=layer[0], target="gem.env._wrapper:Wrapper", layer=layer)
                    for layer in ("tool", "observation", "prompt", "any")
                ),
            )
            """,
    )


@pytest.mark.parametrize("order", ["t", "tt", "too", "top", "op", "taoap", "aapaa", "oo", ""])
def test_an_order_that_works_is_made(layered: None, words: str, order: str) -> None:
    assert len(stack_of(make(words, wrappers=list(order)))) == len(order)


@pytest.mark.parametrize("order", ["ot", "pt", "po", "pp", "pap", "oat", "topt"])
def test_an_order_that_cannot_work_is_refused(layered: None, words: str, order: str) -> None:
    with pytest.raises(WrapperOrderError, match="From the inside: tools, then") as caught:
        make(words, wrappers=list(order))
    assert caught.value.wrappers == tuple(order)
    inner = make(words, wrappers=list(order[:-1]))
    assert inner.spec is not None
    with pytest.raises(WrapperOrderError):
        make(inner.spec, wrappers=list(order[-1]))


def test_the_order_of_classes_is_enforced_too(words: str) -> None:
    for second in ("concat", Concat, functools.partial(Concat), "gem.wrappers._concat:Concat"):
        with pytest.raises(WrapperOrderError, match="inside it is one of the layer 'prompt'"):
            make(words, wrappers=[Concat, second])
    assert stack_of(make(words, wrappers=[Concat, Unconcat])) == ["Concat", "Unconcat"]


def test_a_target_that_a_plugin_provides_is_known_by_its_id() -> None:
    assert wrapper_spec("gem.wrappers._concat:Concat") == wrapper_spec("concat")


def test_a_target_that_no_plugin_provides_is_its_own_id() -> None:
    found = wrapper_spec("words_here:Unconcat")
    assert (found.id, found.target, found.layer) == (
        "words_here:Unconcat",
        "words_here:Unconcat",
        "any",
    )
    assert found.rewrites_history
    assert not wrapper_spec("words_here:Prefix").rewrites_history


def test_a_wrapper_s_spec_says_whether_the_stack_blocks() -> None:
    register(EnvSpec(id="demo:Quick", target="words_here:Words", blocking=False))
    quick = make("demo:Quick", wrappers=["concat"])
    slow = make("demo:Quick", wrappers=["words_here:Prefix"])
    two = make("demo:Quick", wrappers=["words_here:two_layers"])
    assert [each.spec and each.spec.blocking for each in (quick, slow, two)] == [False, True, True]


def test_a_class_that_is_no_wrapper_is_refused(words: str) -> None:
    with pytest.raises(BadArguments, match="EnvSpec is a class and no gem"):
        gem.make(words, wrappers=["gem.specs:EnvSpec"])

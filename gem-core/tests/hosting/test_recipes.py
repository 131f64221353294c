"""Recipes: what another process can make, and what is refused by name."""

from __future__ import annotations

import functools
import sys
from typing import Any

import pytest

import gem
from gem.env import Env
from gem.env._wrapper import Wrapper
from gem.errors import OpaqueError, UnknownEnv
from gem.hosting._recipes import Recipe
from gem.specs import WrapperRef
from gem.testing.envs import Echo, Guess
from gem.wrappers._concat import Concat


def test_a_recipe_is_what_make_takes() -> None:
    gem.register("rec:Guess", Guess, highest=9)
    spec, wrappers, kwargs = Recipe("rec:Guess", ["concat"], {"max_turns": 2}).as_data()

    with gem.make(spec, wrappers=wrappers, **kwargs) as env:
        assert env.spec is not None
        assert dict(env.spec.kwargs) == {"highest": 9, "max_turns": 2}
        assert [ref.id for ref in env.spec.wrappers] == ["concat"]


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(UnknownEnv):
        Recipe("rec:None").as_data()


@pytest.mark.parametrize(
    ("layer", "plain"),
    [
        ("concat", {"id": "concat", "kwargs": {}}),
        (
            {"id": "time_limit", "max_turns": 3},
            {"id": "time_limit", "kwargs": {"max_turns": 3}},
        ),
        (
            {"id": "time_limit", "kwargs": {"max_turns": 3}},
            {"id": "time_limit", "kwargs": {"max_turns": 3}},
        ),
        (
            WrapperRef(id="time_limit", kwargs={"max_turns": 3}),
            {"id": "time_limit", "kwargs": {"max_turns": 3}},
        ),
        (Concat, {"id": "gem.wrappers._concat:Concat"}),
    ],
)
def test_a_wrapper_becomes_data(layer: Any, plain: object) -> None:
    gem.register("rec:Echo", Echo)

    assert Recipe("rec:Echo", [layer]).as_data().wrappers == (plain,)


@pytest.mark.parametrize(
    ("layer", "what"),
    [
        (lambda env: env, "<lambda>"),
        (functools.partial(Concat), "functools:partial"),
        ({"id": "transform_reward", "function": len}, "transform_reward"),
    ],
)
def test_a_live_wrapper_is_refused_by_name(layer: Any, what: str) -> None:
    gem.register("rec:Echo", Echo)

    with pytest.raises(OpaqueError, match=what):
        Recipe("rec:Echo", [layer]).as_data()


def test_a_live_argument_is_refused_by_name() -> None:
    gem.register("rec:Echo", Echo)

    with pytest.raises(OpaqueError, match="'table'"):
        Recipe("rec:Echo", (), {"table": object()}).as_data()


def test_what_was_registered_live_is_refused_by_name_unless_it_is_inherited() -> None:
    gem.register("rec:Live", Guess, highest=object())

    with pytest.raises(OpaqueError, match="'highest'"):
        Recipe("rec:Live").as_data()
    assert Recipe("rec:Live").as_data(is_inherited=True).spec["id"] == "rec:Live"


def test_a_class_that_no_import_finds_is_refused_unless_it_is_inherited() -> None:
    class Local(Env):
        pass

    gem.register("rec:Local", Local)

    with pytest.raises(OpaqueError, match="Put it into a module"):
        Recipe("rec:Local").as_data()
    assert Recipe("rec:Local").as_data(is_inherited=True).spec["id"] == "rec:Local"


@pytest.mark.parametrize("kind", [Env, Wrapper])
def test_what_the_script_defines_is_refused(
    kind: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = type("Own", (kind,), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Own", own, raising=False)
    gem.register("rec:Echo", Echo)
    gem.register("rec:Own", "__main__:Own")
    env, layers = ("rec:Own", []) if kind is Env else ("rec:Echo", [own])

    with pytest.raises(OpaqueError, match="'__main__:Own' is not found by an import"):
        Recipe(env, layers).as_data()

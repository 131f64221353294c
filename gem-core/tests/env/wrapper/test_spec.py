"""A stack of wrappers as data: the spec that its outermost layer carries."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.env._wrapper import Wrapper
from gem.errors import OpaqueError
from gem.specs import WrapperRef

from .layers import SPEC, Echo, History, Limit, Loud, made


def test_a_stack_says_what_it_is_made_of() -> None:
    gem.register("demo:Echo", Echo)
    assert repr(gem.make("demo:Echo", wrappers=[Loud])) == "<Loud <Echo demo:Echo>>"
    assert repr(Loud(Echo())) == "<Loud <Echo made by hand>>"


def test_a_stack_of_something_made_by_hand_has_no_spec() -> None:
    assert Wrapper(Echo()).spec is None


@pytest.mark.parametrize(
    ("wrap", "kwargs"),
    [
        (Limit, {}),
        (lambda env: Limit(env, 3), {"limit": 3}),
        (lambda env: Limit(name="y", env=env, colour="red"), {"name": "y", "colour": "red"}),
        (lambda env: Limit(env, rest=1), {"rest": 1}),
        (lambda env: Limit(env, name=object()), {"name": {"$opaque": "builtins.object"}}),  # type: ignore[arg-type]
    ],
)
def test_the_outermost_spec_carries_the_stack(wrap: Any, kwargs: dict[str, Any]) -> None:
    env = wrap(Loud(made()))
    assert env.spec.wrappers == (
        WrapperRef(id=f"{Loud.__module__}:Loud"),
        WrapperRef(id=f"{Limit.__module__}:Limit", kwargs=kwargs),
    )
    assert env.env.spec.wrappers == env.spec.wrappers[:1]
    assert env.unwrapped.spec is SPEC


def test_the_spec_is_built_once_for_each_inner_spec() -> None:
    env = Limit(made())
    first = env.spec
    assert env.spec is first
    env.env.spec = SPEC.model_copy(update={"summary": "Another."})
    assert env.spec is not None
    assert env.spec.summary == "Another."


def test_a_stack_blocks_if_any_layer_does() -> None:
    env = Wrapper(made())
    assert env.spec is not None
    assert env.spec.blocking
    other = Wrapper(made())
    other._blocks = False
    assert other.spec is not None
    assert not other.spec.blocking
    assert Wrapper(other).spec.blocking  # type: ignore[union-attr]


def test_a_spec_may_be_set_for_a_stack_that_one_target_made() -> None:
    env = Wrapper(Echo())
    env.spec = SPEC
    assert env.spec is SPEC
    assert Loud(env).spec.wrappers == (WrapperRef(id=f"{Loud.__module__}:Loud"),)  # type: ignore[union-attr]
    assert env.fork().spec is SPEC


def test_making_from_a_spec_with_a_live_object_is_refused_by_name() -> None:
    gem.register("demo:Stacked", Echo)
    env = History(gem.make("demo:Stacked"), extra=object())
    assert env.spec is not None
    with pytest.raises(OpaqueError, match="'extra'"):
        gem.make(env.spec)

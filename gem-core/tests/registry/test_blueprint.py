"""One environment, ready to be made: here, or as data elsewhere."""

from __future__ import annotations

import json
import sys
from types import FrameType
from typing import Any

import pytest

import gem
from gem.errors import OpaqueError, TargetError
from gem.registry import blueprint_of
from gem.registry._blueprint import Blueprint
from gem.testing.envs import Guess

SPEC = gem.EnvSpec(id="demo:Guess", target="gem.testing.envs:Guess", kwargs={"highest": 31})


def test_a_blueprint_builds_the_environment_that_make_makes() -> None:
    env = Blueprint(SPEC, overrides={"highest": 7}).build()

    assert isinstance(env, Guess)
    assert env.spec == gem.make(SPEC, highest=7).spec
    assert env.reset(seed=3) == gem.make(SPEC, highest=7).reset(seed=3)


def test_thousands_of_environments_share_the_spec_that_says_all_of_them() -> None:
    assert Blueprint(SPEC).build().spec is SPEC


def test_its_data_makes_an_equal_environment_elsewhere() -> None:
    spec, overrides = json.loads(json.dumps(Blueprint(SPEC, overrides={"highest": 7}).as_data()))

    assert gem.make(spec, **overrides).spec == gem.make(SPEC, highest=7).spec


def test_a_live_argument_is_at_hand_here_and_refused_by_name_elsewhere() -> None:
    class Holds(Guess):
        def __init__(self, judge: object) -> None:
            super().__init__()
            self.judge = judge

    judge = object()
    found = gem.register("demo:Holds", Holds, judge=judge)
    blueprint = blueprint_of(found)

    assert blueprint.build().judge is judge  # type: ignore[attr-defined]
    with pytest.raises(OpaqueError, match="pass judge= yourself"):
        blueprint.as_data()
    assert blueprint.as_data(is_inherited=True) == (found.model_dump(mode="json"), {})


def test_what_makes_no_environment_is_refused() -> None:
    with pytest.raises(TargetError, match="made a str, and must make"):
        Blueprint(gem.EnvSpec(id="demo:Text", target="builtins:str")).build()


LOOKUPS = ("_catalogue", "_installed", "_registering")


def test_the_registry_is_asked_for_an_environment_once_and_before_it_is_built() -> None:
    stays: list[str] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        room, _, module = frame.f_globals.get("__name__", "").rpartition(".")
        if event == "call" and room == "gem.registry":
            stay = "lookup" if module in LOOKUPS else module
            if stays[-1:] != [stay]:
                stays.append(stay)

    gem.register(SPEC)
    gem.make("demo:Guess")  # imports what it needs
    sys.setprofile(watch)
    try:
        gem.make("demo:Guess")
    finally:
        sys.setprofile(None)

    assert stays[:2] == ["_making", "lookup"]
    assert stays.count("lookup") == 1
    assert stays.index("lookup") < stays.index("_blueprint")

"""From the spec of a stack to the same stack again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gem.env import Env
from gem.env._snapshot import Snapshot
from gem.errors import (
    OpaqueError,
)
from gem.registry import register
from gem.registry._making import make
from gem.specs import EnvSpec

from .envs import Words, stack_of

STACK: list[Any] = [
    {"id": "words_here:Prefix", "prefix": "#"},
    "words_here:two_layers",
    "words_here:nothing",
    "episode_tracking",
    {"id": "time_limit", "max_turns": 3},
    "concat",
]
NAMES = ["Prefix", "Prefix", "Prefix", "EpisodeTracking", "TimeLimit", "Concat"]


def test_the_spec_rebuilds_the_whole_stack(words: str) -> None:
    env = make(words, seed=5, wrappers=STACK, size=2)
    assert env.spec is not None
    plain = json.loads(json.dumps(env.spec.model_dump(mode="json")))
    likes: list[Any] = [env.spec, plain, env.snapshot().spec]
    for like in likes:
        again = make(like, seed=5)
        assert again.spec == env.spec
        assert stack_of(again) == NAMES
        assert again.size == 2  # type: ignore[attr-defined]
        assert again.reset() == make(words, seed=5, wrappers=STACK).reset()
    assert [each["id"] for each in plain["wrappers"]] == [
        "words_here:Prefix",
        "words_here:two_layers",
        "episode_tracking",
        "time_limit",
        "concat",
    ]


def test_a_spec_stored_with_hints_beside_check_makes_its_environment(words: str) -> None:
    spec = make(words, size=2).spec
    assert spec is not None
    stored = {**spec.model_dump(mode="json", exclude={"check"}), "winnable": False, "bound": 0.5}

    assert make(stored).spec == spec


def test_a_snapshot_restores_into_the_stack_that_its_spec_makes(words: str) -> None:
    env = make(words, wrappers=STACK)
    env.reset(seed=5)
    env.step("a")
    saved = Snapshot.from_json(env.snapshot().to_json())
    assert saved.spec is not None
    twin = make(saved.spec)
    twin.restore(saved)
    assert twin.step("b") == env.step("b")


def test_more_layers_can_be_put_around_a_spec_s_own(words: str) -> None:
    inner = make(words, wrappers=["words_here:Prefix"]).spec
    assert inner is not None
    outer = make(inner, wrappers=["concat"])
    assert stack_of(outer) == ["Prefix", "Concat"]


def test_several_layers_of_one_id_on_something_without_a_spec(words: str) -> None:
    register("demo:Bare", Words)

    def strip(env: Env) -> Env:
        env.spec = None
        return env

    env = make("demo:Bare", wrappers=[strip, "words_here:two_layers"])
    assert env.spec is None
    assert stack_of(env) == ["Prefix", "Prefix"]


def test_a_live_object_in_a_stack_is_refused_by_name_when_it_must_be_rebuilt(words: str) -> None:
    tokenizer = object()
    env = make(words, table=tokenizer)
    assert env.table is tokenizer  # type: ignore[attr-defined]
    assert env.spec is not None
    with pytest.raises(OpaqueError, match=r"made with a live builtins.object as 'table'"):
        make(env.spec)
    assert make(env.spec, table=tokenizer).table is tokenizer  # type: ignore[attr-defined]
    wrapped = make(words, wrappers=[{"id": "words_here:Prefix", "extra": tokenizer}])
    assert wrapped.extra is tokenizer  # type: ignore[attr-defined]
    assert wrapped.spec is not None
    with pytest.raises(OpaqueError, match="'extra'"):
        make(wrapped.spec)


def test_a_path_is_recorded_and_taken_back(words: str) -> None:
    env = make(words, path=Path("a/b"))
    assert env.spec is not None
    assert env.spec.kwargs["path"] == "a/b"
    assert make(env.spec).path == Path("a/b")  # type: ignore[attr-defined]


def test_a_spec_of_the_same_id_and_another_target_is_not_the_registered_one() -> None:
    register("demo:Local", lambda: Words(1))
    other = EnvSpec(id="demo:Local", target="words_here:Words", kwargs={"size": 9})
    assert make(other).size == 9  # type: ignore[attr-defined]

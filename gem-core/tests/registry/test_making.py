"""From a spec to an environment: arguments, seeds, requirements and targets."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.env import Env
from gem.env._snapshot import Snapshot
from gem.errors import (
    BadArguments,
    MissingRequirement,
    TargetError,
)
from gem.registry import _making as making
from gem.registry import register, spec
from gem.registry._making import make, resolve
from gem.specs import DataSource, EnvSpec
from gem.wrappers._time_limit import TimeLimit

from .envs import Install, Words


def test_a_policy_is_made_by_its_name(install: Install) -> None:
    install(
        "acme-policies",
        manifest="""
            from gem.specs import PluginManifest, PolicySpec

            plugin = PluginManifest(
                name="acme-policies",
                policies=(
                    PolicySpec(id="always", target="acme_policies.one:Always",
                               takes_argument="WORD"),
                    PolicySpec(id="plain", target="acme_policies.one:Always"),
                ),
            )
            """,
        files={
            "one.py": """
                class Always:
                    def __init__(self, word="yes", *, times: int = 1):
                        self.answer = word * times

                    def __call__(self, request):
                        return self.answer
            """
        },
    )
    made: Any = making.make_policy

    assert made("always:no", times=2)(None) == "nono"
    assert made("plain")(None) == "yes"
    with pytest.raises(BadArguments, match="takes no argument"):
        made("plain:no")
    with pytest.raises(BadArguments, match="Write always:WORD"):
        made("always")
    with pytest.raises(BadArguments, match="times"):
        made("plain", times="2")


def test_environments_made_alike_share_a_spec(words: str) -> None:
    assert gem.make(words).spec is gem.make(words).spec
    assert gem.make(words, size=7).spec != gem.make(words).spec


def test_arguments_override_those_of_the_spec(words: str) -> None:
    env = make(words, size=7, letters=["x"])
    assert isinstance(env, Words)
    assert (env.size, env.letters) == (7, ("x",))
    assert env.spec is not None
    assert env.spec.kwargs == {"size": 7, "letters": ["x"]}
    assert spec(words).kwargs == {"size": 5}


class Sourced(Env):
    """Remembers where its rows are from."""

    def __init__(self, *, source: DataSource | None = None) -> None:
        self.source = source

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "", {}


@pytest.mark.parametrize("change", [{"revision": "abc"}, DataSource(revision="abc")])
def test_of_a_source_only_the_given_fields_change(change: Any) -> None:
    declared = EnvSpec(
        id="demo:Sourced",
        target="test:Sourced",
        kwargs={"source": DataSource(hub="acme/sums", role="train")},
    )
    register(declared, Sourced)
    env = make("demo:Sourced", source=change)
    assert isinstance(env, Sourced)
    assert env.source == DataSource(hub="acme/sums", role="train", revision="abc")
    assert env.spec is not None
    merged = {"hub": "acme/sums", "role": "train", "revision": "abc"}
    assert env.spec.kwargs == {"source": merged}


def test_a_source_that_is_not_declared_is_taken_as_it_is() -> None:
    register("demo:Unsourced", Sourced)
    env = make("demo:Unsourced", source={"hub": "acme/sums"})
    assert isinstance(env, Sourced)
    assert env.source == DataSource(hub="acme/sums")


def test_a_source_is_left_out_by_null() -> None:
    register("demo:Sourced", Sourced, source=DataSource(hub="acme/sums"))
    env = make("demo:Sourced", source=None)
    assert isinstance(env, Sourced)
    assert env.source is None


def test_a_field_of_a_source_that_is_misspelt_is_refused() -> None:
    register("demo:Sourced", Sourced, source=DataSource(hub="acme/sums"))
    with pytest.raises(BadArguments, match="source="):
        make("demo:Sourced", source={"revison": "abc"})


def test_wrong_arguments_are_one_error_before_anything_is_made() -> None:
    made = []

    def target(size: int) -> Env:
        made.append(size)
        return Words(size)

    register("demo:Local", target)
    with pytest.raises(
        BadArguments, match=r"demo:Local cannot be made.*it takes no 'sizes'"
    ) as bad:
        make("demo:Local", sizes=1)
    assert bad.value.problems == ("it takes no 'sizes'", "'size' is missing")
    assert made == []


@pytest.mark.parametrize(
    "like",
    [
        5,
        None,
        {},
        {"id": "demo:A"},
        {"id": "demo:A", "target": 5},
        {"id": "demo:A", "target": "a:b", "wrappers": 5},
        [],
        {"id": "x" * 10**6},
    ],
    ids=lambda like: str(like)[:40],
)
def test_what_describes_no_environment_is_refused(like: Any) -> None:
    with pytest.raises(BadArguments, match="does not describe an environment") as caught:
        make(like)
    assert len(str(caught.value)) < 600


def test_a_seed_fixes_the_first_reset_and_what_follows(words: str) -> None:
    seeded, reset = make(words, seed=3), make(words)
    assert seeded.reset() == reset.reset(seed=3)
    assert seeded.reset() == reset.reset()
    assert make(words, seed=3).reset(seed=4) == make(words).reset(seed=4)
    late = make(words, seed=3)
    late.reset(seed=4)
    other = make(words)
    other.reset(seed=4)
    assert late.reset() == other.reset()


def test_a_seed_goes_through_wrappers(words: str) -> None:
    wrapped = make(words, seed=3, wrappers=["words_here:Prefix", "episode_tracking"])
    assert wrapped.reset()[0] == make(words).reset(seed=3)[0]


@pytest.mark.parametrize("seed", [True, "3", 3.0])
def test_a_seed_of_another_kind_is_refused_at_once(words: str, seed: Any) -> None:
    with pytest.raises(BadArguments, match="make was given seed="):
        make(words, seed=seed)


def test_requirements_come_before_any_import() -> None:
    register(EnvSpec(id="demo:Needs", target="no_such_module:A", requires=("absent-package>=2",)))
    with pytest.raises(MissingRequirement, match="demo:Needs needs absent-package>=2") as caught:
        make("demo:Needs")
    assert caught.value.command == 'pip install "absent-package>=2"'


def test_a_target_that_cannot_be_imported_is_refused() -> None:
    register("demo:Nowhere", "no_such_module_here:A")
    with pytest.raises(TargetError, match="'no_such_module_here:A' cannot be imported"):
        make("demo:Nowhere")


def test_a_target_that_makes_no_environment_is_refused() -> None:
    register("demo:Dict", "words_here:not_an_env")
    with pytest.raises(TargetError, match=r"made a dict, and must make a gem.Env") as caught:
        make("demo:Dict")
    assert caught.value.target == "words_here:not_an_env"


def test_a_target_may_make_a_whole_stack() -> None:
    register("demo:Stack", "words_here:stack")
    env = make("demo:Stack", seed=2)
    assert env.spec is not None
    assert (env.spec.id, env.spec.wrappers) == ("demo:Stack", ())
    assert env.reset()[0] == Words().reset(seed=2)[0]
    again = make(env.spec)
    assert type(again) is TimeLimit
    assert type(again.env) is Words
    again.restore(Snapshot.from_json(env.snapshot().to_json()))
    assert again.step("a") == env.step("a")


def test_resolving_takes_ids_specs_and_data(words: str) -> None:
    found = spec(words)
    assert resolve(words) == resolve(found) == resolve(found.model_dump(mode="json")) == found

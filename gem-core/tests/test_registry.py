"""From an id to a live stack: what is found, what is refused, and what the spec rebuilds."""

from __future__ import annotations

import functools
import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gem
from gem import making, registry
from gem.content import Observation
from gem.env import Env
from gem.errors import (
    BadArguments,
    IdConflict,
    MissingRequirement,
    OpaqueError,
    TargetError,
    UnknownEnv,
    UnknownPolicy,
    UnknownTool,
    UnknownWrapper,
    WrapperOrderError,
)
from gem.making import make, resolve
from gem.registry import list_envs, owner, register, spec, wrapper_spec
from gem.snapshot import Snapshot
from gem.specs import DataSource, EnvSpec, WrapperRef
from gem.step import Step
from gem.targets import load_target
from gem.wrapper import Wrapper
from gem.wrappers.concat import Concat
from gem.wrappers.time_limit import TimeLimit

Install = Callable[..., Path]
Started = tuple[Observation, dict[str, Any]]


class Words(Env):
    """Remembers what it was made with."""

    def __init__(
        self,
        size: int = 3,
        *,
        letters: tuple[str, ...] = ("a", "b"),
        table: Any = None,
        path: Path | None = None,
    ) -> None:
        self.size, self.letters, self.table, self.path = size, letters, table, path

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return str(self.rng.random()), {}

    def step(self, action: str) -> Step:
        return Step(f"{action} {self.rng.random()}", 0.0, False, False, {})


class Prefix(Wrapper):
    def __init__(self, env: Env, prefix: str = ">", *, extra: Any = None) -> None:
        super().__init__(env)
        self.prefix, self.extra = prefix, extra

    def on_step(self, action: str, step: Step) -> Step:
        return step._replace(observation=f"{self.prefix}{step.observation}")


class Unconcat(Concat):
    """A wrapper that no plugin provides."""


@pytest.fixture(autouse=True)
def _this_module_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let targets name these classes, whatever name pytest imports this file under."""
    here = types.ModuleType("words_here")
    here.__dict__.update({each.__name__: each for each in (Words, Prefix, Unconcat)})
    here.__dict__.update(not_an_env=dict, stack=lambda: TimeLimit(Words(), max_turns=2))
    here.__dict__.update(two_layers=lambda env, prefix=">": Prefix(Prefix(env, prefix), prefix))
    here.__dict__.update(nothing=lambda env: env, no_env=lambda env: 5)
    monkeypatch.setitem(sys.modules, "words_here", here)
    load_target.cache_clear()
    yield
    load_target.cache_clear()


@pytest.fixture
def words() -> str:
    return register("demo:Words-v0", "words_here:Words", size=5).id


# finding


def test_an_unknown_id_is_refused_with_what_is_near(words: str) -> None:
    with pytest.raises(UnknownEnv) as caught:
        make("demo:Wrods-v0")
    assert (caught.value.id, caught.value.suggestions[0]) == ("demo:Wrods-v0", words)
    said = str(caught.value)  # a pack that is installed may have one that is near as well
    start = "No installed pack provides the environment 'demo:Wrods-v0'. Did you mean "
    assert said.startswith(f"{start}'demo:Words-v0'")
    assert said.endswith("? Run `gem-env list` to see every one.")


@pytest.mark.parametrize(
    "id", ["demo:words-v0", "DEMO:WORDS-V0", "Words-v0", "words-v0", "demos:Words-v0", "demo:Word"]
)
def test_near_means_any_case_and_any_namespace(words: str, id: str) -> None:
    with pytest.raises(UnknownEnv) as caught:
        spec(id)
    assert words in caught.value.suggestions


def test_near_means_the_name_alone_too() -> None:
    id = register("a_namespace_of_great_length:Ox-v0", Words).id
    with pytest.raises(UnknownEnv) as caught:
        spec("ox-v0")
    assert caught.value.suggestions[0] == id


@pytest.mark.parametrize("id", ["", "zzzzqqqq", ":", "x" * 10_000, "\x00"])
def test_what_is_near_nothing_has_no_suggestion(id: str) -> None:
    with pytest.raises(UnknownEnv) as caught:
        spec(id)
    assert caught.value.suggestions == ()
    assert "Did you mean" not in str(caught.value)


def test_a_plugin_with_a_problem_is_mentioned(install: Install) -> None:
    install("acme-broken", manifest="raise RuntimeError")
    with pytest.raises(
        UnknownEnv, match="These plugins have a problem: acme-broken \\(see `gem-env"
    ):
        spec("acme:Words-v0")


def test_unknown_wrappers_and_policies_are_refused_alike() -> None:
    with pytest.raises(
        UnknownWrapper, match=r"the wrapper 'concatt'. Did you mean 'concat'"
    ) as near:
        wrapper_spec("concatt")
    assert "concat" in near.value.suggestions
    with pytest.raises(UnknownPolicy, match="provides the policy 'clairvoyant'"):
        registry.policy_spec("clairvoyant")
    with pytest.raises(UnknownTool, match="provides the tool 'abacus'"):
        registry.tool_spec("abacus")


def test_a_tool_is_found(install: Install) -> None:
    install(
        "acme-tool",
        manifest="""
            from gem.specs import PluginManifest, ToolSpec

            plugin = PluginManifest(
                name="acme-tool", tools=(ToolSpec(id="abacus", target="a:b"),)
            )
            """,
    )
    assert registry.tool_spec("abacus").target == "a:b"


def test_a_policy_is_found(install: Install) -> None:
    install(
        "acme-policy",
        manifest="""
            from gem.specs import PluginManifest, PolicySpec

            plugin = PluginManifest(
                name="acme-policy", policies=(PolicySpec(id="clairvoyant", target="a:b"),)
            )
            """,
    )
    assert registry.policy_spec("clairvoyant").target == "a:b"
    assert "clairvoyant" in [each.id for each in registry.policies()]


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


def test_listing_is_by_id_and_by_pattern(words: str, install: Install) -> None:
    install("acme-more", envs={"acme:B-v0": "a:b", "acme:A-v0": "a:b"})
    listed = [each.id for each in list_envs()]
    assert listed == sorted(listed)
    assert {words, "acme:A-v0", "acme:B-v0"} <= set(listed)
    assert [each.id for each in list_envs("acme:*")] == ["acme:A-v0", "acme:B-v0"]
    assert [each.id for each in list_envs("*:Words-v?")] == [words]
    assert list_envs("nothing*") == []
    assert "concat" in [each.id for each in registry.wrappers()]


def test_the_owner_of_an_environment_is_its_plugin(words: str, install: Install) -> None:
    install("acme-more", envs={"acme:A-v0": "a:b"})
    found = owner("acme:A-v0")
    assert found is not None
    assert found.distribution == "acme-more"
    assert owner(words) is None
    assert owner("acme:Nothing-v0") is None


def test_versions_are_those_of_core_and_of_the_pack(words: str, install: Install) -> None:
    install("acme-more", envs={"acme:A-v0": "a:b"}, version="4.2")
    assert registry.versions("acme:A-v0") == {"gem-core": gem.__version__, "acme-more": "4.2"}
    assert registry.versions(words) == {"gem-core": gem.__version__}


def test_a_pack_that_was_installed_meanwhile_is_found_after_refresh(install: Install) -> None:
    registry.plugins()
    register(EnvSpec(id="demo:Needs", target="words_here:Words", requires=("acme-late",)))
    with pytest.raises(MissingRequirement):
        make("demo:Needs")
    install("acme-late", envs={"acme:Late-v0": "a:b"})
    assert spec("acme:Late-v0").target == "a:b"
    make("demo:Needs")


# registering


def test_a_class_can_be_registered() -> None:
    found = register("demo:Local", Words, size=4)
    assert found == spec("demo:Local")
    assert (found.target, found.kwargs) == (f"{__name__}:Words", {"size": 4})
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


@pytest.mark.parametrize("id", ["", "A:b", "a:", ":b", "a:b c", "a:b\n", "a::b"])
def test_an_id_of_another_shape_is_refused(id: str) -> None:
    with pytest.raises(BadArguments, match="does not describe an environment"):
        register(id, Words)


# making


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


# wrappers


def stack_of(env: Env) -> list[str]:
    names = []
    while isinstance(env, Wrapper):
        names.append(type(env).__name__)
        env = env.env
    return names[::-1]


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
                    WrapperSpec(id=layer[0], target="gem.wrapper:Wrapper", layer=layer)
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
    for second in ("concat", Concat, functools.partial(Concat), "gem.wrappers.concat:Concat"):
        with pytest.raises(WrapperOrderError, match="is a prompt wrapper around a prompt wrapper"):
            make(words, wrappers=[Concat, second])
    assert stack_of(make(words, wrappers=[Concat, Unconcat])) == ["Concat", "Unconcat"]


def test_a_target_that_a_plugin_provides_is_known_by_its_id() -> None:
    assert wrapper_spec("gem.wrappers.concat:Concat") == wrapper_spec("concat")


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


# rebuilding


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


def test_resolving_takes_ids_specs_and_data(words: str) -> None:
    found = spec(words)
    assert resolve(words) == resolve(found) == resolve(found.model_dump(mode="json")) == found

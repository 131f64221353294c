"""From an id to a spec: what is found, what is listed, and what is near an unknown one."""

from __future__ import annotations

import pytest

import gem
from gem import registry
from gem.errors import (
    MissingRequirement,
    UnknownEnv,
    UnknownPolicy,
    UnknownTool,
    UnknownWrapper,
)
from gem.registry import list_envs, owner, register, spec, wrapper_spec
from gem.registry._making import make
from gem.specs import EnvSpec

from .envs import Install, Words


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

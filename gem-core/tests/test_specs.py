"""Specs: frozen data, ids as users know them, deaf to fields they do not know."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pydantic import ValidationError

from gem.specs import (
    API_GROUP,
    AdapterSpec,
    CheckHints,
    DataSource,
    EnvSpec,
    ExecutorSpec,
    PluginManifest,
    PolicySpec,
    ToolSpec,
    WrapperRef,
    WrapperSpec,
)

ENV = EnvSpec(id="demo:A-v0", target="a.b:C", kwargs={"n": [1]}, wrappers=(WrapperRef(id="w"),))


def test_a_spec_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        ENV.id = "demo:B"


def test_a_spec_comes_back_from_json() -> None:
    assert EnvSpec.model_validate(json.loads(ENV.model_dump_json())) == ENV


def test_unknown_fields_are_ignored() -> None:
    assert EnvSpec.model_validate({**ENV.model_dump(), "smell": "roses"}) == ENV


def test_a_hint_beside_check_is_refused_where_it_would_be_ignored() -> None:
    with pytest.raises(TypeError, match=r"Write check=CheckHints\(winnable=False\)"):
        EnvSpec(id="demo:A", target="a:b", winnable=False)  # type: ignore[call-arg]  # as before


def test_stored_json_may_have_hints_beside_check() -> None:
    stored = {**ENV.model_dump(mode="json", exclude={"check"}), "winnable": False, "bound": None}

    assert EnvSpec.model_validate(stored) == ENV
    assert EnvSpec.model_validate_json(json.dumps(stored), strict=True) == ENV


def test_hints_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        CheckHints().bound = 0.5


@pytest.mark.parametrize(
    "id",
    [
        "game:GuessTheNumber-v0-hard",
        "math:GSM8K",
        "rg:letter_counting",
        "eval:MATH500",
        "ta:Poker-v0",
        "math:Math12K",
        "code:a.b,c",
        "a1_b:0",
    ],
)
def test_ids_as_users_know_them_are_valid(id: str) -> None:
    assert EnvSpec(id=id, target="a:b").namespace == id.partition(":")[0]


@pytest.mark.parametrize(
    "id", ["", "bare", "A:b", "a:", ":b", "a:b c", "a:b\n", "a:b:c", "1:a", "a:-"]
)
def test_other_ids_are_refused(id: str) -> None:
    with pytest.raises(ValidationError):
        EnvSpec(id=id, target="a:b")


@pytest.mark.parametrize("target", ["", "a", ":a", "a:", "a b:c", "a:b:c", "a:b\n"])
def test_a_target_names_a_module_and_an_attribute(target: str) -> None:
    with pytest.raises(ValidationError):
        EnvSpec(id="demo:A", target=target)


@pytest.mark.parametrize("kind", [WrapperSpec, ToolSpec, PolicySpec, AdapterSpec, ExecutorSpec])
@pytest.mark.parametrize("id", ["", "1a", "a b", "a:b", "a\n"])
def test_plain_ids_have_no_namespace(
    kind: type[WrapperSpec | ToolSpec | PolicySpec | AdapterSpec | ExecutorSpec], id: str
) -> None:
    assert kind(id="concat_chat", target="a:b").requires == ()
    with pytest.raises(ValidationError):
        kind(id=id, target="a:b")


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("envs", ENV),
        ("wrappers", WrapperSpec(id="w", target="a:b")),
        ("tools", ToolSpec(id="t", target="a:b")),
        ("policies", PolicySpec(id="p", target="a:b")),
        ("adapters", AdapterSpec(id="a", target="a:b")),
        ("executors", ExecutorSpec(id="e", target="a:b")),
    ],
)
def test_a_manifest_lists_no_id_twice(kind: str, spec: object) -> None:
    assert getattr(PluginManifest.model_validate({"name": "x", kind: (spec,)}), kind) == (spec,)
    with pytest.raises(ValidationError, match=f"{kind} lists '.*' more than once"):
        PluginManifest.model_validate({"name": "x", kind: (spec, spec)})


def test_the_same_id_may_name_things_of_two_kinds() -> None:
    PluginManifest(
        name="x",
        wrappers=(WrapperSpec(id="same", target="a:b"),),
        tools=(ToolSpec(id="same", target="a:b"),),
    )


def test_the_group_carries_the_version() -> None:
    assert API_GROUP == "gem.plugins.v1"


def test_a_wrapper_s_layer_is_one_of_four() -> None:
    with pytest.raises(ValidationError, match="'tool', 'observation', 'prompt' or 'any'"):
        WrapperSpec(id="w", target="a:b", layer="roof")  # type: ignore[arg-type]


def test_a_data_source_is_json_data_in_a_spec() -> None:
    source = DataSource(hub="acme/sums", fields={"question": "problem"})
    spec = EnvSpec(id="acme:Sums", target="a:b", kwargs={"source": source, "size": 3})
    plain = {"hub": "acme/sums", "fields": {"question": "problem"}}
    assert spec.kwargs == {"source": plain, "size": 3}
    assert EnvSpec.model_validate_json(spec.model_dump_json()) == spec


def test_a_field_that_a_data_source_does_not_have_is_refused() -> None:
    with pytest.raises(ValidationError, match="revison"):
        DataSource(hub="acme/sums", revison="v1")  # type: ignore[call-arg]


def test_a_manifest_module_costs_only_pydantic() -> None:
    program = (
        "import sys, gem.specs; "
        "print(*sorted(m for m in sys.modules if m.split('.')[0] in "
        "('gem', 'numpy', 'pluggy', 'asyncio', 'packaging')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert [name for name in done.stdout.split() if not name.startswith("asyncio")] == [
        "gem",
        "gem.specs",
    ]

"""Arguments and ids of earlier releases go on working where a spec says so, with a warning."""

from __future__ import annotations

from typing import Any

import pytest

import gem
from gem.errors import BadArguments, UnknownEnv
from gem.registry import list_envs
from gem.specs import DataSource, EnvSpec, ObsoleteKwarg


class Posed(gem.Env):
    """Shows the arguments that it was made with."""

    def __init__(
        self,
        *,
        source: DataSource | None = None,
        data: list[str] | None = None,
        fields: dict[str, str] | None = None,
        form: str = "answer",
    ) -> None:
        self.shown = {"source": source, "data": data, "fields": fields, "form": form}

    def reset(self, seed: int | None = None, **_: Any) -> tuple[str, dict[str, Any]]:
        return "posed", self.shown


TABLE = {
    "size": ObsoleteKwarg(),
    "dataset": ObsoleteKwarg(instead="data"),
    "dataset_name": ObsoleteKwarg(instead="source.hub"),
    "question_key": ObsoleteKwarg(instead="fields.question"),
    "answer_key": ObsoleteKwarg(instead="fields.answer"),
    "extract_boxed": ObsoleteKwarg(instead="form", values={"true": "boxed", "false": "answer"}),
}
SPEC = EnvSpec(
    id="demo:Posed",
    target=f"{__name__}:Posed",
    kwargs={"source": DataSource(hub="acme/sums", split="train")},
    obsolete_kwargs=TABLE,
)
OLD = EnvSpec(id="demo:Older", target=f"{__name__}:Posed", replaced_by="demo:Posed")


@pytest.fixture(autouse=True)
def _registered() -> None:
    gem.register(SPEC, Posed)
    gem.register(OLD, Posed)


def shown(**kwargs: Any) -> dict[str, Any]:
    with pytest.warns(DeprecationWarning, match=r"any longer|earlier release"):
        return gem.make("demo:Posed", **kwargs).reset()[1]


def test_an_argument_that_does_nothing_any_more_is_ignored() -> None:
    assert shown(size=500) == gem.make("demo:Posed").reset()[1]


def test_an_argument_has_another_name_today() -> None:
    assert shown(dataset=["a"])["data"] == ["a"]


def test_an_argument_is_one_field_of_another_today() -> None:
    taken = shown(dataset_name="acme/other", question_key="prompt", answer_key="solution")
    assert taken["source"] == DataSource(hub="acme/other", split="train")
    assert taken["fields"] == {"question": "prompt", "answer": "solution"}


def test_the_fields_that_are_given_beside_it_stay() -> None:
    source = DataSource(revision="v1")
    taken = shown(dataset_name="acme/other", source=source, question_key="q", fields={"x": "y"})
    assert taken["source"] == DataSource(hub="acme/other", split="train", revision="v1")
    assert taken["fields"] == {"x": "y", "question": "q"}


@pytest.mark.parametrize(("old", "new"), [(True, "boxed"), (False, "answer")])
def test_a_value_is_translated(old: bool, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"Write form='{new}' in its place"):
        env = gem.make("demo:Posed", extract_boxed=old)
    assert env.reset()[1]["form"] == new


@pytest.mark.parametrize("value", [3, "true", object(), float("nan")])
def test_a_value_that_it_never_had_is_refused_with_the_replacement(value: object) -> None:
    with pytest.raises(BadArguments, match=r"one of true, false\. Write form= in its place"):
        gem.make("demo:Posed", extract_boxed=value)


def test_none_leaves_the_default_of_today() -> None:
    assert shown(dataset=None, dataset_name=None) == gem.make("demo:Posed").reset()[1]


@pytest.mark.parametrize(
    "kwargs",
    [
        {"dataset": ["a"], "data": ["b"]},
        {"question_key": "q", "fields": {"question": "r"}},
        {"dataset_name": "a/b", "source": DataSource(hub="c/d")},
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_one_argument_under_both_names_is_refused(kwargs: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match=r"too, which is the same one\. Leave '\w+' out"):
        gem.make("demo:Posed", **kwargs)


def test_what_a_spec_does_not_list_is_refused_as_ever() -> None:
    with pytest.raises(BadArguments, match="it takes no 'size'"):
        gem.make(OLD, size=3)


def test_the_record_has_the_names_of_today() -> None:
    with pytest.warns(DeprecationWarning, match="'question_key'|'size'"):
        env = gem.make("demo:Posed", question_key="prompt", size=3)
    assert env.spec is not None
    assert env.spec.kwargs["fields"] == {"question": "prompt"}
    assert "size" not in env.spec.kwargs
    assert gem.make(env.spec.model_dump(mode="json")).reset() == env.reset()


@pytest.mark.vector
def test_other_processes_get_the_names_of_today() -> None:
    echo = EnvSpec(id="demo:Echo", target="gem.testing.envs:Echo", obsolete_kwargs=TABLE)
    with pytest.warns(DeprecationWarning, match="no 'size' any longer") as seen:
        vector = gem.make_vec(echo, backend="process", num_workers=1, size=3)
    with vector:
        vector.reset()
    assert {warning.filename for warning in seen} == {__file__}


def test_an_older_id_makes_its_own_environment_and_names_the_newer_one() -> None:
    with pytest.warns(DeprecationWarning, match="Use 'demo:Posed'"):
        env = gem.make("demo:Older")
    assert env.spec == OLD


def test_an_older_id_is_listed_only_where_it_is_asked_for() -> None:
    assert [spec.id for spec in list_envs("demo:P*")] == ["demo:Posed"]
    assert OLD not in list_envs("demo:*")
    assert list_envs("demo:Older") == [OLD]


def test_an_unknown_environment_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="nowhere") as caught:
        gem.make("demo:nowhere")
    assert type(caught.value) is UnknownEnv

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from typing import Any

import pytest

import gem
from gem.errors import BadArguments
from gem.registry import load_target
from gem.specs import DataSource
from gem_envs_qa.plugin import plugin

LISTING = """
import json, sys
import gem
ids = {spec.id for spec in gem.list_envs("*")}
print(json.dumps([sorted(ids), sorted({name.partition(".")[0] for name in sys.modules})]))
"""
SEARCHING = """
import json, sys
import gem
with gem.make("qa:Worlds-v0", seed=0) as env:
    env.reset()
    env.step(env.solve())
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
HEAVY = {"datasets", "pyarrow", "huggingface_hub", "pandas", "numpy", "fsspec"}

PUBLISHED = {
    **{f"logic:RuleTaker-d{n}": (f"axon-rl/RuleTaker-d{n}-70k", "train") for n in (0, 1, 2, 3, 5)},
    "qa:NaturalQuestions": ("axon-rl/NaturalQuestions", "train"),
    "qa:HotpotQA": ("axon-rl/HotpotQA", "train"),
    "eval:QaOpen": ("google-research-datasets/nq_open", "validation"),
    "eval:2Wiki": ("axon-rl/search-eval", "2wiki"),
    "eval:PopQA": ("axon-rl/search-eval", "popqa"),
    "eval:TriviaQA": ("axon-rl/search-eval", "tq"),
    "eval:HotpotQA": ("axon-rl/search-eval", "hotpotqa"),
    "eval:Bamboogle": ("axon-rl/search-eval", "bamboogle"),
    "eval:NaturalQuestions": ("axon-rl/search-eval", "nq"),
    "eval:Musique": ("axon-rl/search-eval", "musique"),
}


def run(code: str) -> Any:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def source(env_id: str) -> DataSource:
    return DataSource.model_validate(gem.spec(env_id).kwargs["source"])


def test_the_installed_entry_point_is_this_manifest() -> None:
    found = importlib.metadata.entry_points(group="gem.plugins.v1", name="qa")
    assert [point.load() for point in found] == [plugin]


def test_listing_imports_nothing_but_the_manifest() -> None:
    ids, modules = run(LISTING)
    assert {spec.id for spec in plugin.envs} <= set(ids)
    assert not HEAVY & set(modules)


def test_worlds_import_no_third_party_package() -> None:
    assert not HEAVY & set(run(SEARCHING))


@pytest.mark.parametrize("env_id", list(PUBLISHED))
def test_an_id_that_exists_elsewhere_has_the_same_data(env_id: str) -> None:
    assert (source(env_id).hub, source(env_id).split) == PUBLISHED[env_id]


@pytest.mark.parametrize(("env_id", "field"), [("qa:HotpotQA", "problem"), ("eval:PopQA", None)])
def test_an_id_names_the_fields_of_its_data(env_id: str, field: str | None) -> None:
    assert source(env_id).fields.get("question") == field


def test_what_is_to_train_on_and_what_to_evaluate_on_is_kept_apart() -> None:
    roles = {spec.id: source(spec.id).role for spec in plugin.envs if "source" in spec.kwargs}
    assert {env_id for env_id, role in roles.items() if role == "train"} == {
        "qa:NaturalQuestions",
        "qa:HotpotQA",
        *(f"logic:RuleTaker-d{depth}" for depth in (0, 1, 2, 3, 5)),
    }
    assert all(role == "eval" for env_id, role in roles.items() if env_id.startswith("eval:"))


@pytest.mark.parametrize("spec", plugin.envs, ids=lambda spec: spec.id)
def test_every_target_exists(spec: gem.EnvSpec) -> None:
    assert issubclass(load_target(spec.target), gem.Env)


@pytest.mark.parametrize("spec", plugin.envs, ids=lambda spec: spec.id)
def test_every_spec_says_where_its_questions_come_from(spec: gem.EnvSpec) -> None:
    assert spec.summary
    assert spec.source
    assert spec.licence or spec.id == "qa:Worlds-v0"


ROWS = [{"q": "Who wrote Emma?", "a": ["Jane Austen", "Austen"]}]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("old", "form"), [(True, "boxed"), (False, "answer")])
def test_arguments_of_earlier_releases_ask_the_same_questions(old: bool, form: str) -> None:
    fields = {"question": "q", "answer": "a"}
    today = gem.make("qa:HotpotQA", data=ROWS, fields=fields, answer_form=form)

    older = gem.make(
        "qa:HotpotQA",
        dataset=ROWS,
        question_key="q",
        answer_key="a",
        extract_boxed=old,
        load_from_cache_file=True,
        use_mp=True,
    )
    assert older.reset(seed=1) == today.reset(seed=1)
    assert older.step(str(today.solve())).reward == 1.0


def test_what_extract_boxed_may_be_is_told() -> None:
    with pytest.raises(BadArguments, match="Write answer_form= in its place"):
        gem.make("qa:HotpotQA", data=ROWS, extract_boxed="maybe")


def test_every_data_set_takes_the_arguments_of_earlier_releases() -> None:
    older = {spec.id for spec in plugin.envs if "dataset_name" in spec.obsolete_kwargs}
    assert older == {spec.id for spec in plugin.envs if "source" in spec.kwargs}

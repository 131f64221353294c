"""Which environments a vector has, and what it refuses before any is made."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.env import Env
from gem.errors import (
    BadArguments,
    MissingRequirement,
    UnknownEnv,
)
from gem.vector import SyncVectorEnv, make_vec

from .envs import Count, Faulty, first_of, made

Install = Callable[..., Path]
_FACTORY = """
from gem.hosting._in_thread import InThreadHost


class Backwards(InThreadHost):
    pass


def backwards(*, num_envs, num_workers, step_timeout_s, speed=1):
    return Backwards()
"""
_BACKEND = """
from gem.specs import ExecutorSpec, PluginManifest

plugin = PluginManifest(
    name="acme",
    executors=(ExecutorSpec(id="backwards", target="{package}.runs:backwards", requires=()),),
)
"""


def test_one_id_is_multiplied() -> None:
    with make_vec("vec:Count", num_envs=4, length=2) as vector:
        assert len(vector) == vector.num_envs == 4
        assert [spec and spec.kwargs for spec in vector.specs] == [{"length": 2}] * 4


def test_several_ids_are_gone_round() -> None:
    gem.register("vec:Long", Count, length=8)
    with make_vec(["vec:Count", "vec:Long"], num_envs=3) as vector:
        assert [spec and spec.id for spec in vector.specs] == ["vec:Count", "vec:Long", "vec:Count"]


def test_without_a_number_there_is_one_for_each_id() -> None:
    with make_vec(["vec:Count", "vec:Count"]) as many, make_vec("vec:Count") as one:
        assert (len(many), len(one)) == (2, 1)


def test_a_spec_and_its_data_are_ids_too() -> None:
    spec = gem.spec("vec:Count")
    with make_vec([spec, spec.model_dump(mode="json")]) as many, make_vec(spec) as one:
        assert (len(many), len(one)) == (2, 1)


def test_every_environment_gets_the_wrappers_even_from_an_iterator() -> None:
    with make_vec("vec:Count", num_envs=2, wrappers=iter(["concat"])) as vector:
        vector.reset(seed=5)
        assert vector.step(["a", "a"]).observations == [
            f"{first_of(0, 0)}\n1",
            f"{first_of(1, 0)}\n1",
        ]


def test_numpy_comes_with_the_vectors_and_not_before() -> None:
    code = (
        "import sys, gem\n"
        "gem.make\n"
        "assert 'numpy' not in sys.modules\n"
        "gem.make_vec\n"
        "assert 'numpy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("ids", "number"), [([], None), ("vec:Count", 0), (["vec:Count"] * 3, 2)])
def test_a_number_that_does_not_fit_the_ids_is_refused(ids: Any, number: int | None) -> None:
    with pytest.raises(BadArguments, match="Give at least one id, and num_envs no smaller"):
        make_vec(ids, num_envs=number)


def test_an_absent_backend_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadArguments, match=r"backend='none' was .* Installed: .*'sync', 'thread'"):
        make_vec("vec:Count", backend="none")


def test_a_plugin_adds_a_backend_under_its_own_word(install: Install) -> None:
    manifest = _BACKEND.replace("{package}", "acme_runs")
    install("acme-runs", manifest=manifest, files={"runs.py": _FACTORY})

    with made("vec:Count", backend="backwards", seed=5) as vector:
        assert vector.reset()[0] == [first_of(0, 0)]
        assert type(vector.host).__name__ == "Backwards"


def test_a_backend_whose_packages_are_absent_says_what_to_install(install: Install) -> None:
    install("acme-far", manifest=_BACKEND.replace("()", "('no-such-package',)"))

    with pytest.raises(MissingRequirement, match="The backend 'backwards' needs no-such-package"):
        make_vec("vec:Count", backend="backwards")


def test_workers_that_nobody_has_are_refused() -> None:
    with pytest.raises(BadArguments, match="num_workers=2 was given with a backend that has none"):
        make_vec("vec:Count", num_workers=2)


def test_a_deadline_that_nobody_can_keep_is_refused() -> None:
    with pytest.raises(BadArguments, match=r"cannot stop a step\. Leave it out, or run"):
        make_vec("vec:Count", step_timeout_s=1.0)


def test_an_unknown_autoreset_is_refused() -> None:
    with pytest.raises(BadArguments, match="It is one of 'same_step', 'next_step', 'off'"):
        make_vec("vec:Count", autoreset="never")  # type: ignore[arg-type]


def test_a_vector_of_nothing_is_refused() -> None:
    with pytest.raises(BadArguments, match="without environments"):
        SyncVectorEnv([])


@pytest.mark.parametrize("seed", [True, "1", 1.5])
def test_a_seed_that_is_no_int_is_refused(seed: Any) -> None:
    with pytest.raises(BadArguments, match="A seed is an int"):
        make_vec("vec:Count", seed=seed)
    with make_vec("vec:Count") as vector, pytest.raises(BadArguments, match="A seed is an int"):
        vector.reset(seed)


def test_a_list_of_seeds_is_refused_with_what_one_seed_does() -> None:
    seeds: Any = [1, 2]
    with (
        make_vec("vec:Count", num_envs=2) as vector,
        pytest.raises(BadArguments, match="give one, from"),
    ):
        vector.reset(seeds)


def test_an_unknown_id_is_refused_before_any_is_made(faulty: type[Faulty]) -> None:
    with pytest.raises(UnknownEnv):
        make_vec(["vec:Faulty", "vec:None"])

    assert [env.closed for env in faulty.made] == [[1]]


def test_environments_made_before_a_failure_are_closed(faulty: type[Faulty]) -> None:
    def fails() -> Env:
        raise RuntimeError("third")

    with pytest.raises(RuntimeError, match="third"):
        SyncVectorEnv([faulty, faulty, fails])

    assert [env.closed for env in faulty.made] == [[1], [1]]

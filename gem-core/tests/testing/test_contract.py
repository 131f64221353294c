"""`EnvContract`: here it is used as authors use it, and driven by hand."""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path
from typing import ClassVar

import pytest

from gem.errors import DataError, MissingRequirement
from gem.specs import EnvSpec
from gem.testing import EnvContract
from gem.testing._subject import Subject
from gem.testing._table import CHECKS

SPEC = EnvSpec(id="fine:Guess", target="gem.testing.envs:Guess")


class TestGuess(EnvContract):
    env_id = SPEC


class TestHardGuess(EnvContract):
    env_id = SPEC
    env_kwargs: ClassVar = {"highest": 31, "max_turns": 5}
    wrappers = ("concat",)
    seeds = range(3)


class _Broken(EnvContract):
    env_id = EnvSpec(id="bad:OneEpisode", target="bad_envs.chance:OneEpisode")


class _Needy(EnvContract):
    env_id = EnvSpec(id="fine:Needy", target="a:b", requires=("acme-absent>=1",))


class _BrokenTable(EnvContract):
    env_id = SPEC

    def subject(self) -> Subject:
        raise DataError("There is no such file.", source="no/such/file")


class _Dataless(_BrokenTable):
    env_id = EnvSpec(id="fine:Hub", target="a:b", kwargs={"source": {"hub": "acme/absent"}})


def run(contract: type[EnvContract], name: str) -> None:
    getattr(contract(), f"test_{name}")()


def test_there_is_one_test_for_each_line() -> None:
    tests = {name for name in dir(TestGuess) if name.startswith("test_")}

    assert tests == {f"test_{check.name}" for check in CHECKS}


@pytest.mark.vector
def test_a_line_that_fails_is_a_failed_test_with_the_evidence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))

    with pytest.raises(AssertionError, match="different seeds differ: seeds 0, 1"):
        run(_Broken, "different_seeds")


def test_a_line_that_does_not_apply_is_a_skipped_test() -> None:
    with pytest.raises(unittest.SkipTest, match="no finite set of tasks"):
        run(TestGuess, "tasks")


@pytest.mark.parametrize(
    ("contract", "reason"),
    [(_Needy, MissingRequirement), (_Dataless, DataError)],
)
def test_what_is_not_installed_here_is_a_skipped_test(
    contract: type[EnvContract], reason: type[Exception]
) -> None:
    with pytest.raises(unittest.SkipTest) as skipped:
        run(contract, "flags")

    assert isinstance(skipped.value.__cause__, reason)


def test_data_of_its_own_that_cannot_be_read_is_a_failed_test() -> None:
    with pytest.raises(DataError, match="no such file"):
        run(_BrokenTable, "flags")


@pytest.mark.vector
def test_a_line_that_fails_fails_under_optimisation_too() -> None:
    code = "from gem.testing import EnvContract\n"
    code += "class Bad(EnvContract): env_id = 'bad_envs.chance:OneEpisode'\n"
    code += "Bad().test_different_seeds()\n"

    done = subprocess.run(
        [sys.executable, "-O", "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "AssertionError: different seeds differ: seeds 0, 1" in done.stderr


def test_importing_it_does_not_import_pytest() -> None:
    code = "import sys, gem.testing; gem.testing.EnvContract\n"
    code += "assert 'pytest' not in sys.modules"

    subprocess.run([sys.executable, "-c", code], check=True)

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gem.cli._main import main

pytestmark = pytest.mark.slow

Install = Callable[..., Path]
Output = pytest.CaptureFixture[str]

QUICK = ("--backend", "sync")  # as every backend is compared there, which takes seconds
MANIFEST = """
from gem.specs import EnvSpec, PluginManifest

plugin = PluginManifest(name="acme", envs=(
    EnvSpec(id="acme:Echo", target="gem.testing.envs:Echo"),
    EnvSpec(id="acme:Guess", target="gem.testing.envs:Guess"),
    EnvSpec(id="acme2:Needy", target="gem.testing.envs:Echo", requires=("acme-absent>=1",)),
))
"""
BAD = """
from gem.testing.envs import Guess

class Constant(Guess):
    def reset(self, seed=None):
        started = super().reset(seed)
        self.secret = 7
        return started

class Raises(Guess):
    def step(self, action):
        raise RuntimeError("no step here")
"""


@pytest.fixture(autouse=True)
def _acme(install: Install) -> None:
    install("acme-check", manifest=MANIFEST)


@pytest.fixture
def bad(install: Install) -> None:
    envs = {"bad:Constant": "acme_bad.env:Constant", "bad:Raises": "acme_bad.env:Raises"}
    install("acme-bad", envs=envs, files={"env.py": BAD})


def test_an_id_is_checked_line_by_line(capsys: Output) -> None:
    assert main(["check", "acme:Echo", *QUICK]) == 0
    page = capsys.readouterr().out
    assert "1/1 acme:Echo" in page
    assert "ok    the same seed gives the same episode:" in page
    assert "skip  tasks can be picked by number: it has no finite set of tasks" in page
    assert "0 failed" in page.splitlines()[-1]


def test_the_backends_to_compare_can_be_named(capsys: Output) -> None:
    assert main(["check", "acme:Echo", "--backend", "thread"]) == 0
    page = capsys.readouterr().out
    assert "agrees with one alone: thread; 6 environments" in page


def test_a_pattern_is_every_id_that_it_matches(capsys: Output) -> None:
    assert main(["check", "acme:*", *QUICK]) == 0
    page = capsys.readouterr().out
    assert "1/2 acme:Echo" in page
    assert "2/2 acme:Guess" in page


@pytest.mark.parametrize("name", ["acme-check", "Acme_Check"])
def test_a_distribution_is_every_id_that_it_provides(name: str, capsys: Output) -> None:
    assert main(["check", name, "--json", *QUICK]) == 0
    reports = json.loads(capsys.readouterr().out)
    assert [report["env_id"] for report in reports] == ["acme2:Needy", "acme:Echo", "acme:Guess"]


def test_one_of_many_that_cannot_be_made_is_skipped_with_the_reason(capsys: Output) -> None:
    main(["check", "acme*", "--json", *QUICK])
    reports = json.loads(capsys.readouterr().out)
    [line] = reports[0]["lines"]
    assert (line["state"], "acme-absent>=1" in line["evidence"]) == ("skipped", True)


FAULTY = """
from gem.specs import EnvSpec, PluginManifest

plugin = PluginManifest(name="faulty", envs=(
    EnvSpec(id="faulty:Args", target="gem.testing.envs:Echo", kwargs={"lenght": 24}),
    EnvSpec(id="faulty:Target", target="acme_faulty.absent:Echo"),
    EnvSpec(id="faulty:Whole", target="gem.testing.envs:Echo"),
))
"""


def test_a_spec_that_cannot_be_made_fails_its_line_and_the_others_are_checked(
    install: Install, capsys: Output
) -> None:
    install("acme-faulty", manifest=FAULTY)

    assert main(["check", "acme-faulty", "--json", *QUICK]) == 1

    args, target, whole = json.loads(capsys.readouterr().out)
    [line] = args["lines"]
    assert (line["state"], "it takes no 'lenght'" in line["evidence"]) == ("failed", True), line
    [line] = target["lines"]
    assert (line["state"], "acme_faulty.absent" in line["evidence"]) == ("failed", True), line
    assert whole["is_good"]


@pytest.mark.parametrize(
    "typed",
    [
        ["acme:Echo", "--env-kwargs", '{"lenght": 24}'],
        ["acme:*", "--wrappers", '[{"id": "time_limit", "turns": 3}]'],
        ["acme:*", "--wrappers", "time_limt"],
        ["acme:*", "--wrappers", "[1]"],
        ["acme:*", "--backend", "thraed"],
    ],
)
def test_what_was_typed_wrongly_is_no_fault_of_an_environment(
    typed: list[str], capsys: Output
) -> None:
    assert main(["check", *typed]) == 2
    assert "FAIL" not in capsys.readouterr().out


def test_one_alone_that_cannot_be_made_is_wrong_use(capsys: Output) -> None:
    assert main(["check", "acme2:Needy"]) == 2
    assert 'pip install "acme-absent>=1"' in capsys.readouterr().err


@pytest.mark.usefixtures("bad")
def test_a_line_that_fails_shows_its_evidence_and_the_status_is_1(capsys: Output) -> None:
    assert main(["check", "bad:Constant", *QUICK]) == 1
    page = capsys.readouterr().out
    assert "FAIL  different seeds differ: seeds 0, 1, 2" in page
    assert page.splitlines()[-1].endswith("Failed: bad:Constant")


@pytest.mark.usefixtures("bad")
def test_a_fault_that_fails_many_lines_is_told_once(capsys: Output) -> None:
    assert main(["check", "bad:Raises", *QUICK]) == 1
    page = capsys.readouterr().out
    told = [line for line in page.splitlines() if line.split(": ")[1:2] == ["RuntimeError"]]
    first = "the same seed gives the same episode"
    assert told == [f"  FAIL  {first}: RuntimeError: no step here (env.py, line 12, in step)"]
    assert "FAIL  different seeds differ: as under 'the same seed gives the same episode'" in page


@pytest.mark.usefixtures("bad")
def test_a_line_that_fails_is_in_the_json(capsys: Output) -> None:
    assert main(["check", "bad:Constant", "--json", *QUICK]) == 1
    [report] = json.loads(capsys.readouterr().out)
    failed = [line["name"] for line in report["lines"] if line["state"] == "failed"]
    assert "different_seeds" in failed
    assert not report["is_good"]


def test_arguments_and_wrappers_are_checked_with_it(capsys: Output) -> None:
    making = ["--env-kwargs", '{"highest": 3, "max_turns": 2}', "--wrappers", "concat"]

    assert main(["check", "acme:Guess", *making, *QUICK]) == 0
    assert "turn limit 2" in capsys.readouterr().out


def test_wrappers_with_arguments_are_a_json_list(capsys: Output) -> None:
    layers = '["concat", {"id": "frame_stack", "frames": "two"}]'
    assert main(["check", "acme:Echo", "--wrappers", layers]) == 2
    assert "frame_stack" in capsys.readouterr().err


def test_a_list_of_wrappers_that_is_no_json_is_wrong_use(capsys: Output) -> None:
    assert main(["check", "acme:Echo", "--wrappers", "[concat"]) == 2
    assert "--wrappers '[concat' is not JSON" in capsys.readouterr().err


def test_a_distribution_that_is_not_there_is_wrong_use_and_those_there_are_named(
    capsys: Output,
) -> None:
    assert main(["check", "acme-chekc"]) == 2
    error = capsys.readouterr().err
    assert "No installed distribution with environments is named 'acme-chekc'" in error
    assert "acme-check" in error


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("plugins = 3\n", "has no attribute 'plugin'"),
    ],
)
def test_a_distribution_whose_plugin_does_not_load_is_said_to_be_installed(
    source: str, problem: str, install: Install, capsys: Output
) -> None:
    install(f"acme-broken{len(source)}", manifest=source)
    assert main(["check", f"Acme_Broken{len(source)}"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert ("It is installed" in line, problem in line) == (True, True), line


TROUBLED = """
import os, re, signal, time
from gem.testing.envs import Echo

class Hangs(Echo):
    def reset(self, seed=None):
        re.fullmatch(r"(a+)*!", "a" * 64)

class Interrupts(Echo):
    def reset(self, seed=None):
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(1e6)
"""


@pytest.fixture
def troubled(install: Install) -> None:
    envs = {"trouble:Hangs": "acme_trouble.envs:Hangs", "trouble:Whole": "gem.testing.envs:Echo"}
    install("acme-trouble", envs=envs, files={"envs.py": TROUBLED})


@pytest.mark.usefixtures("troubled")
def test_a_check_that_hangs_fails_and_the_other_environments_are_checked(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem.testing._apart._GRACE_S", 60.0)  # its process may be slow to start
    assert main(["check", "acme-trouble", "--timeout", "3", *QUICK]) == 1

    page = capsys.readouterr().out.splitlines()
    assert page[0] == "1/2 trouble:Hangs"
    assert page[1].startswith("  FAIL  it can be made: it had not ended after 3 s (envs.py, line 7")
    assert page[2] == "2/2 trouble:Whole"
    assert "Failed: trouble:Hangs" in page[-1]


@pytest.mark.usefixtures("troubled")
def test_an_interrupt_says_what_was_checked(capsys: Output) -> None:
    assert main(["check", "acme_trouble.envs:Interrupts"]) == 130
    [line] = capsys.readouterr().err.splitlines()
    assert "interrupted in the check of acme_trouble.envs:Interrupts, at the line" in line


def test_a_limit_that_is_no_time_is_wrong_use(capsys: Output) -> None:
    assert main(["check", "acme:Echo", "--timeout", "-1"]) == 2
    assert "--timeout" in capsys.readouterr().err


def test_what_matches_nothing_is_wrong_use(capsys: Output) -> None:
    assert main(["check", "acme:Ecko"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "Did you mean 'acme:Echo'" in line


@pytest.mark.parametrize("text", ["{max_turns: 5}", "[1]", "[" * 100_000])
def test_arguments_that_are_no_json_object_are_wrong_use(text: str, capsys: Output) -> None:
    assert main(["check", "acme:Guess", "--env-kwargs", text]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "is not a JSON object" in line
    assert len(line) < 400

"""`check_env` and its report, on environments that keep every rule."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gem
from gem.errors import BadArguments, EnvUsageError, UnknownEnv
from gem.testing import CheckReport, check_env
from gem.testing._report import CheckLine
from gem.testing.envs import Coin, Echo, Guess

pytestmark = pytest.mark.slow

GOOD = ["Coin", "Echo", "Guess", "Lamps"]


@pytest.mark.parametrize("name", GOOD)
def test_a_good_environment_passes_every_line_that_applies(name: str) -> None:
    gem.register(f"fine:{name}", f"gem.testing.envs:{name}")

    report = check_env(f"fine:{name}")

    assert report.failures == ()
    assert report.is_good


def test_a_spec_can_be_checked_without_being_registered() -> None:
    spec = gem.EnvSpec(id="fine:Unlisted", target="gem.testing.envs:Echo")

    assert check_env(spec, seeds=range(3)).is_good


def test_rollouts_are_compared_where_no_action_can_be_sampled() -> None:
    class Mute(gem.Env):
        def reset(self, seed: int | None = None) -> tuple[str, dict[str, object]]:
            return f"Say {self.rng.randrange(9)}", {}

        def step(self, action: str) -> gem.Step:
            return gem.Step(action, terminated=True)

    report = check_env(Mute, seeds=range(3))

    (line,) = (line for line in report.lines if line.name == "rollouts")
    assert line.state == "passed"


def test_an_environment_can_be_checked_where_numpy_was_never_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "numpy.random", raising=False)
    gem.register("fine:Plain", "gem.testing.envs:Echo")

    report = check_env("fine:Plain", seeds=range(3))

    (line,) = (line for line in report.lines if line.name == "global_chance")
    assert line.evidence == "random neither read nor written"


SCRIPT = """
import gem, gem.testing
with open("runs", "a+") as runs:
    runs.write("run ")
    runs.seek(0)
    if runs.read().count("run") > 9:
        raise SystemExit("this goes on without end")

class Mine(gem.Env):
    def reset(self, seed=None):
        return f"guess {self.rng.random()}", {}
    def step(self, action):
        return gem.Step("right", 1.0, True, False, {"success": True})
    def sample_action(self):
        return "1"

gem.register(gem.EnvSpec(id="my:Mine-v0", target="unguarded:Mine"), TARGET)
gem.testing.check_env("my:Mine-v0", seeds=range(2), backends=["sync", "process"])
"""


@pytest.mark.parametrize("target", ["Mine", "None"])
def test_a_check_in_a_script_without_a_main_guard_comes_to_an_end(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "unguarded.py").write_text(SCRIPT.replace("TARGET", target))

    subprocess.run([sys.executable, "unguarded.py"], cwd=tmp_path, check=False)

    assert (tmp_path / "runs").read_text().count("run") <= 4


def test_the_other_process_of_a_check_starts_no_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEM_CHECKED_ELSEWHERE", "1")
    gem.register("fine:Coin", "gem.testing.envs:Coin")

    with pytest.raises(EnvUsageError, match="under `if __name__"):
        check_env("fine:Coin")


def test_a_stack_of_wrappers_can_be_checked() -> None:
    gem.register("fine:Wrapped", "gem.testing.envs:Guess")

    report = check_env(
        "fine:Wrapped", wrappers=["concat", "episode_tracking"], seeds=range(3), highest=7
    )

    assert report.failures == ()


def test_an_asynchronous_environment_can_be_checked() -> None:
    gem.register("fine:Awaited", AwaitedGuess)

    report = check_env("fine:Awaited", seeds=range(3))

    assert report.failures == ()


class AwaitedGuess(Guess):
    async def areset(
        self, seed: int | None = None, **options: object
    ) -> tuple[gem.Observation, dict[str, object]]:
        return Guess.reset.__wrapped__(self)  # type: ignore[attr-defined, no-any-return]

    async def astep(self, action: str) -> gem.Step:
        return Guess.step.__wrapped__(self, action)  # type: ignore[attr-defined, no-any-return]


def test_what_exists_in_this_process_only_is_skipped_elsewhere_with_the_reason() -> None:
    class Local(Echo):
        pass

    gem.register("fine:Local", Local)

    [line] = [each for each in check_env("fine:Local").lines if each.name == "another_process"]

    assert line.state == "skipped"
    assert "this process only" in line.evidence


def test_a_live_argument_is_a_reason_to_skip_what_rebuilds() -> None:
    gem.register("fine:Opaque", WithAgent)

    report = check_env("fine:Opaque", agent=object())

    skipped = {line.name for line in report.lines if line.state == "skipped"}
    assert report.failures == ()
    assert {"another_process", "spec"} <= skipped


class WithAgent(Coin):
    def __init__(self, agent: object) -> None:
        self.agent = agent

    shared = ("agent",)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("max_turns", "3", "max_turns is '3', and it must be an int from 1, or None"),
        ("max_turns", True, "max_turns is True, and it must be"),
        ("max_turns", 0, "max_turns is 0, and it must be"),
        ("reward_range", "0..1", "reward_range is '0..1', and it must be two numbers"),
        ("reward_range", (1.0, 0.0), "reward_range is (1.0, 0.0), and it must be two numbers"),
        ("reward_range", (None, 1), "reward_range is (None, 1), and it must be two numbers"),
        ("check_hints", {"winnable": 0}, "check_hints is {'winnable': 0}, and it must be a gem."),
    ],
)
def test_a_declaration_of_another_kind_is_one_line(name: str, value: Any, complaint: str) -> None:
    odd = type("Odd", (Echo,), {name: value})

    [line] = check_env(odd).lines

    assert (line.name, line.state) == ("made", "failed")
    assert line.evidence.startswith(complaint)


def test_an_unknown_environment_is_the_callers_error() -> None:
    with pytest.raises(UnknownEnv):
        check_env("fine:NoSuchThing")


def test_an_argument_that_is_not_taken_is_the_callers_error() -> None:
    gem.register("fine:Guess", "gem.testing.envs:Guess")

    with pytest.raises(BadArguments):
        check_env("fine:Guess", lowest=3)


def test_a_report_is_json_with_every_line() -> None:
    line = CheckLine("flags", "flags agree", "failed", "they do not")
    report = CheckReport("fine:Thing", (line,))

    plain = json.loads(report.to_json())

    assert plain == {
        "env_id": "fine:Thing",
        "is_good": False,
        "lines": [
            {
                "name": "flags",
                "claim": "flags agree",
                "state": "failed",
                "evidence": "they do not",
            }
        ],
    }


def test_a_report_without_failures_is_good() -> None:
    report = CheckReport("fine:Thing", (CheckLine("tasks", "...", "skipped", "no tasks"),))

    assert report.is_good

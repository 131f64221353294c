"""Watching a policy play."""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from gem.cli._main import main

Install = Callable[..., Path]
Play = Callable[..., str]
See = Callable[..., list[str]]

MANIFEST = """
from gem.specs import PluginManifest, PolicySpec
NAMES = ("one", "two", "away", "spy", "slow", "stopped", "fails_later", "person")
plugin = PluginManifest(
    name="acme",
    policies=tuple(PolicySpec(id=name, target=f"acme_policy.those:{name}") for name in NAMES),
)
"""
POLICIES = """
import asyncio
import sys
from gem.errors import GemError

class Named:
    closed = 0
    def __call__(self, request):
        return str(request.turn + 1)
    async def aclose(self):
        type(self).closed += 1

class Away(Named):
    async def probe(self):
        raise GemError("Nobody is there.")

class Spy(Named):
    seen = []  # what was on the screen when it was asked
    def __call__(self, request):
        self.seen.append(sys.stdout.getvalue())
        return str(request.turn + 1)

class Slow(Named):
    state = ""
    async def __call__(self, request):
        while sys.stdout.getvalue().count("slow is thinking") < 2:
            await asyncio.sleep(0)
        self.state = "waiting 3 of 600 s for http://there"
        while "3 of 600 s" not in sys.stdout.getvalue():
            await asyncio.sleep(0)
        self.state = ""
        return str(request.turn + 1)

class Stopped(Named):
    async def __call__(self, request):
        raise KeyboardInterrupt

class FailsLater(Named):
    def __call__(self, request):
        if request.turn:
            raise RuntimeError("no words left")
        return "1"

class Person(Named):
    uses_screen = True

person = Person
one, away, spy, slow, stopped, fails_later = Named, Away, Spy, Slow, Stopped, FailsLater

def two():
    return lambda request: "no number"
"""


@pytest.fixture
def policies(site: Path, install: Install) -> Callable[[], ModuleType]:
    """Return a function that returns the module of the policies, once one was asked for."""
    install("acme-policy", manifest=MANIFEST, files={"those.py": POLICIES})
    return lambda: sys.modules["acme_policy.those"]


def test_a_policy_is_watched(typed: Play, policies: Callable[[], ModuleType]) -> None:
    shown = typed("play:Strict", "--policy", "one", "--seed", "3", lines="\n" * 6)

    assert "play:Strict seed 3, policy one\n" in shown
    assert "Lit: [1, 2]" in shown
    assert policies().Named.closed == 1
    assert "Not a number." in typed("play:Strict", "--policy", "two", lines="\n")


def test_a_policy_of_the_current_folder_is_found(
    typed: Play, install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here_it_is.py").write_text("def yes():\n    return lambda request: '1'\n")
    manifest = "from gem.specs import PluginManifest, PolicySpec\n"
    manifest += "of_mine = PolicySpec(id='mine', target='here_it_is:yes')\n"
    manifest += "plugin = PluginManifest(name='mine', policies=(of_mine,))\n"
    install("acme-mine", manifest=manifest)
    monkeypatch.setattr("sys.path", [each for each in sys.path if each])
    monkeypatch.chdir(tmp_path)

    shown = typed("play:Strict", "--policy", "mine", "--seed", "3", lines="\n")
    typed("play:Strict", "--policy", "mine", lines="")  # the folder is named once

    assert "Lit: [1]" in shown
    assert sys.path.count(str(tmp_path)) == 1


def test_each_turn_is_shown_before_the_next_answer_is_asked_for(
    policies: Callable[[], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr("sys.stdout", io.StringIO())

    assert main(["play", "play:Strict", "--policy", "spy", "--seed", "3"]) == 0

    first, second = policies().Spy.seen[:2]
    assert "Four lamps" in first
    assert "Lit: [1]" not in first
    assert "Lit: [1]" in second
    assert "thinking" not in second  # which nobody who reads a file needs to know


def test_the_policy_is_asked_no_sooner_than_its_turn_is_wanted(
    seen: See, policies: Callable[[], ModuleType]
) -> None:
    screens = seen("Strict", "", ":q", options=("--policy", "spy"))

    assert len(policies().Spy.seen) == 1
    assert "Lit: " in screens[-1]
    assert policies().Spy.closed == 1


def test_a_turn_can_be_looked_at_again_while_the_policy_waits(
    seen: See, policies: Callable[[], ModuleType]
) -> None:
    screens = seen("Strict", "", ":b", "", ":q", options=("--policy", "spy"))

    assert len(policies().Spy.seen) == 1
    assert ["Lit: " in screen for screen in screens[-3:]] == [True, False, True]


def test_a_terminal_says_what_is_waited_for(seen: See, policies: Callable[[], ModuleType]) -> None:
    screens = "".join(seen("Strict", "", ":q", options=("--policy", "slow")))

    assert "slow is thinking ..." in screens
    assert "waiting 3 of 600 s for http://there ..." in screens


def test_a_terminal_says_that_the_environment_is_waited_for(
    seen: See, policies: Callable[[], ModuleType]
) -> None:
    assert "The environment works ..." in "".join(
        seen("Heavy", "", ":q", options=("--policy", "one"))
    )


def test_a_terminal_that_cannot_move_back_says_it_once_a_turn(
    policies: Callable[[], ModuleType], seen: See, monkeypatch: pytest.MonkeyPatch
) -> None:
    [shown] = seen("Strict", "", "", ":q", options=("--policy", "one"), term="dumb")

    assert shown.count("one is thinking ...\n") == 2


def test_a_policy_whose_server_is_away_is_told_at_once(
    typed: Play, policies: Callable[[], ModuleType]
) -> None:
    shown = typed("play:Strict", "--policy", "away", status=2)

    assert shown == "gem-env: Nobody is there.\n"
    assert policies().Away.closed == 1


def test_ctrl_c_while_the_policy_thinks_leaves_nothing_behind(
    typed: Play, policies: Callable[[], ModuleType], caplog: pytest.LogCaptureFixture
) -> None:
    shown = typed("play:Strict", "--policy", "stopped", lines="\n", status=130)
    gc.collect()  # asyncio tells of a task's lost error when the task goes

    assert "gem-env: interrupted." in shown
    assert policies().Stopped.closed == 1
    assert caplog.records == []


def test_an_error_after_a_turn_does_not_show_the_turn_again(
    typed: Play, policies: Callable[[], ModuleType], placed: Callable[[str, str], str]
) -> None:
    shown = typed("play:Strict", "--policy", "fails_later", "--seed", "3", lines="\n\n", status=1)

    assert shown.count("Lit: [1]") == 1
    last = shown.splitlines()[-1].rpartition("> ")[2]
    assert last == placed("Ended by policy_error: RuntimeError: no words left", "__call__")


def test_an_error_on_a_screen_stands_below_the_last_turn(
    seen: See, policies: Callable[[], ModuleType]
) -> None:
    last = seen("Strict", "", "", status=1, options=("--policy", "fails_later"))[-1]

    assert last.index("Lit: ") < last.index("Ended by policy_error")


def test_an_environment_that_fails_is_status_1(
    typed: Play, policies: Callable[[], ModuleType]
) -> None:
    raised = typed("play:Raises", "--policy", "one", lines="\n", status=1)
    unmade = typed("play:Unmade", "--policy", "one", status=1)

    assert "Ended by env_error: RuntimeError: out of" in raised
    assert "Ended by env_error: RuntimeError: no" in unmade


def test_a_person_is_not_watched(typed: Play, policies: Callable[[], ModuleType]) -> None:
    shown = typed("play:Strict", "--policy", "person", status=2)

    assert shown == (
        "gem-env: --policy person was asked for, and that is a person at this terminal. Leave it "
        "out to play yourself.\n"
    )

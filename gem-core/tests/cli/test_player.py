"""What a pack takes from the screen of `play`, for a policy that a person plays."""

from __future__ import annotations

import importlib
import io
import subprocess
import sys

import pytest

from gem.cli.screen import Exchange, Player, PlayerLeft, TypedAnswer, View, answer_form

Output = pytest.CaptureFixture[str]


def test_the_screen_is_public() -> None:
    screen = importlib.import_module("gem.cli.screen")

    assert all(hasattr(screen, name) for name in screen.__all__)


def test_the_screen_imports_no_environment_and_no_pydantic() -> None:
    program = "import sys, gem.cli.screen; print(*{'gem.env', 'pydantic'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == ""


def player(monkeypatch: pytest.MonkeyPatch, typed: str) -> Player:
    """A player who types this, at an episode that has begun."""
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    created = Player()
    created.begin(View("Heading", (Exchange("", "Rules."),), total=None))
    return created


def test_an_answer_is_written_as_the_environment_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    typing = player(monkeypatch, "7\n\\boxed{8}\n")
    typing.form = answer_form("Answer in \\boxed{}.")

    assert typing.read() == TypedAnswer("\\boxed{7}", "7")
    assert typing.read() == TypedAnswer("\\boxed{8}", "\\boxed{8}")


def test_a_number_takes_a_listed_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    typing = player(monkeypatch, "2\n")

    assert typing.numbered("\\boxed{a}\n\\boxed{b}") == (" 1  a\n 2  b", "")
    assert typing.read() == TypedAnswer("\\boxed{b}", "2")


def test_a_command_is_no_answer(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    assert player(monkeypatch, ":rules\n").read() is None
    assert "Rules." in capsys.readouterr().out


@pytest.mark.parametrize("typed", [":quit\n", "", ":lines\nhalf\n"])
def test_who_leaves_is_told_by_an_exception(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PlayerLeft):
        player(monkeypatch, typed).read()


def test_an_episode_may_begin_at_a_later_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())

    Player().begin(View("Heading", (Exchange("", "Rules."), Exchange("5", "Higher."))))

    assert capsys.readouterr().out == "Heading\n\n  Rules.\n  Higher.\n"


def test_who_is_not_told_of_rewards_sees_none() -> None:
    view = View("Heading", (Exchange("", "Rules."),), turn=2, total=None)

    assert view.status == "Turn 2."
    assert view.after(Exchange("a", "b"), "", 1.0, replaces=False).total is None

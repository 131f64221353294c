from __future__ import annotations

from collections.abc import Callable

import pytest

from gem.cli._colours import painted
from gem.cli._screen import Exchange, Screen, View

Output = pytest.CaptureFixture[str]
Play = Callable[..., str]


def test_marks_are_coloured_unless_that_is_not_wanted(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = View(
        "Play", (Exchange("", "Lit: [1]\nNot 1"),), highlights=(("^Lit", "[0-9]", "green"),)
    )
    monkeypatch.delenv("NO_COLOR", raising=False)
    Screen().show(view)
    assert "Lit: [\x1b[32m1\x1b[0m]\nNot 1" in capsys.readouterr().out

    monkeypatch.setenv("NO_COLOR", "1")
    Screen().show(view)
    assert "Lit: [1]\nNot 1" in capsys.readouterr().out


def test_a_long_line_is_left_as_it_is() -> None:
    assert painted("1" * 1000, [("1", "1", "red")]) == "1" * 1000


def test_a_mark_may_have_groups_of_its_own() -> None:
    marks = [("1", "(a)|(b)", "red"), ("1", "(?P<digit>[0-9])", "green")]

    assert painted("b 1", marks) == "\x1b[31mb\x1b[0m \x1b[32m1\x1b[0m"


def test_a_mark_that_fits_nothing_colours_nothing() -> None:
    assert painted("ab", [("a", "x*", "red")]) == "ab"


@pytest.mark.parametrize("mark", [("(", "a", "red"), ("a", "(", "red"), ("a", "a", "pink")])
def test_a_wrong_mark_leaves_the_text_as_it_is(mark: tuple[str, str, str]) -> None:
    assert painted("ab", [mark]) == "ab"

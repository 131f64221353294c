from __future__ import annotations

from collections.abc import Callable

import pytest

from gem.cli.colours import painted
from gem.cli.screen import Scene, Screen, Turn

Output = pytest.CaptureFixture[str]
Play = Callable[..., str]


def test_marks_are_coloured_unless_that_is_not_wanted(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene("Play", (Turn("", "Lit: [1]\nNot 1"),), highlights=(("^Lit", "[0-9]", "green"),))
    monkeypatch.delenv("NO_COLOR", raising=False)
    Screen().show(scene)
    assert "Lit: [\x1b[32m1\x1b[0m]\nNot 1" in capsys.readouterr().out

    monkeypatch.setenv("NO_COLOR", "1")
    Screen().show(scene)
    assert "Lit: [1]\nNot 1" in capsys.readouterr().out


def test_a_long_line_is_left_as_it_is() -> None:
    assert painted("1" * 1000, [("1", "1", "red")]) == "1" * 1000

from __future__ import annotations

import io

import pytest

from gem_eval.settings import settings_from
from gem_eval.summary import Outcome, Summary, summarise
from gem_eval.table import print_summary


def summary(policy: str = "noop", *, repeats: int = 1, error: str | None = None) -> Summary:
    settings = settings_from(
        {"envs": ["tiny:Guess", "tiny:Echo"], "policies": policy, "repeats": repeats}
    )
    reason = "terminated" if error is None else "policy_error"
    outcomes = [
        Outcome(0, policy, n, 0, n < 8, float(n < 8), 3, reason, error, None, 0.0, 0.0)
        for n in range(10)
    ]
    return summarise(settings, outcomes, run="runs/my run")


def printed(shown: Summary) -> str:
    file = io.StringIO()
    print_summary(shown, file)
    return file.getvalue()


def test_the_figures_stand_with_their_intervals() -> None:
    [line] = [line for line in printed(summary()).splitlines() if "tiny:Guess" in line]

    assert line.split()[:4] == ["tiny:Guess", "noop", "10", "0.800"]
    assert "[0.490, 0.943]" in line
    assert "3.00 [3.00, 3.00]" in line


def test_nothing_known_is_a_dash() -> None:
    [line] = [line for line in printed(summary()).splitlines() if "tiny:Echo" in line]

    assert line.split() == ["tiny:Echo", "noop", "0", "-", "-", "-", "0"]


def test_no_cell_is_cut_or_styled_outside_a_terminal() -> None:
    name = "openai:" + "organisation/model" * 20 + "@http://localhost:8000/v1"

    text = printed(summary(name))

    assert name in text
    assert "\x1b" not in text


def test_a_name_with_brackets_is_no_markup() -> None:
    assert "[bold]x[/bold]" in printed(summary("[bold]x[/bold]"))


def test_a_name_cannot_reach_the_terminal() -> None:
    assert "\x1b" not in printed(summary("\x1b[2Jgone"))


def test_repeats_add_pass_at_k() -> None:
    assert "pass@4" in printed(summary(repeats=4))
    assert "pass@" not in printed(summary())


def test_the_first_error_is_shown_on_one_line() -> None:
    text = printed(summary(error="PolicyError: down\nfor ever"))

    assert "The first error of noop on tiny:Guess: PolicyError: down for ever\n" in text


def test_the_next_command_is_quoted_for_the_shell() -> None:
    assert "gem-env replay 'runs/my run' --verify" in printed(summary())


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_any_encoding_can_show_it(encoding: str) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)

    print_summary(summary(), file)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_a_terminal_of_any_width_shows_every_figure(
    monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    file = Terminal()

    print_summary(summary("openai:organisation/model@http://localhost:8000/v1"), file)

    text = file.getvalue()
    assert "\x1b[1m" in text
    for part in ("tiny:Guess", "openai:organisation/model@http", "0.800 [0.490, 0.943]", "runs"):
        assert part in text

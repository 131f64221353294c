from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest

from gem import Usage
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

    assert line.split() == ["tiny:Echo", "noop", "0", "-", "0", "-", "-"]


def test_a_figure_that_says_nothing_has_no_column() -> None:
    text = printed(summary())

    for column in ("with errors", "tokens", "s/episode", "cut answers", "stop reasons"):
        assert column not in text


def test_what_a_model_cost_stands_beside_its_figures() -> None:
    usage = Usage(16_500, 340)
    spent = Outcome(
        0, "noop", 0, 0, True, 1.0, 3, "model_length", None, usage, 2.0, 0.5, None, 3, 1
    )
    settings = settings_from({"envs": "tiny:Guess", "policies": "noop"})

    text = printed(summarise(settings, [spent], run="runs/x"))

    for figure in ("16.5k/340", "2.50", "1 of 3", "model_length 1"):
        assert figure in text


def test_success_with_errors_stands_beside_success() -> None:
    settings = settings_from({"envs": "tiny:Guess", "policies": "noop"})
    won = Outcome(0, "noop", 0, 0, True, 1.0, 3, "terminated", None, None, 0.0, 0.0)
    lost = won._replace(episode_index=1, stop_reason="policy_error", error="down", success=False)

    header, line, *_ = printed(summarise(settings, [won, lost], run="runs/x")).splitlines()

    assert header.split()[2:7] == ["episodes", "success", "errors", "with", "errors"]
    assert line.split()[2:4] == ["2", "1.000"]
    assert "0.500 [0.095, 0.905]" in line


def test_tasks_that_were_played_again_are_told() -> None:
    settings = settings_from({"envs": "tiny:Guess", "policies": "noop"})
    plain = Outcome(0, "noop", 0, 0, True, 1.0, 3, "terminated", None, None, 0.0, 0.0)
    outcomes = [plain._replace(episode_index=n, task=n % 2) for n in range(100)]

    assert "tiny:Guess has 100 episodes of 2 tasks" in printed(
        summarise(settings, outcomes, run="runs/x")
    )


def test_a_model_is_called_by_its_name_and_explained_below() -> None:
    name = "openai:organisation/model@http://localhost:8000/v1"

    text = printed(summary(name))

    [line] = [line for line in text.splitlines() if "tiny:Guess" in line]
    assert line.split()[1] == "model"
    assert f"model is {name}\n" in text


def test_no_cell_is_cut_or_styled_outside_a_terminal() -> None:
    name = "organisation-model" * 20

    text = printed(summary(name))

    assert f"tiny:Guess   {name}" in text
    assert "\x1b" not in text


def test_a_name_with_brackets_is_no_markup() -> None:
    assert "[bold]x[/bold]" in printed(summary("[bold]x[/bold]"))


def test_a_name_cannot_reach_the_terminal() -> None:
    assert "\x1b" not in printed(summary("\x1b[2Jgone"))


def test_repeats_add_pass_at_k() -> None:
    shown = printed(summary(repeats=4))
    assert "pass@4" in shown
    # Of pass^k every k, for it is read as a curve; pass^1 is the success.
    assert ["pass^2" in shown, "pass^4" in shown, "pass^1" in shown] == [True, True, False]
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


def shown(
    monkeypatch: pytest.MonkeyPatch, columns: int, *, envs: Sequence[str], policies: Sequence[str]
) -> str:
    """Print a summary with every column to a terminal, and return it without its styles."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    settings = settings_from({"envs": envs, "policies": policies})
    outcomes = [
        Outcome(
            env, policy, n, 0, n < 3, 0.5, n, "terminated", None, Usage(9, 9), 1.0, 1.0, None, 2, 1
        )
        if n < 6
        else Outcome(env, policy, n, 0, False, 0.0, 0, "policy_error", "down", None, 0.0, 0.0)
        for env in range(len(envs))
        for policy in policies
        for n in range(8)
    ]
    file = Terminal()
    print_summary(summarise(settings, outcomes, run="runs/x"), file)
    assert "\x1b[1m" in file.getvalue()
    return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())


SEVERAL = (
    "openai:Qwen/Qwen3-8B@http://localhost:8000/v1",
    "openai:meta-llama/Llama-3.1-8B-Instruct@http://localhost:8000/v1",
    "random",
)


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("policies", [SEVERAL[:1], SEVERAL])
def test_a_terminal_of_any_width_shows_every_figure(
    monkeypatch: pytest.MonkeyPatch, columns: int, policies: Sequence[str]
) -> None:
    text = shown(monkeypatch, columns, envs=["tiny:Guess", "tiny:Echo"], policies=policies)

    figures = ("0.500 [0.188, 0.812]", "0.375 [0.137, 0.694]", "54/54", "1.50", "6 of 12")
    for part in ("tiny:Guess", "tiny:Echo", "Qwen3-8B", *figures, "terminated 6, policy_error 2"):
        assert part in text


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_no_table_is_wider_than_its_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    text = shown(monkeypatch, columns, envs=["tiny:Guess", "tiny:Echo"], policies=SEVERAL)

    tables = text.partition("In brackets")[0]
    assert "policy " in tables  # and no blocks
    assert max(map(len, tables.splitlines())) <= columns

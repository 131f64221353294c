"""Playing with standard input from a file."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gem.cli._main import main

Output = pytest.CaptureFixture[str]
Play = Callable[..., str]


def test_the_first_observation_and_the_seed_are_shown(play: Play) -> None:
    shown = play("Guess")

    assert "Seed 3." in shown
    assert "  Guess a number from 1 to 15." in shown


def test_a_game_is_played_to_its_end(play: Play) -> None:
    lines = ["\\boxed{8}", "\\boxed{4}", "\\boxed{2}", "\\boxed{1}", "\\boxed{3}"]

    shown = play("Guess", *lines, options=("--env-kwargs", '{"highest": 4, "max_turns": 9}'))

    assert "Success after" in shown
    assert "total reward 1." in shown


def test_a_game_that_is_lost_says_so(play: Play) -> None:
    assert "No success after 1 turn, total reward -0.1." in play("Guess", ":send nothing at all")


def test_what_is_typed_is_put_into_the_box_that_is_asked_for(play: Play) -> None:
    assert "sent as \\boxed{8}" in play("Guess", "8")


def test_a_box_that_is_typed_stays_as_it_is(play: Play) -> None:
    assert "sent as" not in play("Guess", "\\boxed{8}")


def test_the_box_is_read_from_the_text_where_there_is_no_sample(play: Play) -> None:
    assert "sent as \\boxed{8}" in play("NoSample", "8")


def test_plain_answers_stay_plain(play: Play) -> None:
    assert "Lit: [2]" in play("Lamps", "2")


def test_a_hint_is_what_solve_says(play: Play) -> None:
    assert "> " + "  \\boxed{8}" in play("Guess", ":hint")


def test_a_hint_where_nothing_is_known_says_so(play: Play) -> None:
    assert "No solution is known here." in play("Coin", ":hint")


def test_an_action_can_be_taken_back(play: Play) -> None:
    shown = play("Lamps", "1", "2", ":undo", ":undo", "3")

    before, _, after = shown.rpartition("Taken back. This is where you were.")
    assert "Taken back." in before
    assert "Four lamps" in after
    assert "Lit: [3]" in after
    assert "Left after 1 turn" in after


def test_there_may_be_nothing_to_take_back(play: Play) -> None:
    assert "There is nothing to take back." in play("Lamps", ":undo")


def test_what_cannot_be_saved_cannot_be_taken_back(play: Play) -> None:
    assert "There is nothing to take back." in play("NotPlain", "1", ":undo")


def test_a_hint_can_be_taken_at_once(play: Play) -> None:
    assert "It is higher." in play("Guess", ":hint!")


def test_a_hint_that_is_not_there_is_not_taken(play: Play) -> None:
    assert "Left after 0 turns" in play("Coin", ":hint!")


def test_the_same_episode_starts_again(play: Play) -> None:
    shown = play("Lamps", "1", ":restart")

    assert shown.count("Seed 3.") == 2
    assert "Left after 0 turns" in shown


def test_another_episode_starts(play: Play) -> None:
    assert "Seed 12." in play("Lamps", ":new 12")


def test_any_other_episode_starts(play: Play) -> None:
    assert play("Lamps", ":new").count("Seed ") == 2


def test_an_answer_that_cannot_be_read_is_asked_for_again(play: Play) -> None:
    shown = play("Strict", "one\x1b", "1")

    assert (
        '"one\\x1b" cannot be read here. It was not counted (--strict counts it).\n'
        "A model would be told: Not a number.\n> "
    ) in shown
    assert "Lit: [1]" in shown


def test_a_game_that_says_nothing_of_a_slip_is_spoken_for(play: Play) -> None:
    assert "An answer looks like this: \\boxed{...}\n> " in play("Silent", "one")
    assert "looks like" not in play("SilentPlain", "one")


def test_a_strict_game_counts_an_answer_that_cannot_be_read(play: Play) -> None:
    assert "No success after 1 turn" in play("Strict", "one", options=("--strict",))


def test_q_leaves_as_quit_does(play: Play) -> None:
    assert "Left after 1 turn" in play("Lamps", "1", ":q", "2")


def test_a_seed_is_a_number(play: Play) -> None:
    assert "twelve is no seed." in play("Lamps", ":new twelve")


def test_there_is_nothing_to_take_back_in_another_episode(play: Play) -> None:
    assert "There is nothing to take back." in play("Lamps", "1", ":new 4", ":undo")


def test_the_rules_can_be_read_again(play: Play) -> None:
    assert play("Guess", "8", ":rules").count("Guess a number from 1 to 15.") == 2


def test_everything_that_was_said_can_be_read_again(play: Play) -> None:
    _, _, log = play("Lamps", "2", "1", ":log").rpartition("Four lamps")

    assert log.index("> 2") < log.index("> 1")


def test_an_answer_may_have_several_lines(play: Play) -> None:
    assert "sent as \\boxed{one\ntwo}" in play("Guess", ":lines", "one", "two", ".")


def test_an_empty_line_is_no_answer(play: Play) -> None:
    assert "Left after 0 turns" in play("Guess", "", " ")


def test_an_empty_answer_can_be_sent(play: Play) -> None:
    assert "No success after 1 turn" in play("Guess", ":send ")


def test_help_lists_the_players_commands(play: Play) -> None:
    assert ":undo         take the last action back" in play("Lamps", ":help")


def test_an_unknown_command_is_not_an_action(play: Play) -> None:
    shown = play("Lamps", ":hnit")

    assert "There is no :hnit" in shown
    assert "Left after 0 turns" in shown


def test_quitting_leaves_politely(play: Play) -> None:
    assert "Left after 1 turn, total reward 0 so far." in play("Lamps", "1", ":quit")


def test_the_end_of_input_leaves_politely(play: Play) -> None:
    assert play("Lamps", "1").endswith("\nLeft after 1 turn, total reward 0 so far.\n")


def test_hostile_text_reaches_the_terminal_escaped(play: Play) -> None:
    shown = play("Hostile")

    assert "\\x1b[2J\\x07" in shown
    assert "\x1b" not in shown


def test_wrappers_are_put_around_it(play: Play) -> None:
    shown = play("Lamps", "1", "2", options=("--wrappers", "concat"))

    assert shown.count("Four lamps") == 3


def test_an_environment_that_raises_is_reported_in_one_line(play: Play) -> None:
    shown = play("Raises", "1", status=1)
    assert re.search(
        r"The environment raised RuntimeError: out of words \(\w+\.py, line \d+, in step\)\n", shown
    )


def test_an_environment_that_cannot_be_made_is_reported_in_one_line(play: Play) -> None:
    shown = play("Unmade", status=1)
    assert shown.startswith("The environment raised RuntimeError: no hands (")
    assert shown.endswith(", in __init__)\n")


def test_an_error_of_ours_is_wrong_use(play: Play) -> None:
    play("Refuses", "1", status=2)


def test_without_a_seed_it_is_any_episode(
    site: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    assert main(["play", "play:Lamps"]) == 0
    assert "Seed " in capsys.readouterr().out


def test_an_unknown_id_is_wrong_use(site: Path, capsys: Output) -> None:
    assert main(["play", "play:Lamp"]) == 2
    assert "Did you mean 'play:Lamps'" in capsys.readouterr().err

"""What stands on a terminal that is redrawn in place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gem.cli._screen import Exchange, View, frame

See = Callable[..., list[str]]


def test_a_screen_has_what_was_said_and_where_it_stands(seen: See) -> None:
    last = seen("Guess", "8")[-1].splitlines()

    assert last[:6] == [
        "play:Guess. Seed 3. Type your action, or :help.",
        "",
        "> 8",
        "It is higher.",
        "",
        "Guess again.",
    ]
    assert "Turn 1 of 4, total reward 0, last reward 0." in last


def test_the_instructions_make_room_for_the_game(seen: See) -> None:
    _, first, second = seen("Guess", "8")

    assert "Guess a number from 1 to 15." in first
    assert "Guess a number" not in second


def test_a_task_without_a_board_stays_on_the_screen(seen: See) -> None:
    assert "Four lamps" in seen("Lamps", "1", "2")[-1]


def test_an_empty_line_draws_the_screen_again(seen: See) -> None:
    _, first, again = seen("Guess", "")

    assert first.removesuffix("> ") in again


def test_a_note_stands_below_the_board(seen: See) -> None:
    last = seen("Guess", ":hint")[-1]

    assert last.index("Turn 0 of 4") < last.index("\\boxed{8}")


def test_on_a_terminal_one_episode_follows_another(seen: See) -> None:
    screens = seen("Guess", ":send nothing", ":hint", "8", ":new 4", ":quit")

    assert "No success after 1 turn" in screens[2]
    assert all("It is over: :undo, :restart, :new or :quit" in screen for screen in screens[2:5])
    assert "Seed 4." in screens[-1]


def test_what_ended_an_episode_can_be_taken_back(seen: See) -> None:
    assert "Turn 0 of 4" in seen("Guess", ":send nothing", ":undo")[-1]


def test_a_whole_prompt_is_not_shown_twice(seen: See) -> None:
    assert seen("Lamps", "1", "2", options=("--wrappers", "concat"))[-1].count("Four lamps") == 1


def test_hostile_text_reaches_the_screen_escaped(seen: See) -> None:
    last = seen("Hostile", "\x1b[31m")[-1]

    assert "\x1b" not in last
    assert "\\x1b[31m" in last


TURNS = (Exchange("", "The rules."), *(Exchange(str(n), f"You said {n}.") for n in range(1, 7)))


@pytest.mark.parametrize("rows", [7, 10, 13, 24, 40])
def test_as_many_turns_are_shown_as_fit(rows: int) -> None:
    lines = frame(View("Seed 1.", TURNS, "[ ]", 6), "", 80, rows)
    asked = len(lines) + 1

    assert {"> 6", "You said 6.", "[ ]"} <= set(lines)
    assert asked <= max(rows, 9)
    assert asked > min(rows, 18) - 2


def test_turns_that_are_left_out_are_counted() -> None:
    assert "(4 earlier: see :log)" in frame(View("Seed 1.", TURNS, "[ ]", 6), "", 80, 12)


def test_long_lines_are_broken_between_words() -> None:
    lines = frame(View("Seed 1.", (Exchange("", "Say nothing, at length."),)), "", 15, 24)

    assert lines[2:4] == ["Say nothing, at", "length."]


def test_of_several_seats_each_has_its_rewards() -> None:
    begun = View("Seed 1.", TURNS[:1]).of_seats(("left", "right"))
    stepped = begun.after(TURNS[1], "", 0.0, replaces=False, rewards=(-1.0, 1.0))
    waited = stepped.after(TURNS[2], "", 0.0, replaces=False, rewards=(0.0, 0.0))

    assert begun.status == "Turn 0, total rewards left 0, right 0."
    assert stepped.status == (
        "Turn 1, total rewards left -1, right 1, last rewards left -1, right 1."
    )
    assert waited.status == "Turn 2, total rewards left -1, right 1."


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_heading_is_wrapped_and_never_cut(columns: int) -> None:
    heading = (
        "game:GuessTheNumber-v0-hard seed 11234567890123456789, policy openai:my-model@http://x/v1"
    )

    lines = frame(View(heading, TURNS), "", columns, 24)
    shown = lines[: lines.index("")]

    assert " ".join(shown) == heading
    assert max(map(len, shown)) <= columns


def test_a_line_without_an_end_costs_no_time_and_is_kept() -> None:
    endless = "x" * 1_000_000

    assert endless in frame(View("Seed 1.", (Exchange("", endless),)), "", 80, 24)

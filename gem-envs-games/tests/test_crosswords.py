from __future__ import annotations

import re
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.crosswords.clues import clue_list
from gem_envs_games.crosswords.layout import find_entries, lay_out

IDS = [f"game:Crosswords-v0-{variant}" for variant in ("easy", "hard", "random")]
CLUE = re.compile(r"(\d+)\. (across|down) at \((\d+), (\d+)\), (\d+) letters: (.+)")
WORDS = sorted(clue_list().clues)


class Clue(NamedTuple):
    name: str
    cells: list[tuple[int, int]]
    word: str


def started(env_id: str = IDS[0], *, seed: int = 0, **kwargs: Any) -> gem.Env:
    env = gem.make(env_id, **kwargs)
    env.reset(seed=seed)
    return env


def suffix(env: gem.Env) -> str:
    text: str = env.suffix()  # type: ignore[attr-defined]
    return text


def board(text: str) -> list[list[str]]:
    """Read the grid as a player does: a line of columns, then a numbered line a row."""
    return [line.split()[1:] for line in text.split("\n\n", maxsplit=1)[0].splitlines()[1:]]


def clues(text: str) -> list[Clue]:
    """Read the clues as a player does, and look their words up."""
    found = []
    for number, way, row, col, length, clue in CLUE.findall(text):
        down = way == "down"
        steps = range(int(length))
        cells = [(int(row) + step * down, int(col) + step * (not down)) for step in steps]
        found.append(Clue(f"{number} {way}", cells, clue_list().words[clue]))
    return found


def letters(text: str) -> dict[tuple[int, int], str]:
    return {
        cell: letter
        for clue in clues(text)
        for cell, letter in zip(clue.cells, clue.word, strict=True)
    }


def box(*words: object) -> str:
    return f"\\boxed{{{' '.join(map(str, words))}}}"


def wrong(letter: str) -> str:
    return "A" if letter != "A" else "B"


def play(env: gem.Env) -> list[gem.Step]:
    steps = [env.step(env.solve() or "")]
    while not (steps[-1].terminated or steps[-1].truncated):
        steps.append(env.step(env.solve() or ""))
    return steps


def runs_of(rows: list[str]) -> list[str]:
    """Read every maximal run of two letters or more, across and then down, the plain way."""
    lines = [*rows, *("".join(column) for column in zip(*rows, strict=True))]
    return [run for line in lines for run in line.split("#") if len(run) > 1]


def is_connected(rows: list[str]) -> bool:
    cells = {(r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell != "#"}
    reached = {min(cells)}
    waiting = list(reached)
    while waiting:
        row, col = waiting.pop()
        beside = {(row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)}
        waiting.extend((beside & cells) - reached)
        reached |= beside & cells
    return reached == cells


layouts = st.tuples(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=20, unique=True),
    st.integers(1, 8),
    st.integers(),
)


@given(layouts)
def test_every_run_of_a_layout_is_one_of_the_words_and_all_cross(
    drawn: tuple[list[str], int, int],
) -> None:
    words, count, seed = drawn

    rows = lay_out(words, count, Random(seed))

    if rows is not None:
        found = runs_of(rows)
        assert len(found) == len(set(found)) == count
        assert set(found) <= set(words)
        assert is_connected(rows)


@given(layouts)
def test_entries_are_the_runs_numbered_in_reading_order(
    drawn: tuple[list[str], int, int],
) -> None:
    words, count, seed = drawn
    rows = lay_out(words, count, Random(seed)) or ["AB"]

    entries = find_entries(rows)

    read = ["".join(rows[row][col] for row, col in entry.cells()) for entry in entries]
    starts = sorted({(entry.row, entry.col) for entry in entries})
    assert sorted(read) == sorted(runs_of(rows))
    assert [starts[entry.number - 1] for entry in entries] == [e[2:4] for e in entries]
    assert entries == sorted(entries, key=lambda entry: (entry.is_down, entry.number))


def test_words_without_a_common_letter_have_no_layout() -> None:
    assert lay_out(["OWL", "BED"], 2, Random(0)) is None


@pytest.mark.parametrize("env_id", IDS)
def test_the_grid_shows_the_cells_of_the_clues_and_no_letter(env_id: str) -> None:
    env = gem.make(env_id)

    for seed in range(50):
        shown = env.reset(seed=seed)[1]["suffix"]
        cells = {
            (r, c)
            for r, row in enumerate(board(shown))
            for c, cell in enumerate(row)
            if cell == "_"
        }
        assert cells == set(letters(shown))
        assert {cell for row in board(shown) for cell in row} <= {"_", "#"}


@pytest.mark.parametrize("env_id", IDS)
def test_letters_fit_the_turns_with_some_to_spare(env_id: str) -> None:
    env = gem.make(env_id)

    for seed in range(200):
        shown = env.reset(seed=seed)[1]["suffix"]
        assert env.max_turns
        assert len(letters(shown)) + 2 <= env.max_turns


@given(st.integers(1, 12), st.integers(1, 60), st.booleans(), st.integers())
@settings(max_examples=50)
def test_letters_fit_any_turns_that_give_four_to_a_word_and_one(
    count: int, more: int, hardcore: bool, seed: int
) -> None:
    turns = 4 * count + more
    env = started(num_words=count, max_turns=turns, hardcore=hardcore, seed=seed)

    assert len(clues(suffix(env))) == count
    assert len(letters(suffix(env))) <= turns


@given(st.integers(13, 60), st.integers())
@settings(max_examples=30)
def test_a_number_of_words_that_is_drawn_fits_the_turns_that_are_given(
    turns: int, seed: int
) -> None:
    env = started(IDS[2], max_turns=turns, seed=seed)

    assert 3 <= len(clues(suffix(env))) <= 6
    assert len(letters(suffix(env))) <= turns


@pytest.mark.parametrize("env_id", IDS)
def test_solve_fills_every_crossword_for_a_total_of_one(env_id: str) -> None:
    env = gem.make(env_id)

    for seed in range(60):
        env.reset(seed=seed)
        count = len(letters(suffix(env)))
        steps = play(env)
        assert steps[-1].info["success"]
        assert len(steps) == count
        assert sum(step.reward for step in steps) == pytest.approx(1.0, abs=1e-9)


def test_turns_that_are_drawn_are_three_for_every_two_letters() -> None:
    env = gem.make(IDS[2])
    for seed in range(20):
        shown = env.reset(seed=seed)[1]["suffix"]
        assert env.max_turns == len(letters(shown)) * 3 // 2


@pytest.mark.parametrize("seed", range(4))
def test_a_word_is_not_written_over_the_start_of_a_longer_one(seed: int) -> None:
    rows = lay_out(["PLAN", "PLANET"], 2, Random(seed))

    assert rows is not None
    assert sorted(entry.length for entry in find_entries(rows)) == [4, 6]


def test_random_draws_easy_and_hard_and_three_to_six_words() -> None:
    env = gem.make(IDS[2])
    shown = [clues(env.reset(seed=seed)[1]["suffix"]) for seed in range(60)]

    assert {len(found) for found in shown} == {3, 4, 5, 6}
    assert {all(c.word in clue_list().hard for c in found) for found in shown} == {True, False}
    assert all(
        {c.word for c in found} <= set(level) or not {c.word for c in found} & set(level)
        for found in shown
        for level in (clue_list().easy, clue_list().hard)
    )


def test_both_clues_of_a_word_are_used() -> None:
    env = gem.make(IDS[0])
    used: dict[str, set[str]] = {}
    for seed in range(200):
        for *_, clue in CLUE.findall(env.reset(seed=seed)[1]["suffix"]):
            used.setdefault(clue_list().words[clue], set()).add(clue)

    assert max(len(found) for found in used.values()) == 2


def test_a_right_letter_is_placed_and_pays_its_share() -> None:
    env = started()
    (row, col), letter = next(iter(letters(suffix(env)).items()))
    count = len(letters(suffix(env)))

    step = env.step(box(row, col, letter))

    assert step.reward == pytest.approx(1 / count)
    assert step.info["reward_parts"]["progress"] == step.reward
    assert board(step.info["suffix"])[row][col] == letter
    assert "".join(map("".join, board(step.info["suffix"]))).count("_") == count - 1


def test_a_wrong_letter_is_a_valid_move_that_places_nothing() -> None:
    env = started()
    before = suffix(env)
    (row, col), letter = next(iter(letters(before).items()))

    step = env.step(box(row, col, wrong(letter)))

    assert step[1:4] == (0.0, False, False)
    assert "action_error" not in step.info
    assert step.info["suffix"] == before


def test_a_filled_cell_is_refused_whatever_the_letter() -> None:
    env = started()
    (row, col), letter = next(iter(letters(suffix(env)).items()))
    env.step(box(row, col, letter))

    steps = [env.step(box(row, col, guess)) for guess in (letter, wrong(letter))]

    assert [step.info["action_error"] for step in steps] == ["invalid"] * 2
    assert f"filled already, with {letter}" in observation_text(steps[0].observation)


def test_a_black_cell_is_refused() -> None:
    env = started(seed=3)
    row, col = next(
        (r, c)
        for r, row in enumerate(board(suffix(env)))
        for c, cell in enumerate(row)
        if cell == "#"
    )

    step = env.step(box(row, col, "A"))

    assert step.info["action_error"] == "invalid"
    assert "is black" in observation_text(step.observation)


@pytest.mark.parametrize("place", ["-1 0", "0 -1", "99 0", "0 99", "-5 -5", "9999999999 1"])
def test_a_cell_outside_the_grid_is_refused(place: str) -> None:
    step = started().step(box(place, "A"))

    assert step.info["action_error"] == "invalid"
    assert "outside the grid" in observation_text(step.observation)


@pytest.mark.parametrize("form", ["{} {} {}", "({}, {}), {}", "[{};{};{}]", " {},{} ,{} "])
@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_a_letter_is_read_in_odd_spellings(form: str, case: Any) -> None:
    env = started()
    (row, col), letter = next(iter(letters(suffix(env)).items()))

    step = env.step(box(form.format(row, col, case(letter))))

    assert step.reward > 0


@pytest.mark.parametrize(
    "text",
    ["0 0", "0 0 AB", "0 0 1", "A 0 0", "0 0 A A", "0 0 \u00e9", "0 0 \u0391", "1 across PIG", "A"],
)
def test_what_is_no_letter_in_a_cell_ends_the_game(text: str) -> None:
    assert started().step(box(text)).info["action_error"] == "format"


@pytest.mark.slow
@given(st.text())
def test_no_text_raises_with_or_without_whole_words(text: str) -> None:
    for whole_words in (False, True):
        env = started(whole_words=whole_words)
        assert not env.step(text).info["success"]
        env.reset(seed=0)
        assert not env.step(box(text)).info["success"]


def test_the_last_letter_wins_and_the_limit_before_it_does_not() -> None:
    count = len(letters(suffix(started())))
    last = play(started(max_turns=30))[-1]
    short = started(max_turns=30)
    shown = suffix(short)
    for _ in range(30 - count + 1):
        (row, col), letter = next(iter(letters(shown).items()))
        short.step(box(row, col, wrong(letter)))
    lost = play(short)[-1]

    assert last[2:4] == (True, False)
    assert lost[2:4] == (False, True)
    assert not lost.info["success"]


def test_a_whole_word_pays_for_its_letters_and_wins() -> None:
    env = started(whole_words=True, seed=3)
    found = clues(suffix(env))
    count = len(letters(suffix(env)))

    steps = [env.step(box(clue.name, clue.word.lower())) for clue in found]

    placed: set[tuple[int, int]] = set()
    for clue, step in zip(found, steps, strict=True):
        assert step.reward == pytest.approx(len(set(clue.cells) - placed) / count)
        placed |= set(clue.cells)
    assert steps[-1].info["success"]
    assert sum(step.reward for step in steps) == pytest.approx(1.0, abs=1e-9)


def test_what_is_expected_names_whole_words_where_they_are_taken() -> None:
    for whole_words in (False, True):
        env = started(whole_words=whole_words)
        lost = observation_text(env.step("no box").observation)
        assert ("or a whole word as in \\boxed{" in lost) is whole_words


def test_a_whole_word_pays_nothing_twice() -> None:
    env = started(whole_words=True, seed=3)
    clue = clues(suffix(env))[0]
    row, col = clue.cells[0]
    letter = clue.word[0]
    count = len(letters(suffix(env)))

    steps = [env.step(box(row, col, letter)), env.step(box(clue.name, clue.word))]
    again = env.step(box(clue.name, clue.word))

    assert [step.reward * count for step in steps] == pytest.approx([1, len(clue.word) - 1])
    assert again.info["action_error"] == "invalid"


def test_a_wrong_whole_word_places_nothing() -> None:
    env = started(whole_words=True)
    before = suffix(env)
    clue = clues(before)[0]

    step = env.step(box(clue.name, clue.word[:-1] + wrong(clue.word[-1])))

    assert step.reward == 0
    assert "action_error" not in step.info
    assert step.info["suffix"] == before


def test_a_whole_word_that_has_no_place_is_refused() -> None:
    env = started(whole_words=True)
    clue = clues(suffix(env))[0]

    steps = [env.step(box("99 down", clue.word)), env.step(box(clue.name, clue.word + "S"))]

    assert [step.info["action_error"] for step in steps] == ["invalid"] * 2


def test_solve_gives_whole_words_where_they_are_taken() -> None:
    env = started(whole_words=True)

    assert len(play(env)) == 3


def test_the_form_of_a_whole_word_is_explained_where_it_is_taken() -> None:
    with_words, _ = gem.make(IDS[0], whole_words=True).reset(seed=0)
    without, _ = gem.make(IDS[0]).reset(seed=0)

    assert "whole word" in observation_text(with_words)
    assert "whole word" not in observation_text(without)


def test_replaced_rewards_are_paid() -> None:
    rewards = {"success": 2.0, "step": -0.5, "invalid": -0.25}
    env = started(rewards=rewards)
    (row, col), letter = next(iter(letters(suffix(env)).items()))
    count = len(letters(suffix(env)))

    paid = [env.step(box(*place)).reward for place in ((row, col, letter), (99, 99, "A"))]

    assert paid == pytest.approx([2.0 / count - 0.5, -0.25])


@pytest.mark.parametrize("num_words", [0, -1, 13, 10**9])
def test_a_number_of_words_out_of_range_is_refused(num_words: int) -> None:
    with pytest.raises(BadArguments, match=f"num_words={num_words}"):
        gem.make(IDS[0], num_words=num_words)

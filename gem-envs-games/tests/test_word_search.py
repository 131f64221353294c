from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.word_search.grid import hide, lines
from gem_envs_games.words import is_word, words

IDS = [f"game:WordSearch-v0-{variant}" for variant in ("easy", "hard", "random")]
EASY, HARD, RANDOM = IDS
ACROSS_OR_DOWN = [(0, 1), (1, 0)]
EVERY_WAY = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
Run = tuple[tuple[int, int], ...]


def started(env_id: str = EASY, *, seed: int = 0, **kwargs: Any) -> gem.Env:
    env = gem.make(env_id, **kwargs)
    env.reset(seed=seed)
    return env


def suffix(env: gem.Env) -> str:
    text: str = env.suffix()  # type: ignore[attr-defined]
    return text


def board(text: str) -> list[str]:
    """Read the grid as a player does: a line of columns, then a numbered line a row."""
    above = text.partition("\n\n")[0]
    return ["".join(line.split()[1:]) for line in above.splitlines()[1:]]


def left(text: str) -> list[str]:
    """Read what stands after "Left:": words, or lengths."""
    told = text.partition("Left: ")[2].partition(".")[0]
    return told.replace("words of ", "").replace(" letters", "").split(", ")


def runs(rows: list[str], text: str, ways: list[tuple[int, int]]) -> list[Run]:
    """List the straight runs that spell a text, by looking from every cell in every way."""
    found = []
    for row in range(len(rows)):
        for col in range(len(rows[row])):
            for down, right in ways:
                cells = tuple((row + down * at, col + right * at) for at in range(len(text)))
                is_inside = all(0 <= r < len(rows) and 0 <= c < len(rows) for r, c in cells)
                if is_inside and "".join(rows[r][c] for r, c in cells) == text:
                    found.append(cells)
    return found


def dictionary_runs(rows: list[str], lengths: set[int]) -> list[str]:
    """List the words across and down of these lengths, one letter case for all."""
    straight = [*rows, *("".join(column) for column in zip(*rows, strict=True))]
    return [
        line[start : start + length]
        for line in straight
        for length in sorted(lengths)
        for start in range(len(line) - length + 1)
        if is_word(line[start : start + length].lower())
    ]


def box(*cells: tuple[int, int]) -> str:
    return f"\\boxed{{{' '.join(f'{row} {col}' for row, col in cells)}}}"


def listed_runs(env: gem.Env) -> list[Run]:
    shown = suffix(env)
    return [runs(board(shown), word, ACROSS_OR_DOWN)[0] for word in left(shown)]


def play(env: gem.Env) -> list[gem.Step]:
    steps = [env.step(env.solve() or "")]
    while not (steps[-1].terminated or steps[-1].truncated):
        steps.append(env.step(env.solve() or ""))
    return steps


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("show_words", [None, True, False])
def test_solve_finds_every_word_with_no_guess_too_many(
    env_id: str, show_words: bool | None
) -> None:
    env = gem.make(env_id, show_words=show_words)

    for seed in range(60):
        count = len(left(env.reset(seed=seed)[1]["suffix"]))
        steps = play(env)
        assert len(steps) == count
        assert steps[-1].info["success"]
        assert sum(step.reward for step in steps) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kwargs", [{}, {"hardcore": True, "show_words": True}, {"num_words": 20}])
def test_a_listed_word_stands_in_the_grid_once_whichever_way_one_reads(
    kwargs: dict[str, Any],
) -> None:
    env = gem.make(EASY, **kwargs)

    for seed in range(8):
        shown = env.reset(seed=seed)[1]["suffix"]
        for word in left(shown):
            found = runs(board(shown), word, EVERY_WAY)
            assert len(found) == 1
            assert found == runs(board(shown), word, ACROSS_OR_DOWN)


@pytest.mark.parametrize(
    "kwargs", [{}, {"hardcore": False, "show_words": False}, {"num_words": 20}]
)
def test_without_a_list_the_dictionary_words_of_the_lengths_are_the_hidden_ones(
    kwargs: dict[str, Any],
) -> None:
    env = gem.make(HARD, **kwargs)

    for seed in range(12):
        shown = env.reset(seed=seed)[1]["suffix"]
        lengths = [int(length) for length in left(shown)]
        found = dictionary_runs(board(shown), set(lengths))
        assert sorted(map(len, found)) == sorted(lengths)
        assert len(set(found)) == len(found)


lists = st.lists(
    st.sampled_from([word for length in (4, 5) for word in words(length, common=True)]),
    min_size=1,
    max_size=6,
    unique=True,
)


@given(lists, st.integers())
@settings(max_examples=50)
def test_what_is_hidden_stands_in_its_runs_and_is_not_there_again(
    chosen: list[str], seed: int
) -> None:
    hidden = hide(chosen, 8, Random(seed), set(chosen).__contains__, every_way=True)

    if hidden is not None:
        rows = [hidden.grid[start : start + 8] for start in range(0, 64, 8)]
        for word, run in zip(chosen, hidden.runs, strict=True):
            cells = tuple(divmod(cell, 8) for cell in run)
            assert set(runs(rows, word, EVERY_WAY)) <= {cells, cells[::-1]}
            assert runs(rows, word, ACROSS_OR_DOWN) == [cells]


def test_words_that_hold_each_other_cannot_be_hidden_together() -> None:
    chosen = ["planet", "plan"]

    assert hide(chosen, 9, Random(0), set(chosen).__contains__, every_way=True) is None


def lines_by_walking(side: int) -> set[tuple[int, ...]]:
    """Walk from every cell at the edge in every way that leads inside."""
    cells = [(r, c) for r in range(side) for c in range(side)]
    walks = [
        [(row + down * at, col + right * at) for at in range(side)]
        for row, col in cells
        for down, right in EVERY_WAY
        if (row - down, col - right) not in cells
    ]
    return {tuple(r * side + c for r, c in walk if (r, c) in cells) for walk in walks}


@pytest.mark.parametrize("side", [2, 3, 6, 20])
def test_lines_lead_from_edge_to_edge_in_every_way(side: int) -> None:
    found = [tuple(line) for line in lines(side, every_way=True)]

    assert {line for line in found if len(line) > 1} == {
        line for line in lines_by_walking(side) if len(line) > 1
    }
    assert {tuple(line) for line in lines(side)} <= set(found)


def test_the_grid_is_square_and_half_as_long_again_as_the_longest_word() -> None:
    env = gem.make(EASY)

    for seed in range(30):
        shown = env.reset(seed=seed)[1]["suffix"]
        longest = max(map(len, left(shown)))
        assert {len(row) for row in board(shown)} == {len(board(shown))}
        assert len(board(shown)) == round(1.5 * longest)


def test_easy_lists_common_words_and_hard_only_the_lengths_of_rare_ones() -> None:
    easy = suffix(started(EASY))
    hard = suffix(started(HARD))

    rows = board(hard)
    found = dictionary_runs(rows, {int(length) for length in left(hard)})
    assert all(word.lower() in words(len(word), common=True) for word in left(easy))
    assert all(word.lower() in words(len(word), common=False) for word in found)


def test_random_draws_the_words_their_number_and_the_turns() -> None:
    env = gem.make(RANDOM)
    drawn = set()
    for seed in range(80):
        told = left(env.reset(seed=seed)[1]["suffix"])
        drawn.add((len(told), told[0].isdigit(), env.max_turns))

    assert {(count, turns) for count, _, turns in drawn} == {(n, 4 * n) for n in range(3, 9)}
    assert {is_hidden for _, is_hidden, _ in drawn} == {True, False}


def test_a_number_of_words_that_is_drawn_fits_the_turns_that_are_given() -> None:
    env = gem.make(RANDOM, max_turns=4)

    assert {len(left(env.reset(seed=seed)[1]["suffix"])) for seed in range(30)} == {3, 4}


def test_a_found_word_is_marked_counted_and_pays_its_share() -> None:
    env = started()
    run = listed_runs(env)[1]
    word = left(suffix(env))[1]

    step = env.step(box(run[0], run[-1]))

    rows = board(step.info["suffix"])
    assert step.reward == pytest.approx(0.2)
    assert {(r, c) for r, row in enumerate(rows) for c, x in enumerate(row) if x.islower()} == {
        *run
    }
    assert f"Found 1 of 5: {word}. Left: " in step.info["suffix"]
    assert word not in left(step.info["suffix"])


def test_either_end_may_come_first() -> None:
    env = started()
    run = listed_runs(env)[0]

    assert env.fork().step(box(run[-1], run[0])).reward == env.step(box(run[0], run[-1])).reward > 0


def test_a_wrong_run_is_a_valid_guess_that_changes_nothing() -> None:
    env = started()
    before = suffix(env)

    step = env.step("\\boxed{0 0 0 1}")

    assert step[1:4] == (0.0, False, False)
    assert "action_error" not in step.info
    assert step.info["suffix"] == before
    assert f"{board(before)[0][:2]}, (0, 0) to (0, 1), is not one" in observation_text(
        step.observation
    )


def test_a_part_of_a_word_is_not_the_word() -> None:
    env = started()
    run = listed_runs(env)[0]

    assert env.step(box(run[0], run[-2])).reward == 0


@pytest.mark.parametrize("text", ["0 0 0 1", "0 1 0 0"])
def test_a_guess_made_before_is_refused_from_either_end(text: str) -> None:
    env = started()
    env.step("\\boxed{0 0 0 1}")

    step = env.step(f"\\boxed{{{text}}}")

    assert step.info["action_error"] == "invalid"
    assert "guessed before" in observation_text(step.observation)


def test_a_found_word_is_refused_the_second_time() -> None:
    env = started()
    run = listed_runs(env)[0]

    steps = [env.step(box(run[0], run[-1])) for _ in range(2)]

    assert [step.reward for step in steps] == pytest.approx([0.2, 0.0])
    assert steps[1].info["action_error"] == "invalid"


@pytest.mark.parametrize("text", ["0 0 1 1", "3 0 0 3", "0 0 0 0", "0 0 1 2"])
def test_what_goes_neither_across_nor_down_is_refused(text: str) -> None:
    step = started().step(f"\\boxed{{{text}}}")

    assert step.info["action_error"] == "invalid"
    assert "neither across nor down" in observation_text(step.observation)


@pytest.mark.parametrize("text", ["-1 0 3 0", "0 0 0 99", "50 0 50 3", "0 -4 0 -1"])
def test_what_leaves_the_grid_is_refused(text: str) -> None:
    step = started().step(f"\\boxed{{{text}}}")

    assert step.info["action_error"] == "invalid"
    assert "leaves the grid" in observation_text(step.observation)


@pytest.mark.parametrize("form", ["0,0,0,1", "(0, 0) (0, 1)", "[[0; 0], [0; 1]]", " 0  0 +0 1 "])
def test_a_guess_is_read_in_odd_spellings(form: str) -> None:
    plain = started().step("\\boxed{0 0 0 1}")

    assert started().step(f"\\boxed{{{form}}}") == plain


@pytest.mark.parametrize("text", ["0 0 0", "0 0 0 1 2", "A B C D", "0", "0 0 0 x", "0 0 0 \u00b2"])
def test_what_is_not_four_numbers_ends_the_game(text: str) -> None:
    assert started().step(f"\\boxed{{{text}}}").info["action_error"] == "format"


@given(st.text())
def test_no_text_raises(text: str) -> None:
    env = started(num_words=1)
    assert not env.step(text).info["success"]
    env.reset(seed=0)
    assert not env.step(f"\\boxed{{{text}}}").info["success"]


def test_words_left_at_the_limit_are_lost() -> None:
    env = started(max_turns=4)

    last = play(env)[-1]

    assert (last.terminated, last.truncated, last.info["success"]) == (False, True, False)


def test_solve_is_not_misled_by_guesses_before_it() -> None:
    env = started(HARD, seed=5)
    for text in ("0 0 0 5", "1 0 1 5", "9 9 0 0"):
        env.step(f"\\boxed{{{text}}}")

    steps = play(env)

    assert len(steps) == 5
    assert steps[-1].info["success"]


def test_solve_depends_on_what_was_shown() -> None:
    moves: dict[str, set[str | None]] = defaultdict(set)
    for env_id in IDS:
        env = gem.make(env_id)
        for seed in range(20):
            shown = env.reset(seed=seed)[1]["suffix"]
            moves[shown].add(env.solve())
            rows = board(shown)
            move = env.solve() or ""
            first_row, first_col, last_row, last_col = map(int, move[7:-1].split())
            straight = {
                "".join(row[first_col : last_col + 1] for row in rows[first_row : last_row + 1])
            }
            assert is_word(straight.pop().lower())

    assert {len(found) for found in moves.values()} == {1}


def test_samples_never_repeat_until_every_run_was_guessed() -> None:
    env = started(num_words=1, max_turns=10_000)
    steps = [env.step(env.sample_action())]
    while not steps[-1].terminated:
        steps.append(env.step(env.sample_action()))

    assert steps[-1].info["success"]
    assert {step.info.get("action_error") for step in steps} == {None}


def test_replaced_rewards_are_paid() -> None:
    env = started(rewards={"success": 2.0, "step": -0.5, "invalid": -0.25})
    run = listed_runs(env)[0]

    paid = [env.step(box(run[0], run[-1])).reward for _ in range(2)]

    assert paid == pytest.approx([2.0 / 5 - 0.5, -0.25])


@pytest.mark.parametrize("num_words", [0, -1, 21, 10**9])
def test_a_number_of_words_out_of_range_is_refused(num_words: int) -> None:
    with pytest.raises(BadArguments, match=f"num_words={num_words}"):
        gem.make(EASY, num_words=num_words)

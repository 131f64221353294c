from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem import Snapshot
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.sudoku.grid import next_digit, solved

PlayOut = Callable[[gem.Env], list[gem.Step]]

IDS = ["game:Sudoku-v0-easy", "game:Sudoku-v0-hard", "game:Sudoku-v0-random"]
ROW = re.compile(r"^(\d)   ([.\d |]+)$", re.MULTILINE)
SPARSE = "000000010400000000020000000000050407008000300001090000300400200050100000000806000"


def started(env_id: str = "game:Sudoku-v0-easy", *, seed: int = 0, **kwargs: Any) -> gem.Env:
    env = gem.make(env_id, **kwargs)
    env.reset(seed=seed)
    return env


def shown(text: str) -> list[list[int]]:
    """Read the grid off a text, 0 for an empty cell."""
    return [
        [0 if cell == "." else int(cell) for cell in row.replace("|", "").split()]
        for _, row in ROW.findall(text)
    ]


def opened(env_id: str, seed: int, **kwargs: Any) -> list[list[int]]:
    return shown(gem.make(env_id, **kwargs).reset(seed=seed)[1]["suffix"])


def clashes(grid: list[list[int]], row: int, col: int, digit: int) -> bool:
    """Tell by the rules alone whether the row, the column or the box holds a digit."""
    side = 2 if len(grid) == 4 else 3
    top = row - row % side
    left = col - col % side
    box = [grid[r][c] for r in range(top, top + side) for c in range(left, left + side)]
    return digit in grid[row] or digit in [line[col] for line in grid] or digit in box


def solutions(grid: list[list[int]]) -> Iterator[list[list[int]]]:
    """Yield every completion, trying all digits in the cell for which fewest are left."""
    size = range(1, len(grid) + 1)
    options = [
        ([d for d in size if not clashes(grid, row, col, d)], row, col)
        for row, line in enumerate(grid)
        for col, digit in enumerate(line)
        if not digit
    ]
    if not options:
        yield [list(line) for line in grid]
        return
    digits, row, col = min(options, key=lambda option: len(option[0]))
    for digit in digits:
        grid[row][col] = digit
        yield from solutions(grid)
    grid[row][col] = 0


def move(row: int, col: int, digit: int) -> str:
    return f"\\boxed{{{row} {col} {digit}}}"


def right_move(env: gem.Env) -> tuple[int, int, int]:
    row, col, digit = map(int, re.findall(r"\d", env.solve() or ""))
    return row, col, digit


def empty_cells(grid: Sequence[Sequence[int]]) -> int:
    return sum(not digit for line in grid for digit in line)


@given(seed=st.integers(0, 10**6), clues=st.integers(1, 16))
def test_a_small_grid_has_one_solution_by_any_way_of_counting(seed: int, clues: int) -> None:
    grid = opened("game:Sudoku-v0-easy", seed, clues=clues, max_turns=None)

    assert len(list(solutions(grid))) == 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("clues", [50, 60])
def test_a_large_grid_has_one_solution_by_any_way_of_counting(seed: int, clues: int) -> None:
    grid = opened("game:Sudoku-v0-hard", seed, clues=clues, max_turns=None)

    assert len(list(solutions(grid))) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_solver_fills_in_that_solution(play_out: PlayOut, seed: int) -> None:
    env = started(IDS[1], seed=seed)
    (solution,) = solutions(opened(IDS[1], seed))

    steps = play_out(env)

    placed = [re.findall(r"put (\d) into row (\d), column (\d)", str(s.observation)) for s in steps]
    assert len(placed) == empty_cells(opened(IDS[1], seed))
    for ((digit, row, col),) in placed:
        assert solution[int(row) - 1][int(col) - 1] == int(digit)


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("seed", range(10))
def test_the_solver_wins_and_is_paid_one_in_all(play_out: PlayOut, env_id: str, seed: int) -> None:
    steps = play_out(started(env_id, seed=seed))

    assert steps[-1].info["success"]
    assert sum(step.reward for step in steps) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("env_id", IDS)
def test_a_few_turns_are_always_to_spare(env_id: str) -> None:
    env = gem.make(env_id)
    for seed in range(100):
        grid = shown(env.reset(seed=seed)[1]["suffix"])
        assert env.max_turns is not None
        assert 1 <= empty_cells(grid) <= env.max_turns - 2


@pytest.mark.parametrize("max_turns", [1, 2, 3, 20])
def test_a_grid_can_be_filled_in_the_turns_that_are_given(
    play_out: PlayOut, max_turns: int
) -> None:
    assert play_out(started(IDS[1], max_turns=max_turns))[-1].info["success"]


def test_turns_that_are_not_given_go_with_the_cells_to_empty() -> None:
    assert started(IDS[1], clues=5, max_turns=None).max_turns == 5 + 9


def test_the_number_of_empty_cells_is_about_the_published_one() -> None:
    counts = [empty_cells(opened(IDS[1], seed)) for seed in range(40)]
    fewer = [empty_cells(opened(IDS[0], seed)) for seed in range(40)]

    assert 45 <= sum(counts) / 40 <= 48
    assert 8 <= sum(fewer) / 40 <= 10


def test_a_random_grid_has_one_of_the_published_sizes() -> None:
    env = gem.make(IDS[2])
    found = set()
    for seed in range(20):
        text = observation_text(env.reset(seed=seed)[0])
        rows, turns = re.findall(r"has (\d) rows|You have (\d+) turns", text)
        found.add((rows[0], turns[1]))

    assert found == {("4", "15"), ("9", "50")}


def test_a_right_digit_stays_and_earns_its_share() -> None:
    env = started()
    row, col, digit = right_move(env)
    empty = empty_cells(opened(IDS[0], 0))

    step = env.step(move(row, col, digit))

    assert step.reward == pytest.approx(1 / empty)
    assert shown(step.info["suffix"])[row - 1][col - 1] == digit


def test_a_wrong_digit_is_told_and_changes_nothing_but_the_turn() -> None:
    env = started(rewards={"invalid": -0.05})
    row, col, digit = right_move(env)

    step = env.step(move(row, col, digit % 4 + 1))

    assert "not correct" in observation_text(step.observation)
    assert step.info["reward_parts"] == {"wrong": -0.05}
    assert "action_error" not in step.info
    assert shown(step.info["suffix"]) == opened(IDS[0], 0)


@pytest.mark.parametrize("numbers", ["0 1 1", "1 0 1", "1 1 0", "5 1 1", "1 -1 1", "1 1 5"])
def test_numbers_beyond_the_grid_are_refused(numbers: str) -> None:
    step = started().step(f"\\boxed{{{numbers}}}")

    assert step.info["action_error"] == "invalid"
    assert "go from 1 to 4" in observation_text(step.observation)


def test_a_filled_cell_is_refused() -> None:
    env = started()
    right = move(*right_move(env))
    env.step(right)

    step = env.step(right)

    assert step.info["action_error"] == "invalid"
    assert "already filled" in observation_text(step.observation)


@pytest.mark.parametrize(
    "form", ["{} {} {}", "({}, {}), {}", "[{};{};{}]", "{}{}{}", " {}  {} +{}"]
)
def test_a_move_is_read_in_odd_spellings(form: str) -> None:
    env = started()

    step = env.step(f"\\boxed{{{form.format(*right_move(env))}}}")

    assert "which is correct" in observation_text(step.observation)


@pytest.mark.parametrize("text", ["1 2", "1 2 3 4", "a b c", "12", "1234", "one two three", "1-2"])
def test_what_is_not_three_numbers_ends_the_game(text: str) -> None:
    assert started().step(f"\\boxed{{{text}}}").info["action_error"] == "format"


def test_running_out_of_turns_truncates() -> None:
    env = started(max_turns=2)
    steps = [env.step(move(9, 9, 9)) for _ in range(2)]

    assert [(step.terminated, step.truncated) for step in steps] == [(False, False), (False, True)]


def test_replaced_rewards_scale_the_total(play_out: PlayOut) -> None:
    steps = play_out(started(rewards={"success": 5.0, "step": -0.01}))

    assert sum(step.reward for step in steps) == pytest.approx(5.0 - 0.01 * (len(steps) - 1))


@pytest.mark.parametrize("kwargs", [{"scale": 16}, {"scale": 0}, {"clues": 0}, {"clues": 17}])
def test_a_grid_that_cannot_be_made_is_refused(kwargs: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match="no such grid"):
        started(**kwargs)


def test_a_number_of_clues_that_fits_one_size_draws_that_size() -> None:
    assert len(opened(IDS[2], 0, clues=40)) == 9


def test_a_cell_that_follows_at_once_comes_before_search() -> None:
    grid = [1, 2, 3, 4, 0, 0, 1, 2, 2, 0, 0, 3, 4, 3, 2, 1]

    assert next_digit(grid) == (4, 3)


def test_where_nothing_follows_at_once_the_grid_is_searched() -> None:
    assert next_digit([0] * 16) == (0, 1)


def test_the_hints_fill_in_a_grid_of_17_digits() -> None:
    grid = list(map(int, SPARSE))
    filled = solved(grid)

    while (found := next_digit(grid)) is not None:
        grid[found[0]] = found[1]

    assert grid == filled
    rows = [grid[start : start + 9] for start in range(0, 81, 9)]
    assert list(solutions(rows)) == [rows]


def test_a_grid_that_breaks_the_rules_has_no_next_digit() -> None:
    assert solved([1, 2, 3, 0, 0, 0, 0, 4] + [0] * 8) is None


def test_a_snapshot_stays_small() -> None:
    snapshot = started(IDS[1]).snapshot()
    state = {name: value for name, value in snapshot.state.items() if name != "rng"}

    assert len(Snapshot(snapshot.spec, state).to_json()) < 2000

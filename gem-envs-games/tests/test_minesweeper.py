from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.env._snapshot import Snapshot, encode
from gem.errors import BadArguments
from gem_envs_games.minesweeper.field import every_cell
from gem_envs_games.minesweeper.logic import safest

PlayOut = Callable[[gem.Env], list[gem.Step]]

V0 = [f"game:Minesweeper-v0-{name}" for name in ("easy", "hard", "random")]
V1 = [f"game:Minesweeper-v1-{name}" for name in ("easy", "hard", "random")]

Cell = tuple[int, int]
Board = dict[Cell, str]


def started(env_id: str = V0[0], *, seed: int = 0, **kwargs: Any) -> gem.Env:
    env = gem.make(env_id, **kwargs)
    env.reset(seed=seed)
    return env


def bit(cell: Cell, cols: int) -> int:
    return 1 << (cell[0] + 1) * (cols + 1) + cell[1] + 1


def mined(rows: int, cols: int, mines: set[Cell], **kwargs: Any) -> gem.Env:
    """Return a game that has begun, with mines at these cells."""
    env = started(rows=rows, cols=cols, num_mines=1, max_turns=1000, **kwargs)
    snapshot = env.snapshot()
    changed = {
        "num_mines": len(mines),
        "_mines": sum(bit(cell, cols) for cell in mines),
        "_to_open": rows * cols - len(mines),
    }
    env.restore(Snapshot(snapshot.spec, {**snapshot.state, **encode(changed.items())}))
    return env


def shown(text: str) -> Board:
    """Read the board off a text."""
    rows = re.findall(r"^ ?(\d+) ((?:  [.F*\d])+)$", text, re.MULTILINE)
    return {(int(row), col): mark for row, line in rows for col, mark in enumerate(line.split())}


def around(cell: Cell, board: Iterable[Cell]) -> set[Cell]:
    row, col = cell
    return {(r, c) for r, c in board if max(abs(r - row), abs(c - col)) == 1}


def opened_from(start: Cell, closed: set[Cell], mines: set[Cell], cells: set[Cell]) -> set[Cell]:
    """Return what a reveal opens, by the definition."""
    found = {start}
    ahead = [start]
    while ahead:
        cell = ahead.pop()
        near = around(cell, cells)
        if not near & mines:
            new = (near & closed) - found
            found |= new
            ahead += new
    return found


def fitting(board: Board, num_mines: int) -> list[set[Cell]]:
    """Return every way to lay the mines that fits what is shown, trying them all."""
    hidden = [cell for cell, mark in board.items() if not mark.isdigit()]
    clues = [(around(cell, hidden), int(mark)) for cell, mark in board.items() if mark.isdigit()]
    masks = {cell: 1 << place for place, cell in enumerate(hidden)}
    needed = [(sum(masks[cell] for cell in cells), number) for cells, number in clues if cells]
    return [
        set(laid)
        for laid in itertools.combinations(hidden, num_mines)
        for mask in (sum(masks[cell] for cell in laid),)
        if all((mask & cells).bit_count() == number for cells, number in needed)
    ]


def act(env: gem.Env, verb: str, cell: Cell) -> gem.Step:
    return env.step(f"\\boxed{{{verb} {cell[0]} {cell[1]}}}")


def named(action: str | None) -> Cell:
    row, col = map(int, re.findall(r"\d+", action or ""))
    return row, col


@st.composite
def fields(draw: st.DrawFn) -> tuple[int, int, set[Cell], set[Cell], Cell]:
    """Draw rows, columns, mines, flags, and a cell to reveal with neither."""
    rows = draw(st.integers(4, 7))
    cols = draw(st.integers(4, 7))
    cell = st.tuples(st.integers(0, rows - 1), st.integers(0, cols - 1))
    mines = draw(st.sets(cell, min_size=1, max_size=6))
    start = draw(cell.filter(lambda cell: cell not in mines))
    return rows, cols, mines, draw(st.sets(cell, max_size=4)) - {start}, start


@given(fields())
def test_a_reveal_opens_what_the_definition_says(
    field: tuple[int, int, set[Cell], set[Cell], Cell],
) -> None:
    rows, cols, mines, flags, start = field
    env = mined(rows, cols, mines)
    for flag in flags:
        act(env, "flag", flag)
    board = dict.fromkeys(itertools.product(range(rows), range(cols)), ".")
    expected = opened_from(start, set(board) - flags, mines, set(board))

    step = act(env, "reveal", start)

    board |= dict.fromkeys(flags, "F")
    board |= {cell: str(len(around(cell, mines))) for cell in expected}
    if not step.terminated:
        assert shown(step.info["suffix"]) == board
    assert step.terminated == (len(expected) == rows * cols - len(mines))
    assert step.reward == pytest.approx(len(expected) / (rows * cols - len(mines)))


@st.composite
def views(draw: st.DrawFn) -> tuple[int, int, set[Cell], set[Cell]]:
    """Draw rows, columns, mines, and what is revealed of the rest."""
    rows = draw(st.integers(1, 4))
    cols = draw(st.integers(2, 4))
    cells = list(itertools.product(range(rows), range(cols)))
    mines = draw(st.sets(st.sampled_from(cells), min_size=1, max_size=len(cells) - 1))
    safe = [cell for cell in cells if cell not in mines]
    revealed = draw(st.sets(st.sampled_from(safe), max_size=len(safe) - 1))
    return rows, cols, mines, revealed


@given(views())
def test_the_safest_cells_are_those_of_all_ways_to_lay_the_mines(
    view: tuple[int, int, set[Cell], set[Cell]],
) -> None:
    rows, cols, mines, revealed = view
    cells = list(itertools.product(range(rows), range(cols)))
    board = {cell: str(len(around(cell, mines))) if cell in revealed else "." for cell in cells}
    ways = fitting(board, len(mines))
    counts = {cell: sum(cell in way for way in ways) for cell in cells if cell not in revealed}
    least = {cell for cell, count in counts.items() if count == min(counts.values())}
    hidden, laid = (sum(bit(cell, cols) for cell in group) for group in (counts, mines))

    mask, is_sure = safest(hidden, every_cell(rows, cols), laid, cols + 1)

    found = {cell for cell in cells if mask & bit(cell, cols)}
    assert is_sure == (min(counts.values()) == 0)
    assert found
    assert found <= least
    assert is_sure or found == least


@given(views())
def test_without_time_to_count_the_estimate_is_a_hidden_cell(
    view: tuple[int, int, set[Cell], set[Cell]],
) -> None:
    rows, cols, mines, revealed = view
    inside = every_cell(rows, cols)
    hidden = inside & ~sum(bit(cell, cols) for cell in revealed)
    laid = sum(bit(cell, cols) for cell in mines)

    mask, is_sure = safest(hidden, inside, laid, cols + 1, most_states=0)

    assert mask
    assert mask & ~hidden == 0
    assert not (is_sure and mask & laid)


@pytest.mark.parametrize(
    ("rows", "cols", "num_mines", "seeds"), [(4, 4, 3, 30), (3, 6, 3, 30), (5, 5, 5, 6)]
)
def test_no_reveal_of_a_field_without_guesses_can_be_a_mine(
    rows: int, cols: int, num_mines: int, seeds: int
) -> None:
    env = gem.make(V1[0], rows=rows, cols=cols, num_mines=num_mines)
    for seed in range(seeds):
        suffix = env.reset(seed=seed)[1].get("suffix")
        while suffix:
            cell = named(env.solve())
            ways = fitting(shown(suffix), num_mines)
            assert ways
            assert not any(cell in way for way in ways)
            suffix = env.step(env.solve() or "").info.get("suffix")


@pytest.mark.parametrize("env_id", V1)
def test_a_field_without_guesses_is_always_won_and_pays_one(play_out: PlayOut, env_id: str) -> None:
    env = gem.make(env_id)
    for seed in range(40):
        env.reset(seed=seed)
        steps = play_out(env)
        assert steps[-1].info["success"]
        assert sum(step.reward for step in steps) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("env_id", V1)
def test_at_most_half_of_the_safe_cells_are_open_at_the_start(env_id: str) -> None:
    env = gem.make(env_id)
    for seed in range(40):
        text, info = env.reset(seed=seed)
        (num_mines,) = re.findall(r"(\d+) mines under", observation_text(text))
        board = shown(info["suffix"])
        is_open = [mark.isdigit() for mark in board.values()]
        assert 0 < sum(is_open) <= (len(board) - int(num_mines)) / 2


@pytest.mark.parametrize("max_turns", [3, 6, 9])
def test_a_field_without_guesses_is_won_in_the_turns_that_are_given(
    play_out: PlayOut, max_turns: int
) -> None:
    env = gem.make(V1[0], max_turns=max_turns)
    for seed in range(10):
        env.reset(seed=seed)
        assert play_out(env)[-1].info["success"]


@pytest.mark.parametrize("seed", [0, 4, 11])
def test_flags_everywhere_do_not_make_the_solver_guess(seed: int) -> None:
    env = started(V1[0], seed=seed, max_turns=200)
    board = shown(gem.make(V1[0], max_turns=200).reset(seed=seed)[1]["suffix"])
    for cell, mark in board.items():
        if mark == ".":
            board = shown(act(env, "flag", cell).info["suffix"])

    step = env.step(env.solve() or "")
    while not step.terminated:
        action = env.solve() or ""
        seen = shown(step.info["suffix"])
        assert not any(named(action) in way for way in fitting(seen, 5))
        step = env.step(action)

    assert step.info["success"]


def test_a_dense_field_without_guesses_is_found_too(play_out: PlayOut) -> None:
    env = started(V1[0], num_mines=10)

    assert play_out(env)[-1].info["success"]


@pytest.mark.parametrize("cell", [(row, col) for row in range(5) for col in range(5)])
def test_the_first_reveal_opens_a_cell_with_no_mine_around(cell: Cell) -> None:
    step = act(started(num_mines=16, max_turns=2), "reveal", cell)

    assert not step.terminated or step.info["success"]
    assert "with 0 mine(s)" in observation_text(step.observation) or step.info["success"]


def test_a_first_reveal_that_wins_outright_pays_one() -> None:
    step = act(started(num_mines=16), "reveal", (2, 2))

    assert step.terminated
    assert step.info["success"]
    assert step.reward == pytest.approx(1.0)


def test_nothing_is_known_before_the_first_reveal() -> None:
    starts = {gem.make(V0[0]).reset(seed=seed)[1]["suffix"] for seed in range(5)}

    assert len(starts) == 1


@pytest.mark.parametrize(("env_id", "least"), [(V0[0], 65), (V0[1], 65), (V0[2], 70)])
def test_the_solver_wins_most_fields_where_luck_is_needed(
    play_out: PlayOut, env_id: str, least: int
) -> None:
    env = gem.make(env_id)
    won = 0
    for seed in range(100):
        env.reset(seed=seed)
        last = play_out(env)[-1]
        won += last.info["success"]

    assert least <= won < 100


def test_the_field_is_won_without_a_flag() -> None:
    env = mined(4, 4, {(0, 0)})

    assert act(env, "reveal", (3, 3)).info["success"]


def test_a_mine_ends_the_game_and_is_shown() -> None:
    env = mined(4, 4, {(0, 0), (3, 1)}, rewards={"fail": -0.5})

    step = act(env, "reveal", (3, 1))

    assert (step.terminated, step.truncated, step.info["success"]) == (True, False, False)
    assert step.reward == -0.5
    marks = {
        cell for cell, mark in shown(observation_text(step.observation)).items() if mark == "*"
    }
    assert marks == {(0, 0), (3, 1)}


def test_a_flagged_mine_is_not_revealed() -> None:
    env = mined(4, 4, {(0, 0), (3, 1)})
    act(env, "flag", (3, 1))

    step = act(env, "reveal", (3, 1))

    assert step.info["action_error"] == "invalid"
    assert "has a flag" in observation_text(step.observation)


def test_a_sampled_action_leaves_flagged_cells_closed() -> None:
    env = started(max_turns=100)
    for row in range(5):
        for col in range(5):
            act(env, "flag", (row, col))

    assert "action_error" not in env.step(env.sample_action()).info


@pytest.mark.parametrize(("rows", "cols", "num_mines"), [(1, 4, 1), (2, 4, 2), (5, 1, 2)])
def test_a_narrow_field_is_played_up_to_the_mines_it_has_room_for(
    rows: int, cols: int, num_mines: int
) -> None:
    env = started(rows=rows, cols=cols, num_mines=num_mines)

    assert not act(env, "reveal", (0, 0)).info.get("action_error")
    with pytest.raises(BadArguments, match="no such game"):
        started(rows=rows, cols=cols, num_mines=num_mines + 1)


def test_a_flag_is_taken_away_by_flagging_again() -> None:
    env = mined(4, 4, {(0, 0)})

    boards = [shown(act(env, "flag", (3, 1)).info["suffix"])[3, 1] for _ in range(2)]

    assert boards == ["F", "."]


def test_a_cell_that_a_flag_held_back_can_be_revealed_later() -> None:
    env = mined(4, 4, {(0, 0)})
    act(env, "flag", (3, 3))
    first = act(env, "reveal", (3, 0))
    act(env, "flag", (3, 3))

    last = act(env, "reveal", (3, 3))

    assert not first.terminated
    assert last.info["success"]
    assert first.reward + last.reward == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("reveal 3 3", "already revealed"),
        ("flag 3 3", "already revealed"),
        ("reveal 4 0", "not on the board"),
        ("flag 0 -1", "not on the board"),
        ("dig 0 1", "only reveal a cell or flag it"),
    ],
)
def test_what_the_rules_forbid_is_refused_with_the_reason(action: str, reason: str) -> None:
    env = mined(4, 4, {(0, 0), (0, 2)})
    before = act(env, "reveal", (3, 3)).info["suffix"]

    step = env.step(f"\\boxed{{{action}}}")

    assert step.info["action_error"] == "invalid"
    assert reason in observation_text(step.observation)
    assert step.info["suffix"] == before


@pytest.mark.parametrize("text", ["REVEAL 1 2", "Reveal: (1, 2)", "reveal(1,2)", "[reveal; 1; 2]"])
def test_an_action_is_read_in_odd_spellings(text: str) -> None:
    plain = mined(4, 4, {(0, 0)}).step("\\boxed{reveal 1 2}")

    assert mined(4, 4, {(0, 0)}).step(f"\\boxed{{{text}}}") == plain


@pytest.mark.parametrize("text", ["1 2", "reveal 1", "reveal 1 2 3", "reveal one two", "3 1 2", ""])
def test_what_is_no_action_ends_the_game(text: str) -> None:
    assert started().step(f"\\boxed{{{text}}}").info["action_error"] == "format"


def test_running_out_of_turns_truncates() -> None:
    env = started(max_turns=2)
    steps = [act(env, "flag", (0, 0)) for _ in range(2)]

    assert [(step.terminated, step.truncated) for step in steps] == [(False, False), (False, True)]


def test_replaced_rewards_scale_the_total(play_out: PlayOut) -> None:
    steps = play_out(started(V1[0], rewards={"success": 5.0, "step": -0.01}))

    assert sum(step.reward for step in steps) == pytest.approx(5.0 - 0.01 * (len(steps) - 1))


@pytest.mark.parametrize("env_id", [V0[2], V1[2]])
def test_a_random_field_is_a_square_of_5_to_8_with_a_fifth_of_it_mines(env_id: str) -> None:
    env = gem.make(env_id)
    found = set()
    for seed in range(40):
        text = observation_text(env.reset(seed=seed)[0])
        found.add(tuple(map(int, re.findall(r"(\d+) (?:rows|columns|mines|turns)", text))))

    assert found == {(n, n, n * n // 5, n * n) for n in (5, 6, 7, 8)}


@pytest.mark.parametrize(
    "kwargs",
    [
        {"num_mines": 0},
        {"num_mines": 17},
        {"rows": 3, "cols": 3, "num_mines": 1},
        {"rows": 0},
        {"cols": 31},
        {"num_mines": 21, "no_guess": True},
        {"rows": 8, "cols": 8, "num_mines": 12, "max_turns": 2, "no_guess": True},
        {"rows": 10**9, "cols": 10**9, "no_guess": True},
    ],
)
def test_a_field_that_cannot_be_played_is_refused(kwargs: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match="no such game"):
        started(**kwargs)


def test_a_large_field_is_played_in_bounded_time(play_out: PlayOut) -> None:
    steps = play_out(started(rows=16, cols=30, num_mines=99, max_turns=480))

    assert steps[-1].terminated


@pytest.mark.parametrize("env_id", [V0[1], V1[1]])
def test_a_snapshot_stays_small(env_id: str) -> None:
    env = started(env_id)
    env.step(env.solve() or "")
    snapshot = env.snapshot()
    state = {name: value for name, value in snapshot.state.items() if name != "rng"}

    assert len(Snapshot(snapshot.spec, state).to_json()) < 2000

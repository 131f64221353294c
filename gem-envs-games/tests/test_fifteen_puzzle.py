from __future__ import annotations

import itertools
import math
import random
from collections import deque
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.fifteen_puzzle.solver import ENOUGH, is_solvable, next_move, shortest

Board = tuple[int, ...]

STEPS = {"up": (1, 0), "down": (-1, 0), "left": (0, 1), "right": (0, -1)}


def started(seed: int = 0, **kwargs: Any) -> gem.Env:
    env = gem.make("game:FifteenPuzzle-v0-hard", **kwargs)
    env.reset(seed=seed)
    return env


def board_of(env: gem.Env) -> Board:
    """Read the board as a player sees it."""
    shown: str = env.suffix()  # type: ignore[attr-defined]
    return tuple(int(cell.replace("_", "0")) for cell in shown.split()[2:-4])


def moved(board: Board, move: str) -> Board | None:
    """Move, from the rules alone; None where there is no such tile."""
    size = math.isqrt(len(board))
    row, column = divmod(board.index(0), size)
    source = row + STEPS[move][0], column + STEPS[move][1]
    if not all(0 <= place < size for place in source):
        return None
    cells = list(board)
    cells[row * size + column] = cells[source[0] * size + source[1]]
    cells[source[0] * size + source[1]] = 0
    return tuple(cells)


def ordered(size: int) -> Board:
    return (*range(1, size * size), 0)


@cache
def distances(size: int) -> dict[Board, int]:
    """Return the fewest moves to the ordered board from every board that has any."""
    found = {ordered(size): 0}
    ahead = deque([ordered(size)])
    while ahead:
        board = ahead.popleft()
        for move in STEPS:
            after = moved(board, move)
            if after is not None and after not in found:
                found[after] = found[board] + 1
                ahead.append(after)
    return found


def play(env: gem.Env, moves: Iterable[str]) -> list[gem.Step]:
    return [env.step(f"\\boxed{{{move}}}") for move in moves]


def solved(env: gem.Env) -> int:
    """Play by solve() to the end, which must be a success worth 1.0; return the turns."""
    total = 0.0
    while True:
        action = env.solve()
        assert action is not None
        step = env.step(action)
        total += step.reward
        if step.terminated or step.truncated:
            assert step.info["success"]
            assert total == pytest.approx(1.0, abs=1e-9)
            return env.turn


boards_of_3x3 = st.permutations(range(9)).map(tuple)


@pytest.mark.parametrize("size", [2, 3])
def test_a_board_is_called_solvable_where_moves_lead_from_it_to_order(size: int) -> None:
    far = distances(size)
    rng = random.Random(0)
    drawn = [tuple(rng.sample(range(size * size), size * size)) for _ in range(500)]

    assert [is_solvable(board, size) for board in drawn] == [board in far for board in drawn]


@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=60), st.integers(2, 6))
def test_moves_lead_from_order_to_solvable_boards_alone(moves: list[str], size: int) -> None:
    board = ordered(size)
    for move in moves:
        board = moved(board, move) or board

    assert is_solvable(board, size)


@given(boards_of_3x3, st.integers(0, 7))
def test_of_two_boards_that_differ_by_two_tiles_one_is_solvable(board: Board, tile: int) -> None:
    one = tile + 1
    other = (tile + 1) % 8 + 1
    swapped = tuple({one: other, other: one}.get(number, number) for number in board)

    assert is_solvable(board, 3) != is_solvable(swapped, 3)


def test_the_way_is_a_shortest_one_on_boards_of_3x3() -> None:
    far = distances(3)
    boards = sorted(far)[::1500]

    assert [len(shortest(board, 3)) for board in boards] == [far[board] for board in boards]


@pytest.mark.parametrize(("size", "most"), [(2, 6), (3, 31)])
def test_the_hardest_board_needs_as_many_moves_as_stated(size: int, most: int) -> None:
    assert max(distances(size).values()) == most == ENOUGH[size]


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(16)))
def test_any_solvable_board_of_4x4_is_solved_in_the_moves_stated(cells: list[int]) -> None:
    board = tuple(cells)
    assume(is_solvable(board, 4))
    moves = 0
    while (move := next_move(board, 4)) is not None:
        after = moved(board, move)
        assert after is not None
        board = after
        moves += 1

    assert board == ordered(4)
    assert moves <= ENOUGH[4]


def test_the_stages_of_4x4_add_up_to_the_moves_stated() -> None:
    def hardest(fixed: set[int], tiles: tuple[int, ...]) -> int:
        home = tuple(tile - 1 for tile in tiles)
        free = [at for at in range(16) if at not in fixed]
        found = {(blank, *home): 0 for blank in free if blank not in home}
        ahead = deque(found)
        while ahead:
            blank, *rest = position = ahead.popleft()
            for down, right in STEPS.values():
                row = blank // 4 + down
                column = blank % 4 + right
                source = row * 4 + column
                if not (0 <= row < 4 and 0 <= column < 4) or source in fixed:
                    continue
                after = (source, *(blank if at == source else at for at in rest))
                if after not in found:
                    found[after] = found[position] + 1
                    ahead.append(after)
        return max(found.values())

    stages = [hardest(set(), (1, 2)), hardest({0, 1}, (3, 4)), hardest(set(range(4)), (5, 9, 13))]

    assert sum(stages) + ENOUGH[3] == ENOUGH[4]


@pytest.mark.parametrize(
    ("kwargs", "most"),
    [
        ({"num_rows": 2, "max_turns": 10}, 6),
        ({"num_rows": 2, "max_turns": 3}, 3),
        ({"num_rows": 3, "max_turns": 20}, 20),
        ({"num_rows": 3, "max_turns": 40}, 31),
        ({"num_rows": 4, "max_turns": 1}, 1),
        ({"num_rows": 4, "max_turns": 50}, 50),
        ({"num_rows": 4, "max_turns": 130}, 124),
        ({"num_rows": 5, "max_turns": 60}, 60),
        ({"num_rows": 10, "max_turns": None}, 1000),
    ],
)
def test_every_start_is_solved_in_the_turns(kwargs: dict[str, Any], most: int) -> None:
    for seed in range(25):
        env = started(seed, **kwargs)
        start = board_of(env)

        assert start != ordered(math.isqrt(len(start)))
        assert is_solvable(start, math.isqrt(len(start)))
        assert 1 <= solved(env) <= most


def test_every_board_of_2x2_is_a_start() -> None:
    env = gem.make("game:FifteenPuzzle-v0-easy")
    starts = set()
    for seed in range(200):
        env.reset(seed=seed)
        starts.add(board_of(env))

    assert starts == set(distances(2)) - {ordered(2)}


def test_boards_of_3x3_near_and_far_from_order_are_starts() -> None:
    far = distances(3)
    env = gem.make("game:FifteenPuzzle-v1-easy")
    found = []
    for seed in range(300):
        env.reset(seed=seed)
        found.append(far[board_of(env)])

    assert sum(found) / len(found) == pytest.approx(sum(far.values()) / len(far), abs=0.6)


@given(
    st.integers(0, 50),
    st.integers(2, 5),
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=30),
)
def test_moves_follow_the_rules(seed: int, size: int, moves: list[str]) -> None:
    env = started(seed, num_rows=size, max_turns=200)
    for move in moves:
        before = board_of(env)
        (step,) = play(env, [move])
        expected = moved(before, move)
        assert (step.info.get("action_error") == "invalid") == (expected is None)
        if step.terminated:
            assert expected == ordered(size)
            return
        assert board_of(env) == (expected or before) != ordered(size)


@settings(deadline=None)
@given(
    st.integers(0, 50),
    st.integers(2, 5),
    st.lists(st.sampled_from(sorted(STEPS)), max_size=40),
)
def test_the_solver_recovers_from_any_moves(seed: int, size: int, moves: list[str]) -> None:
    env = started(seed, num_rows=size, max_turns=300)
    for move in moves:
        if play(env, [move])[0].terminated:
            return

    solved(env)


def test_the_solver_finds_a_shorter_way_where_taking_back_is_too_long() -> None:
    env = started(3, max_turns=120)
    rng = random.Random(1)
    for _ in range(20):
        play(env, [rng.choice(sorted(STEPS))])

    assert solved(env) <= 120


@pytest.mark.parametrize("text", ["up", "UP", " Up ", "(up)", "[up]", "up;"])
def test_a_move_is_read_in_odd_spellings(text: str) -> None:
    assert play(started(), [text]) == play(started(), ["up"])


@pytest.mark.parametrize("text", ["", "u", "up down", "move up", "north", "7", "\uff35\uff30"])
def test_what_is_no_direction_ends_the_game(text: str) -> None:
    (step,) = play(started(), [text])

    assert step[1:4] == (-0.1, True, False)
    assert step.info["action_error"] == "format"
    assert "up, down, left or right" in observation_text(step.observation)


def test_a_move_at_the_edge_is_refused_with_the_reason() -> None:
    steps = play(started(), ["up", "up", "up", "up"])

    assert steps[-1].info["action_error"] == "invalid"
    assert "there is none below the blank" in observation_text(steps[-1].observation)


@given(st.integers(0, 30), st.integers(2, 5), st.integers(1, 5))
def test_each_cell_in_place_earns_its_share_when_the_turns_run_out(
    seed: int, size: int, turns: int
) -> None:
    env = started(seed, num_rows=size, max_turns=turns, rewards={"invalid": -0.25})
    rng = random.Random(seed)
    step = None
    while step is None or not (step.terminated or step.truncated):
        board = board_of(env)
        move = rng.choice(sorted(STEPS))
        (step,) = play(env, [move])
    if step.terminated:
        return
    after = moved(board, move)
    in_place = sum(itertools.starmap(int.__eq__, zip(after or board, ordered(size), strict=True)))

    assert step.info["reward_parts"]["in_place"] == pytest.approx(in_place / size**2)
    assert step.reward == pytest.approx(in_place / size**2 - (0.25 if after is None else 0.0))


def test_order_wins_on_the_last_turn_too() -> None:
    env = started(5, num_rows=4, max_turns=1)
    action = env.solve()
    assert action is not None

    step = env.step(action)

    assert step[1:4] == (1.0, True, False)
    assert step.info == {"success": True, "reward_parts": {"success": 1.0}}


def test_random_sizes_are_the_published_ones_with_their_turns() -> None:
    env = gem.make("game:FifteenPuzzle-v0-random")
    found = set()
    for seed in range(50):
        env.reset(seed=seed)
        found.add((env.num_rows, env.max_turns))  # type: ignore[attr-defined]

    assert found == {(2, 10), (3, 20), (4, 50)}


@pytest.mark.parametrize("rows", [-1, 0, 1, 11, 10**9])
def test_a_number_of_rows_that_cannot_be_played_is_refused(rows: int) -> None:
    with pytest.raises(BadArguments, match=f"num_rows={rows}"):
        started(num_rows=rows)

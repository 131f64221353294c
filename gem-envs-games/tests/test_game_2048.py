from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.game_2048.board import add_tile, can_slide, drawn, slid, tile
from gem_envs_games.plugin import plugin

DIRECTIONS = ("up", "down", "left", "right")
IMPOSSIBLE = [spec for spec in plugin.envs if "Game2048" in spec.id and not spec.check.winnable]

Grid = list[list[int]]


def started(seed: int = 0, **kwargs: Any) -> gem.Env:
    env = gem.make("game:Game2048-v0-easy", **kwargs)
    env.reset(seed=seed)
    return env


def play(env: gem.Env, moves: Iterable[str]) -> list[gem.Step]:
    return [env.step(f"\\boxed{{{move}}}") for move in moves]


def grid_of(env: gem.Env) -> Grid:
    """Read the board as a player sees it."""
    shown: str = env.suffix()  # type: ignore[attr-defined]
    return [
        [0 if cell == "." else int(cell) for cell in row.split()]
        for row in shown.splitlines()[1:-1]
    ]


def squeezed(line: list[int]) -> list[int]:
    """Slide a line to its start, by the rules: look for the pair that meets first."""
    tiles = [value for value in line if value]
    if len(tiles) < 2:
        return tiles
    if tiles[0] == tiles[1]:
        return [2 * tiles[0], *squeezed(tiles[2:])]
    return [tiles[0], *squeezed(tiles[1:])]


def padded(line: list[int]) -> list[int]:
    tiles = squeezed(line)
    return tiles + [0] * (len(line) - len(tiles))


def turned(grid: Grid) -> Grid:
    return [list(column) for column in zip(*grid, strict=True)]


def slid_by_the_rules(grid: Grid, direction: str) -> Grid:
    if direction in ("up", "down"):
        sideways = "left" if direction == "up" else "right"
        return turned(slid_by_the_rules(turned(grid), sideways))
    if direction == "right":
        return [padded(row[::-1])[::-1] for row in grid]
    return [padded(row) for row in grid]


def as_board(grid: Grid) -> str:
    return "".join(tile(value.bit_length() - 1) if value else "." for row in grid for value in row)


def grids(smallest: int = 2, largest: int = 8) -> st.SearchStrategy[Grid]:
    values = st.sampled_from([0, 0, 0, 2, 2, 4, 4, 8, 1024])
    return st.integers(smallest, largest).flatmap(
        lambda size: st.lists(
            st.lists(values, min_size=size, max_size=size), min_size=size, max_size=size
        )
    )


@given(grids(), st.sampled_from(DIRECTIONS))
def test_tiles_slide_and_merge_as_the_rules_say(grid: Grid, direction: str) -> None:
    assert slid(as_board(grid), direction) == as_board(slid_by_the_rules(grid, direction))


@given(grids(2, 4).filter(lambda grid: any(map(any, grid))))
def test_a_board_can_slide_where_any_direction_changes_it(grid: Grid) -> None:
    changes = any(slid_by_the_rules(grid, direction) != grid for direction in DIRECTIONS)

    assert can_slide(as_board(grid)) == changes


@given(grids().filter(lambda grid: not all(map(all, grid))), st.integers())
def test_one_new_tile_comes_on_an_empty_cell(grid: Grid, seed: int) -> None:
    board = as_board(grid)

    after = add_tile(board, random.Random(seed))

    changed = [(old, new) for old, new in zip(board, after, strict=True) if old != new]
    assert changed in ([(".", tile(1))], [(".", tile(2))])


def test_new_tiles_are_2s_nine_times_in_ten_on_any_empty_cell() -> None:
    rng = random.Random(0)
    drawn_boards = Counter(add_tile("a..b", rng) for _ in range(10_000))

    assert set(drawn_boards) == {"aa.b", "ab.b", "a.ab", "a.bb"}
    assert drawn_boards["aa.b"] + drawn_boards["a.ab"] == pytest.approx(9000, abs=150)
    assert drawn_boards["aa.b"] + drawn_boards["ab.b"] == pytest.approx(5000, abs=250)


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(2, 5), st.lists(st.sampled_from(DIRECTIONS), max_size=60))
def test_moves_follow_the_rules(seed: int, size: int, moves: list[str]) -> None:
    env = started(seed, board_size=size, target_tile=32, max_turns=100)
    for move in moves:
        before = grid_of(env)
        expected = slid_by_the_rules(before, move)
        (step,) = play(env, [move])
        after = grid_of(env)
        assert (step.info.get("action_error") == "invalid") == (expected == before)
        assert sum(map(sum, after)) - sum(map(sum, before)) in (
            [0] if expected == before else [2, 4]
        )
        assert step.info["success"] == (max(map(max, after)) == 32)
        if step.terminated:
            stuck = all(slid_by_the_rules(after, way) == after for way in DIRECTIONS)
            assert step.info["success"] or stuck
            return


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2, 3, 4]))
def test_what_is_earned_follows_the_highest_tile(seed: int, size: int) -> None:
    env = started(seed, board_size=size, target_tile=32, max_turns=200)
    first = max(map(max, grid_of(env)))
    total = 0.0
    step = None
    while step is None or not (step.terminated or step.truncated):
        step = env.step(env.sample_action())
        total += step.reward
    highest = max(map(max, grid_of(env)))

    assert total == pytest.approx(math.log2(highest / first) / math.log2(32 / first), abs=1e-9)
    assert step.info["success"] == (highest == 32)


def test_replaced_rewards_are_paid() -> None:
    env = started(1, rewards={"success": 5.0, "step": -0.01, "invalid": -0.5})

    steps = play(env, ["up"] * 10)

    assert steps[0].info["reward_parts"] == {"step": -0.01, "progress": pytest.approx(1.0)}
    assert steps[-1].info["reward_parts"] == {"invalid": -0.5}


def test_a_board_without_a_move_is_lost() -> None:
    env = started(1, board_size=2, target_tile=32)
    step = None
    while step is None or not (step.terminated or step.truncated):
        step = env.step(env.sample_action())

    assert step[2:4] == (True, False)
    assert not step.info["success"]
    assert "No move is left:\n   " in observation_text(step.observation)


@pytest.mark.parametrize("size", range(2, 9))
def test_every_size_of_board_can_be_played(size: int) -> None:
    env = started(2, board_size=size, target_tile=8, max_turns=30)

    assert [len(row) for row in grid_of(env)] == [size] * size
    assert env.solve() in {f"\\boxed{{{way}}}" for way in DIRECTIONS}


def test_the_board_is_shown_in_columns() -> None:
    assert drawn("a.ijg....c.......", 4).splitlines()[0] == "   2    .  512 1024"


@pytest.mark.parametrize("text", ["left", "LEFT", " Left ", "(left)", "[left]", "left,"])
def test_a_move_is_read_in_odd_spellings(text: str) -> None:
    assert play(started(), [text]) == play(started(), ["left"])


@pytest.mark.parametrize("text", ["", "l", "left left", "go left", "west", "4", "\uff55\uff50"])
def test_what_is_no_direction_ends_the_game(text: str) -> None:
    (step,) = play(started(), [text])

    assert step[1:4] == (-0.1, True, False)
    assert step.info["action_error"] == "format"
    assert "up, down, left or right" in observation_text(step.observation)


# The larger ones are in test_game.py: they take seconds an episode.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("env_id", "seeds"),
    [
        ("game:Game2048-v0-easy", range(12)),
        ("game:Game2048-v0-random", range(20)),
    ],
)
def test_the_solver_wins_and_earns_one_in_all(env_id: str, seeds: range) -> None:
    env = gem.make(env_id)
    for seed in seeds:
        env.reset(seed=seed)
        total = 0.0
        step = None
        while step is None or not (step.terminated or step.truncated):
            action = env.solve()
            assert action is not None
            step = env.step(action)
            total += step.reward

        assert step.info["success"]
        assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("spec", IMPOSSIBLE, ids=lambda spec: str(spec.id))
def test_the_bound_follows_from_the_sum_of_the_tiles(spec: gem.EnvSpec) -> None:
    """A merger keeps the sum, and each turn but the last adds 4 at most before it can merge."""
    target = int(math.log2(spec.kwargs["target_tile"]))
    best = []
    for first in (1, 2):
        largest_sum = 2 * 2**first + 4 * (spec.kwargs["max_turns"] - 1)
        best.append((int(math.log2(largest_sum)) - first) / (target - first))

    assert max(best) < 1
    assert spec.check.bound == max(best)


def test_two_published_ids_cannot_be_won() -> None:
    assert {spec.id for spec in IMPOSSIBLE} == {
        "game:Game2048-v0-hard",
        "game:Game2048-v0-extreme-hard",
    }


def test_random_targets_are_the_published_ones_with_their_turns() -> None:
    env = gem.make("game:Game2048-v0-random")
    found = set()
    for seed in range(50):
        env.reset(seed=seed)
        found.add((env.target_tile, env.max_turns))  # type: ignore[attr-defined]

    assert found == {(16, 20), (32, 30), (64, 50)}


def test_a_random_target_fits_the_board() -> None:
    env = gem.make("game:Game2048-v0-random", board_size=2)
    found = set()
    for seed in range(30):
        env.reset(seed=seed)
        found.add(env.target_tile)  # type: ignore[attr-defined]

    assert found == {16, 32}


@pytest.mark.parametrize(
    ("kwargs", "reason"),
    [
        ({"target_tile": 0}, "from 8 to 131072"),
        ({"target_tile": -8}, "from 8 to 131072"),
        ({"target_tile": 4}, "from 8 to 131072"),
        ({"target_tile": 100}, "a power of two"),
        ({"target_tile": 2**18}, "from 8 to 131072"),
        ({"target_tile": 64, "board_size": 2}, "from 8 to 32"),
        ({"board_size": 1}, "2 to 8 cells a side"),
        ({"board_size": 9}, "2 to 8 cells a side"),
    ],
)
def test_what_cannot_be_played_is_refused(kwargs: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadArguments, match=reason):
        started(**kwargs)

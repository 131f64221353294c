from __future__ import annotations

import doctest
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem import Step
from gem.content import observation_text
from gem.errors import BadArguments
from gem_envs_games.sokoban import board as board_module
from gem_envs_games.sokoban.board import Masks, board_of, legal_moves, masks_of
from gem_envs_games.sokoban.deal import deal_start
from gem_envs_games.sokoban.search import push_on, room_of

IDS = ("game:Sokoban-v0-easy", "game:Sokoban-v0-hard", "game:Sokoban-v0-random")
WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

Cell = tuple[int, int]
Position = tuple[Cell, frozenset[Cell]]


class Rules:
    """The rules again, on sets of cells, as slowly and plainly as they can be put."""

    def __init__(self, board: str) -> None:
        rows = [line.split(" ") for line in board.split("\n")]
        at = {(row, col): mark for row, line in enumerate(rows) for col, mark in enumerate(line)}
        self.size = len(rows), len(rows[0])
        self.walls = {cell for cell, symbol in at.items() if symbol == "#"}
        self.goals = frozenset(cell for cell, symbol in at.items() if symbol in "O√+")
        boxes = frozenset(cell for cell, symbol in at.items() if symbol in "X√")
        (player,) = (cell for cell, symbol in at.items() if symbol in "P+")
        self.start: Position = (player, boxes)

    def after(self, position: Position, way: str) -> Position | None:
        (row, col), boxes = position
        down, right = WAYS[way]
        there = (row + down, col + right)
        beyond = (row + 2 * down, col + 2 * right)
        if there in self.walls:
            return None
        if there not in boxes:
            return there, boxes
        if beyond in self.walls or beyond in boxes:
            return None
        return there, boxes - {there} | {beyond}

    def shown(self, position: Position) -> str:
        player, boxes = position
        lines = []
        for row in range(self.size[0]):
            cells = [(row, col) for col in range(self.size[1])]
            lines.append(" ".join(self.symbol(cell, player, boxes) for cell in cells))
        return "\n".join(lines)

    def symbol(self, cell: Cell, player: Cell, boxes: frozenset[Cell]) -> str:
        if cell in self.walls:
            return "#"
        floor, box, person = "O√+" if cell in self.goals else "_XP"
        return box if cell in boxes else person if cell == player else floor

    def fewest_moves(self) -> int | None:
        """Count by breadth-first search; None where the goals cannot be filled."""
        known = {self.start}
        layer = [self.start]
        count = 0
        while layer:
            if any(boxes == self.goals for _, boxes in layer):
                return count
            found = {self.after(position, way) for position in layer for way in WAYS}
            layer = [position for position in found if position and position not in known]
            known.update(layer)
            count += 1
        return None


def made(seed: int = 0, id: str = IDS[0], **kwargs: Any) -> tuple[gem.Env, str]:
    env = gem.make(id, **kwargs)
    _, info = env.reset(seed=seed)
    return env, board_in(info)


def board_in(info: Any) -> str:
    lines: list[str] = info["suffix"].split("\n")
    return "\n".join(lines[1:-1])


def box(way: str) -> str:
    return f"\\boxed{{{way}}}"


def solved(env: gem.Env) -> list[Step]:
    """Play by solve() to the end, and return the steps."""
    steps: list[Step] = []
    while not steps or not (steps[-1].terminated or steps[-1].truncated):
        action = env.solve()
        assert action is not None
        steps.append(env.step(action))
    return steps


def blocked(board: str) -> Iterator[str]:
    rules = Rules(board)
    return (way for way in WAYS if rules.after(rules.start, way) is None)


@pytest.mark.slow
@pytest.mark.parametrize("id", IDS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), ways=st.lists(st.sampled_from(sorted(WAYS)), max_size=19))
def test_boards_follow_the_rules(id: str, seed: int, ways: list[str]) -> None:
    env, board = made(seed, id)
    rules = Rules(board)
    position = rules.start
    for way in ways:
        after = rules.after(position, way)
        step = env.step(box(way))
        if step.terminated:
            assert after is not None
            assert after[1] == rules.goals
            return
        assert ("action_error" in step.info) == (after is None)
        position = after or position
        assert board_in(step.info) == rules.shown(position)


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("seed", range(40))
def test_every_start_is_solved_within_the_turns(id: str, seed: int) -> None:
    env, _ = made(seed, id)
    steps = solved(env)

    assert steps[-1].info["success"]
    assert sum(step.reward for step in steps) == 1.0
    assert env.max_turns is not None
    assert len(steps) <= env.max_turns * 4 // 5


@pytest.mark.parametrize("seed", range(40))
def test_easy_is_solved_in_the_fewest_moves(seed: int) -> None:
    env, board = made(seed)

    assert len(solved(env)) == Rules(board).fewest_moves()


@pytest.mark.slow
@pytest.mark.parametrize("id", IDS)
def test_every_box_starts_off_the_goals(id: str) -> None:
    env = gem.make(id)
    boards = [board_in(env.reset(seed=seed)[1]) for seed in range(100)]

    assert not any("√" in board for board in boards)
    assert len(set(boards)) > 95


@pytest.mark.parametrize(("boxes", "rows", "turns", "least"), [(2, 6, 20, 4), (4, 8, 50, 8)])
@pytest.mark.parametrize("seed", range(20))
def test_every_start_takes_pushes_enough(
    seed: int, boxes: int, rows: int, turns: int, least: int
) -> None:
    start, _, pushes = deal_start(Random(seed), rows, rows, boxes, turns)
    room = room_of(start.floor, start.goals, rows)
    distances = [count for cell, count in room.pushes.items() if cell & start.boxes]

    assert pushes == sum(distances) >= least


@pytest.mark.parametrize("turns", [1, 2, 3, 5])
@pytest.mark.parametrize("boxes", [1, 2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_few_turns_suffice_as_well(turns: int, boxes: int, seed: int) -> None:
    env, board = made(seed, num_boxes=boxes, max_turns=turns)

    assert "X" in board
    assert solved(env)[-1].info["success"]


@pytest.mark.parametrize(
    ("room", "boxes"),
    [((3, 5), 1), ((5, 3), 1), ((4, 6), 2), ((3, 20), 4), ((20, 4), 9), ((6, 6), 4), ((8, 8), 9)],
)
@pytest.mark.parametrize("seed", range(3))
def test_narrow_and_crowded_rooms_can_be_solved(room: Cell, boxes: int, seed: int) -> None:
    env, board = made(seed, dim_room=room, num_boxes=boxes, max_turns=None)

    assert Rules(board).size == room
    assert board.count("X") + board.count("√") == boxes
    assert solved(env)[-1].info["success"]


@pytest.mark.slow
def test_many_turns_make_no_endless_search() -> None:
    env, _ = made(dim_room=(20, 20), num_boxes=12, max_turns=10**9)

    assert len(solved(env)) <= 100


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), ways=st.lists(st.sampled_from(sorted(WAYS)), max_size=16))
def test_solve_finds_a_way_from_anywhere_as_long_as_there_is_one(
    seed: int, ways: list[str]
) -> None:
    env, board = made(seed)
    rules = Rules(board)
    for way in ways:
        if env.step(box(way)).terminated:
            return
        rules.start = rules.after(rules.start, way) or rules.start

    fewest = rules.fewest_moves()
    if fewest is None or fewest > 20 - env.turn:
        assert env.solve() is None
    else:
        assert solved(env)[-1].info["success"]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), most=st.integers(0, 30))
def test_the_search_returns_the_fewest_moves(seed: int, most: int) -> None:
    rng = Random(seed)
    inner = [row * 6 + col for row in range(1, 5) for col in range(1, 5)]
    floor = rng.sample(inner, rng.randint(7, 16))
    goals = rng.sample(floor, 2)
    boxes = rng.sample(floor, 2)
    [player] = rng.sample(floor, 1)
    if player in boxes:
        return
    floor_mask, goal_mask, box_mask = (
        sum(1 << cell for cell in part) for part in (floor, goals, boxes)
    )
    start = Masks(floor_mask, goal_mask, box_mask, 1 << player, cols=6)
    fewest = Rules(board_of(start, 6)).fewest_moves()

    moves = push_on(room_of(start.floor, start.goals, 6), start.boxes, start.player, most, 1000)

    if fewest is None or fewest > most:
        assert moves is None
    else:
        assert moves is not None
        assert len(moves) == fewest


def test_solve_goes_on_with_its_plan_after_a_refused_move() -> None:
    env, board = made()
    plan = env.solve()
    env.step(box(next(blocked(board))))

    assert env.solve() == plan


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("seed", range(10))
def test_a_walk_off_the_way_does_not_stop_solve(id: str, seed: int) -> None:
    env, board = made(seed, id)
    rules = Rules(board)
    afters = {way: rules.after(rules.start, way) for way in WAYS}
    walks = [way for way, after in afters.items() if after and after[1] == rules.start[1]]
    env.step(box([*walks, *blocked(board)][0]))

    assert solved(env)[-1].info["success"]


def test_a_blocked_move_is_refused_and_costs_a_turn() -> None:
    env, board = made()
    step = env.step(box(next(blocked(board))))

    assert step.info["action_error"] == "invalid"
    assert board_in(step.info) == board
    assert env.turn == 1


@pytest.mark.parametrize(
    ("board", "moves"),
    [
        ("# # # # # #\n# P X X O #\n# O _ _ _ #\n# # # # # #", "dr"),
        ("# # # # # #\n# # P √ # #\n# X _ O _ #\n# # # # # #", "d"),
        ("# # # # # #\n# O X + √ #\n# _ _ X _ #\n# # # # # #", "l"),
    ],
)
def test_only_one_box_is_pushed_and_only_into_a_free_cell(board: str, moves: str) -> None:
    rules = Rules(board)
    legal = {way[0] for way in WAYS if rules.after(rules.start, way)}

    assert legal >= set(moves[:1])
    assert set(legal_moves(board)) == legal


def test_running_out_of_turns_pays_each_box_on_a_goal_its_share() -> None:
    env, board = made(1, IDS[1], max_turns=1)
    assert board.count("√") == 3

    step = env.step(box(next(blocked(board))))

    assert step.truncated
    assert not step.terminated
    assert step.info["reward_parts"] == {"invalid": 0.0, "boxes_on_goals": 0.75, "fail": 0.0}
    assert step.reward == 0.75


def test_replaced_rewards_are_paid() -> None:
    rewards = {"success": 2.0, "step": -0.1, "invalid": -0.5, "fail": -1.0}
    env, board = made(rewards=rewards)
    refused = env.step(box(next(blocked(board))))
    steps = solved(env)

    assert refused.reward == -0.5
    assert [step.reward for step in steps] == [-0.1] * (len(steps) - 1) + [2.0]


@pytest.mark.parametrize("text", ["UP", " up ", "(Up)", "[up]", "up,"])
def test_a_move_is_read_in_odd_spellings(text: str) -> None:
    assert made()[0].step(box(text)) == made()[0].step(box("up"))


@pytest.mark.parametrize("text", ["north", "up up", "", "1", "u p"])
def test_what_is_no_direction_ends_the_game(text: str) -> None:
    step = made()[0].step(box(text))

    assert step.info["action_error"] == "format"
    assert step.reward == -0.1


def test_instructions_name_every_symbol_and_the_turns() -> None:
    observation, _ = gem.make(IDS[0]).reset(seed=0)
    text = observation_text(observation)

    assert all(f"{symbol} " in text for symbol in "#_OX√P+")
    assert "You have 20 turns." in text
    assert "\\boxed{up}" in text


def test_random_sizes_are_the_published_ones_with_their_turns() -> None:
    env = gem.make(IDS[2])
    found = set()
    for seed in range(20):
        board = board_in(env.reset(seed=seed)[1])
        found.add((Rules(board).size, board.count("X"), env.max_turns))

    assert found == {((6, 6), 2, 20), ((8, 8), 5, 50)}


def test_a_room_may_be_given_as_a_list() -> None:
    assert Rules(made(dim_room=[6, 9])[1]).size == (6, 9)


def test_a_given_room_keeps_its_size_where_boxes_are_drawn() -> None:
    env, board = made(dim_room=(8, 8), num_boxes=None, max_turns=None)

    assert (Rules(board).size, board.count("X"), env.max_turns) in {
        ((8, 8), 2, 24),
        ((8, 8), 5, 50),
    }


@pytest.mark.parametrize(
    "kwargs",
    [
        {"num_boxes": 0},
        {"num_boxes": -1},
        {"num_boxes": 5},
        {"dim_room": (2, 9)},
        {"dim_room": (4, 4), "num_boxes": 1},
        {"dim_room": (6, 21)},
        {"dim_room": (10**9, 10**9)},
        {"dim_room": (20, 20), "num_boxes": 13},
        {"dim_room": None, "num_boxes": 10},
    ],
)
def test_a_room_that_cannot_be_made_is_refused(kwargs: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match="there is no such room"):
        made(**kwargs)


def test_a_room_of_one_side_is_refused() -> None:
    with pytest.raises(BadArguments, match="dim_room"):
        made(dim_room=[6])


@pytest.mark.parametrize("seed", range(10))
def test_a_board_is_written_as_it_was_read(seed: int) -> None:
    board = made(seed, IDS[1])[1]

    assert board_of(masks_of(board), 8) == board


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(board_module).failed == 0

"""Ways to solve a sliding puzzle from any position. Knows nothing about turns or rewards.

A board is the numbers of its tiles in reading order, with 0 for the blank. A move is named by
the way its tile goes: "up" moves the tile below the blank up.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache

__all__ = ["ENOUGH", "goal", "is_solvable", "moved", "next_move", "shortest", "sources"]

Board = tuple[int, ...]

_STAGES = ((1, 2), (3, 4), (5, 9, 13))  # the tiles that 4x4 brings home in turn; 3x3 is left

# Turns in which `next_move` solves any board of a size. 6 and 31 are what the hardest boards
# need. The hardest positions of the three stages of 4x4 need 29, 32 and 32 moves, 31 the rest.
ENOUGH = {2: 6, 3: 31, 4: 124}


@cache
def goal(size: int) -> Board:
    """Return the solved board."""
    return (*range(1, size * size), 0)


@cache
def sources(size: int) -> tuple[Mapping[str, int], ...]:
    """Return, for each cell the blank may be on, the cell whose tile each move would take."""
    return tuple(_sources(size, at) for at in range(size * size))


def _sources(size: int, at: int) -> Mapping[str, int]:
    row, column = divmod(at, size)
    neighbours = {}
    if row < size - 1:
        neighbours["up"] = at + size
    if row > 0:
        neighbours["down"] = at - size
    if column < size - 1:
        neighbours["left"] = at + 1
    if column > 0:
        neighbours["right"] = at - 1
    return neighbours


def moved(board: Board, blank: int, source: int) -> Board:
    """Return the board after the tile at `source` moved to `blank`."""
    cells = list(board)
    cells[blank] = cells[source]
    cells[source] = 0
    return tuple(cells)


def is_solvable(board: Sequence[int], size: int) -> bool:
    """Tell whether moves lead from this board to the solved one.

    Each move swaps two cells and takes the blank one cell further: the parity of the
    permutation and of the blank's distance from home change together.
    """
    swaps = sum(
        later < tile for at, tile in enumerate(board) if tile for later in board[at + 1 :] if later
    )
    row = size - 1 - board.index(0) // size
    return (swaps + (row if size % 2 == 0 else 0)) % 2 == 0


def next_move(board: Board, size: int) -> str | None:
    """Return a move that leads to the solved board in ENOUGH moves; None if it is solved.

    Up to 3x3 it begins a shortest way. On 4x4 it brings a few tiles home at a time, each time
    on a shortest way: 76 moves on average, where 53 would do.
    """
    if size == 4:
        for number, tiles in enumerate(_STAGES):
            if any(board[tile - 1] != tile for tile in tiles):
                return _nearer(board, number)
        board = _inner(board)
        size = 3
    return next(iter(shortest(board, size)), None)


def _nearer(board: Board, stage: int) -> str:
    """Return a move that brings the tiles of this stage of 4x4 nearer to their cells."""
    far = _distances(stage)
    position = tuple(board.index(tile) for tile in (0, *_STAGES[stage]))
    moves = sources(4)[position[0]]
    # A move of a tile that is home already leads to no known position.
    return min(moves, key=lambda move: far.get(_shifted(position, moves[move]), len(far)))


@cache
def _distances(stage: int) -> Mapping[tuple[int, ...], int]:
    """Return how far every position (the blank, then this stage's tiles) is from home.

    The tiles of earlier stages stay where they are. 10,000 positions at most, 20 ms.
    """
    fixed = {tile - 1 for tiles in _STAGES[:stage] for tile in tiles}
    home = tuple(tile - 1 for tile in _STAGES[stage])
    free = [at for at in range(16) if at not in fixed]
    distances = {(blank, *home): 0 for blank in free if blank not in home}
    ahead = deque(distances)
    while ahead:
        position = ahead.popleft()
        for source in sources(4)[position[0]].values():
            after = _shifted(position, source)
            if source not in fixed and after not in distances:
                distances[after] = distances[position] + 1
                ahead.append(after)
    return distances


def _shifted(position: tuple[int, ...], source: int) -> tuple[int, ...]:
    """Return the position, the blank first, after what is on `source` moved to the blank."""
    blank, *tiles = position
    return (source, *[blank if at == source else at for at in tiles])


def _inner(board: Board) -> Board:
    """Return the 3x3 board inside a 4x4 one whose first row and column are home."""
    return tuple(
        (tile - 2) // 4 * 3 + (tile - 2) % 4 - 2 if tile else 0
        for at, tile in enumerate(board)
        if at >= 4 and at % 4
    )


def shortest(board: Board, size: int) -> list[str]:
    """Return a shortest way to the solved board, which must be within reach.

    A* by the sum of the tiles' distances: a millisecond for most boards of 3x3, 10 for the
    hardest. On larger boards it can take for ever.
    """
    target = goal(size)
    steps = _tile_distances(size)
    first = sum(steps[at][tile] for at, tile in enumerate(board))
    ahead = [(first, 0, board, board.index(0))]
    came: dict[Board, tuple[int, str, Board]] = {board: (0, "", board)}
    while board != target:
        estimate, done, board, blank = heapq.heappop(ahead)
        if came[board][0] != -done:
            continue  # reached on a shorter way since
        for move, source in sources(size)[blank].items():
            after = moved(board, blank, source)
            tile = board[source]
            if after not in came or came[after][0] > 1 - done:
                came[after] = 1 - done, move, board
                longer = estimate + 1 + steps[blank][tile] - steps[source][tile]
                # Of equal estimates the deepest first: it is the nearest to the end.
                heapq.heappush(ahead, (longer, done - 1, after, source))
    return _way_to(target, came)


def _way_to(board: Board, came: Mapping[Board, tuple[int, str, Board]]) -> list[str]:
    way: list[str] = []
    while came[board][1]:
        _, move, board = came[board]
        way.append(move)
    return way[::-1]


@cache
def _tile_distances(size: int) -> list[list[int]]:
    """Return, for each cell and each tile, the moves between the two; nothing for the blank."""
    table = []
    for at in range(size * size):
        row, column = divmod(at, size)
        distances = [0]  # of the blank
        for tile in range(1, size * size):
            home_row, home_column = divmod(tile - 1, size)
            distances.append(abs(row - home_row) + abs(column - home_column))
        table.append(distances)
    return table

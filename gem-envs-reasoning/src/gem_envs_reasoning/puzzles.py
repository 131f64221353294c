"""Judge puzzles by their rules where the library compares with one solution, or by other rules.

Knows nothing about answers: moves, sequences and grids are read before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["captured", "fewest_presses", "fills", "pressed"]

Grid = Sequence[Sequence[int]]
Board = Sequence[Sequence[str]]
Place = tuple[int, int]


def captured(board: Board) -> Mapping[Place, int]:
    """Return how many white stones each move of Black takes, for the moves that take any.

    Places are row and column from 0, from the top left. Black is X and White is O.

    >>> captured([".X.", "XO.", ".X."])
    {(1, 2): 1}
    """
    taken = Counter[Place]()
    seen = set[Place]()
    for place in _places(board):
        if _at(board, place) == "O" and place not in seen:
            stones = _group(board, place)
            seen |= stones
            liberties = {
                near for stone in stones for near in _near(board, stone) if _at(board, near) == "."
            }
            if len(liberties) == 1:
                taken[liberties.pop()] += len(stones)
    return dict(taken)


def _group(board: Board, place: Place) -> set[Place]:
    """Return the stones of one colour that hang together with the one at this place."""
    color = _at(board, place)
    group = {place}
    waiting = [place]
    while waiting:
        for near in _near(board, waiting.pop()):
            if near not in group and _at(board, near) == color:
                group.add(near)
                waiting.append(near)
    return group


def _places(board: Board) -> Iterator[Place]:
    return ((row, column) for row, line in enumerate(board) for column in range(len(line)))


def _near(board: Board, place: Place) -> Iterator[Place]:
    row, column = place
    for near_row, near_column in (
        (row - 1, column),
        (row + 1, column),
        (row, column - 1),
        (row, column + 1),
    ):
        if 0 <= near_row < len(board) and 0 <= near_column < len(board[0]):
            yield near_row, near_column


def _at(board: Board, place: Place) -> str:
    return board[place[0]][place[1]]


_State = tuple[int, bool]  # the number, and whether the light is green


def pressed(lock: Mapping[str, Any], buttons: Sequence[str]) -> int:
    """Return the number that a lock shows after these presses.

    Each press toggles the light, also of a button that does nothing under it.
    """
    state = _start(lock)
    known = {button["name"]: button for button in lock["buttons"]}
    for name in buttons:
        state = _after(state, known[name])
    return state[0]


def fewest_presses(lock: Mapping[str, Any], *, at_most: int) -> int | None:
    """Return how many presses lead to the target at least; None where so many do not suffice."""
    states = {_start(lock)}
    seen = set(states)
    for presses in range(at_most + 1):
        if any(number == lock["target_value"] for number, _ in states):
            return presses
        states = {_after(state, button) for state in states for button in lock["buttons"]} - seen
        seen |= states
    return None


def _start(lock: Mapping[str, Any]) -> _State:
    return lock["initial_value"], lock["initial_state"] == "green"


def _after(state: _State, button: Mapping[str, Any]) -> _State:
    number, is_green = state
    if button["active_state"] in ("any", "green" if is_green else "red"):
        if button["type"] == "add":
            number += button["value"]
        elif button["type"] == "subtract":
            number -= button["value"]
        else:
            number *= button["value"]
    return number, not is_green


def fills(grid: Grid, puzzle: Grid, numbers: Sequence[int]) -> bool:
    """Say whether a grid is a Survo puzzle with these numbers in the place of its zeros.

    The last number of each row and column is the sum of the others.

    >>> fills([[1, 2, 3], [3, 1, 4], [4, 3, 7]], [[1, 0, 3], [0, 1, 4], [4, 3, 7]], [3, 2])
    True
    """
    if [len(row) for row in grid] != [len(row) for row in puzzle]:
        return False
    filled = []
    for row, asked in zip(grid, puzzle, strict=True):
        for number, given in zip(row, asked, strict=True):
            if given == 0:
                filled.append(number)
            elif number != given:
                return False
    columns = list(zip(*grid, strict=True))
    is_summed = all(sum(line[:-1]) == line[-1] for line in (*grid, *columns))
    return is_summed and sorted(filled) == sorted(numbers)

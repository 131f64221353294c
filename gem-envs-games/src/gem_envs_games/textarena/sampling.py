"""Draw a move that a game takes, from what its player can see. One function for each family.

They read the attributes of TextArena 0.7.4's games, which is why that version is required.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

__all__ = ["SAMPLERS"]

Sampler = Callable[[Any, Random], str]

_STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def _one_of(moves: Iterable[str], rng: Random) -> str:
    """Draw one move, or none where a player is stuck: then every move is refused."""
    known = list(moves)
    return rng.choice(known) if known else "none"


def _tiles(game: Any, rng: Random) -> str:
    board = game.state.game_state["board"]
    lines = {
        "left": board,
        "right": [row[::-1] for row in board],
        "up": [list(column) for column in zip(*board, strict=True)],
        "down": [list(column[::-1]) for column in zip(*board, strict=True)],
    }
    return _one_of((move for move, rows in lines.items() if any(map(_slides, rows))), rng)


def _slides(line: list[int]) -> bool:
    """Tell whether a line changes when it is pushed towards its start."""
    pairs = list(itertools.pairwise(line))
    return any((not one and other) or (one and one == other) for one, other in pairs)


def _bandit(game: Any, rng: Random) -> str:
    return str(rng.choice(game.buttons))


def _blackjack(game: Any, rng: Random) -> str:
    return rng.choice(("Hit", "Stand"))


def _countdown(game: Any, rng: Random) -> str:
    moves = (
        f"{one} {other} {sign}"
        for one, other in itertools.permutations(range(len(game.numbers)), 2)
        for sign in "+-*/"
        if game._execute_operation(one, other, sign) is not None
    )
    return _one_of(moves, rng)


def _crosswords(game: Any, rng: Random) -> str:
    cells = _cells(game.state.game_state["board"], "_")
    return f"{_one_of(cells, rng)} {rng.choice(string.ascii_lowercase)}"


def _cells(board: Any, empty: object, first: int = 0) -> list[str]:
    return [
        f"{row} {column}"
        for row, cells in enumerate(board, start=first)
        for column, cell in enumerate(cells, start=first)
        if cell == empty
    ]


def _cryptarithm(game: Any, rng: Random) -> str:
    moves = (
        f"{letter} {digit}"
        for letter in sorted(game.letters)
        for digit in range(10)
        if digit not in game.digit_used and (digit or letter not in game.first_letters)
    )
    return _one_of(moves, rng)


def _fifteen_puzzle(game: Any, rng: Random) -> str:
    row, column = game._get_empty_position()
    moves = {"up": row < 3, "down": row > 0, "left": column < 3, "right": column > 0}
    return _one_of((move for move, is_legal in moves.items() if is_legal), rng)


def _frozen_lake(game: Any, rng: Random) -> str:
    row, column = game.state.game_state["player_pos"]
    inside = range(game.size)
    moves = (
        move
        for move, (down, right) in _STEPS.items()
        if row + down in inside and column + right in inside
    )
    return _one_of(moves, rng)


def _guess_the_number(game: Any, rng: Random) -> str:
    numbers = range(game.min_number, game.max_number + 1)
    return _one_of((str(number) for number in numbers if number not in game.guessed_numbers), rng)


def _hangman(game: Any, rng: Random) -> str:
    guessed = game.state.game_state["guessed_letters"]
    return _one_of((letter for letter in string.ascii_uppercase if letter not in guessed), rng)


def _lights_out(game: Any, rng: Random) -> str:
    return f"{rng.randrange(game.size)} {rng.randrange(game.size)}"


def _logic_puzzle(game: Any, rng: Random) -> str:
    moves = (
        f"{row} {column} {mark}"
        for grid in game.game_board.values()
        for row, marks in grid.items()
        for column, known in marks.items()
        for mark in "XO"
        if mark != known
    )
    return _one_of(moves, rng)


def _mastermind(game: Any, rng: Random) -> str:
    state = game.state.game_state
    guessed = [entry["guess"] for entry in state["history"]]
    draw = rng.choices if state["duplicate_numbers"] else rng.sample
    numbers = range(1, state["num_numbers"] + 1)
    while (code := draw(numbers, k=state["code_length"])) in guessed:
        pass
    return " ".join(map(str, code))


def _minesweeper(game: Any, rng: Random) -> str:
    return _one_of(_cells(game.revealed, False), rng)


def _peg_jump(game: Any, rng: Random) -> str:
    board = game.state.game_state["board"]
    moves = (
        f"{start} {end}"
        for start, over, end in game.ALLOWED_MOVES
        if board[start] and board[over] and not board[end]
    )
    return _one_of(moves, rng)


def _rush_hour(game: Any, rng: Random) -> str:
    cars = game.state.game_state["vehicles"]
    moves = (
        f"{name}{sign}"
        for name, car in cars.items()
        for sign in "+-"
        if game._can_move(cars, car, sign == "+")
    )
    return _one_of(moves, rng)


def _secretary(game: Any, rng: Random) -> str:
    return rng.choice(("accept", "continue"))


def _set(game: Any, rng: Random) -> str:
    cards = range(1, len(game.state.game_state["board"]) + 1)
    return ", ".join(map(str, rng.sample(cards, 3)))


def _slitherlink(game: Any, rng: Random) -> str:
    kind = rng.choice("hv")
    return f"{kind} {rng.randrange(game.R + (kind == 'h'))} {rng.randrange(game.C + (kind == 'v'))}"


def _sokoban(game: Any, rng: Random) -> str:
    return _one_of((move for move in _STEPS if not game._would_collide_with_wall(move)), rng)


def _sudoku(game: Any, rng: Random) -> str:
    board = game.state.game_state["board"]
    moves = (
        f"{cell} {digit}"
        for cell in _cells(board, 0, first=1)
        for digit in range(1, 10)
        if game.is_safe(board, *(int(place) - 1 for place in cell.split()), digit)
    )
    return _one_of(moves, rng)


def _three_card_monte(game: Any, rng: Random) -> str:
    return str(rng.randrange(game.num_cups))


def _tower_of_hanoi(game: Any, rng: Random) -> str:
    towers = game.state.game_state["towers"]
    moves = (
        f"{source} {target}"
        for source, target in itertools.permutations("ABC", 2)
        if towers[source] and (not towers[target] or towers[source][-1] < towers[target][-1])
    )
    return _one_of(moves, rng)


_BETS = {"play_bet_4x": "4x", "play_bet_2x": "2x", "play_bet_1x": "1x"}


def _ultimate_texas_holdem(game: Any, rng: Random) -> str:
    state = game.state.game_state
    if state["current_phase"] == "showdown":
        return "skip"
    return _one_of((_BETS.get(action, action) for action in state["legal_actions"]), rng)


def _word_ladder(game: Any, rng: Random) -> str:
    word = game.current_word
    words = (
        word[:place] + letter + word[place + 1 :]
        for place in range(len(word))
        for letter in string.ascii_lowercase
        if letter != word[place]
    )
    return _one_of((word for word in words if word in game.universal_word_list), rng)


def _word_search(game: Any, rng: Random) -> str:
    size = len(game.state.game_state["board"])
    while True:
        line = rng.randrange(size)
        one, other = sorted(rng.sample(range(size), 2))
        move = rng.choice(((line, one, line, other), (one, line, other, line)))
        if move not in game.incorrect_attempts:
            return " ".join(map(str, move))


def _wordle(game: Any, rng: Random) -> str:
    guessed = {word for word, _ in game.state.game_state["guess_history"]}
    return _one_of((word for word in game.word_list if word.lower() not in guessed), rng)


SAMPLERS: Mapping[str, Sampler] = {
    "2048": _tiles,
    "Bandit": _bandit,
    "Blackjack": _blackjack,
    "Countdown": _countdown,
    "Crosswords": _crosswords,
    "Cryptarithm": _cryptarithm,
    "FifteenPuzzle": _fifteen_puzzle,
    "FrozenLake": _frozen_lake,
    "GuessTheNumber": _guess_the_number,
    "Hangman": _hangman,
    "LightsOut": _lights_out,
    "LogicPuzzle": _logic_puzzle,
    "Mastermind": _mastermind,
    "Minesweeper": _minesweeper,
    "PegJump": _peg_jump,
    "RushHour": _rush_hour,
    "Secretary": _secretary,
    "Set": _set,
    "Slitherlink": _slitherlink,
    "Sokoban": _sokoban,
    "Sudoku": _sudoku,
    "ThreeCardMonte": _three_card_monte,
    "TowerOfHanoi": _tower_of_hanoi,
    "UltimateTexasHoldem": _ultimate_texas_holdem,
    "WordLadder": _word_ladder,
    "WordSearch": _word_search,
    "Wordle": _wordle,
}

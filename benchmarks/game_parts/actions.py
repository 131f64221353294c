"""Record the actions that both packages are given: `python actions.py FILE [--seed N]`.

For each id a list in which well-formed and valid answers, well-formed ones that are refused and,
two in a hundred, malformed ones follow each other at random. Which of the well-formed are valid
depends on the board: moves into a wall, guesses made before and wrong digits come by themselves.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from pathlib import Path

COUNT = 5000
MALFORMED = 0.02
OUTSIDE = 0.08
TEXTS = ("I do not know.", "\\boxed{}", "The answer is 4.", "boxed{up}")
DIRECTIONS = ("up", "down", "left", "right")
Draw = Callable[[random.Random], str]


def number(low: int, high: int) -> Draw:
    """Guess a number, some of them beyond the highest."""
    return lambda rng: str(rng.randint(low, high) + (high if rng.random() < OUTSIDE else 0))


def code(lengths: tuple[int, ...], numbers: int) -> Draw:
    """Guess a code, some of them too short or with a number that is too large."""

    def draw(rng: random.Random) -> str:
        guess = rng.sample(range(1, numbers + 1), rng.choice(lengths))
        if rng.random() < OUTSIDE:
            guess = rng.choice((guess[1:], [*guess[1:], numbers + 1]))
        return " ".join(map(str, guess))

    return draw


def mine(side: int) -> Draw:
    """Reveal or flag a cell; as often, so that an episode lasts."""

    def draw(rng: random.Random) -> str:
        row = rng.randrange(side) + (side if rng.random() < OUTSIDE else 0)
        return f"{rng.choice(('reveal', 'flag'))} {row} {rng.randrange(side)}"

    return draw


def digit(side: int) -> Draw:
    """Put a digit into a cell of a Sudoku, counted from 1."""

    def draw(rng: random.Random) -> str:
        row = rng.randint(1, side) + (side if rng.random() < OUTSIDE else 0)
        return f"{row} {rng.randint(1, side)} {rng.randint(1, side)}"

    return draw


def letter(side: int) -> Draw:
    """Put a letter into a cell of a crossword, counted from 0."""

    def draw(rng: random.Random) -> str:
        row = rng.randrange(side) + (100 if rng.random() < OUTSIDE else 0)
        return f"{row} {rng.randrange(side)} {rng.choice('EARIOTNSLC')}"

    return draw


def word(*words: str) -> Draw:
    """Say one of these words."""
    return lambda rng: rng.choice(words)


def peg(rng: random.Random) -> str:
    """Move a disk from one peg to another."""
    return " ".join(rng.sample("ABC", 2))


DRAWS: dict[str, Draw] = {
    "GuessTheNumber-v0-easy": number(1, 10),
    "GuessTheNumber-v0-hard": number(1, 50),
    "GuessTheNumber-v0-random": number(6, 30),
    "Mastermind-v0-easy": code((2,), 6),
    "Mastermind-v0-hard": code((4,), 8),
    "Mastermind-v0-random": code((2, 4), 4),
    "Minesweeper-v0-easy": mine(5),
    "Minesweeper-v0-hard": mine(8),
    "Minesweeper-v0-random": mine(6),
    "FifteenPuzzle-v0-easy": word(*DIRECTIONS),
    "FifteenPuzzle-v0-hard": word(*DIRECTIONS),
    "FifteenPuzzle-v0-random": word(*DIRECTIONS),
    "Sudoku-v0-easy": digit(4),
    "Sudoku-v0-hard": digit(9),
    "Sudoku-v0-random": digit(6),
    "TowerofHanoi-v0-easy": peg,
    "TowerofHanoi-v0-hard": peg,
    "TowerofHanoi-v0-random": peg,
    "Game2048-v0-easy": word(*DIRECTIONS),
    "Game2048-v0-hard": word(*DIRECTIONS),
    "Game2048-v0-extreme-hard": word(*DIRECTIONS),
    "Game2048-v0-random": word(*DIRECTIONS),
    "Sokoban-v0-easy": word(*DIRECTIONS),
    "Sokoban-v0-hard": word(*DIRECTIONS),
    "Sokoban-v0-random": word(*DIRECTIONS),
    "Crosswords-v0-easy": letter(10),
    "Crosswords-v0-hard": letter(15),
    "Crosswords-v0-random": letter(15),
}


def record(draw: Draw, rng: random.Random) -> list[str]:
    """Return the actions for one id."""
    return [
        rng.choice(TEXTS) if rng.random() < MALFORMED else f"\\boxed{{{draw(rng)}}}"
        for _ in range(COUNT)
    ]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    recorded = {
        f"game:{name}": record(draw, random.Random(f"{options.seed} {name}"))
        for name, draw in DRAWS.items()
    }
    options.file.write_text(json.dumps(recorded), encoding="utf-8")


if __name__ == "__main__":
    main()

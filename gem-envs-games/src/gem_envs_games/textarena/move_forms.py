"""Write moves by their form: what many games share, for the moves that are drawn.

Knows no game: it reads what it is told to read of one.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from random import Random
from typing import Any

__all__ = ["Writer", "aloud", "form", "listed", "near", "numbers", "votes"]

Writer = Callable[[Any, Random], str]
"""Writes a move of a game, allowed now or not."""
_CHOICE = re.compile(r"\{([^{}]+)\}")


def form(*forms: str) -> Writer:
    """Write one of the forms, in which `{a-e}`, `{0-12}` and `{one|other}` are drawn."""

    def write(_: Any, rng: Random) -> str:
        chosen = forms[0] if len(forms) == 1 else rng.choice(forms)
        return _CHOICE.sub(lambda match: _drawn(match[1], rng), chosen)

    return write


def _drawn(choice: str, rng: Random) -> str:
    if "|" in choice:
        return rng.choice(choice.split("|"))
    first, _, last = choice.partition("-")
    if first.isdigit():
        return str(rng.randint(int(first), int(last)))
    return chr(rng.randint(ord(first), ord(last)))


def near(form: str, size: int, reach: int = 1, first: int = 0, pieces: str = "") -> Writer:
    """Write a move of a piece by up to `reach` on a board of this `size`.

    The form has `{0}` and `{2}` for the letters of files, `{1}` and `{3}` for the numbers of
    ranks, from `first` on, and `{4}` and `{5}` for the files as numbers. `pieces` are those of
    the players on a board whose first row is the last rank, where only one's own may move.
    """

    def write(game: Any, rng: Random) -> str:
        squares = [(file, rank) for file in range(size) for rank in range(size)]
        if pieces:
            own = pieces[game.state.current_player_id]
            rows = game.state.game_state["board"]
            squares = [place for place in squares if rows[size - 1 - place[1]][place[0]] == own]
        file, rank = rng.choice(squares)
        to_file = min(size - 1, max(0, file + rng.randint(-reach, reach)))
        to_rank = min(size - 1, max(0, rank + rng.randint(-reach, reach)))
        letters = string.ascii_lowercase
        return form.format(
            letters[file],
            rank + first,
            letters[to_file],
            to_rank + first,
            file + first,
            to_file + first,
        )

    return write


def numbers(form: str, size: str) -> Writer:
    """Write a number below the game's attribute `size`."""

    def write(game: Any, rng: Random) -> str:
        return form.format(rng.randrange(getattr(game, size)))

    return write


def listed(find: Callable[[Any], str]) -> Writer:
    """Write one of the moves that the game lists in a text."""

    def write(game: Any, rng: Random) -> str:
        moves = re.findall(r"\[[^\[\]]+\]", find(game))
        return rng.choice(moves) if moves else "[none]"

    return write


def votes(form: str) -> Writer:
    """Write a form with the number of another player."""

    def write(game: Any, rng: Random) -> str:
        others = [
            player
            for player in range(game.state.num_players)
            if player != game.state.current_player_id
        ]
        return form.format(rng.choice(others))

    return write


def aloud(talk: Writer, move: Writer) -> Writer:
    """Write what is said in public, in curly braces, and a move after it."""

    def write(game: Any, rng: Random) -> str:
        return f"{{{talk(game, rng)}}} {move(game, rng)}"

    return write

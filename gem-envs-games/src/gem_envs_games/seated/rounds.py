"""The number of rounds of a game, as its arguments give it."""

from __future__ import annotations

from gem.errors import BadArguments

__all__ = ["checked_rounds"]

_MOST = 1000


def checked_rounds(rounds: int, name: str) -> int:
    """Return the number of rounds. Raises BadArguments where no game has so many."""
    if not 1 <= rounds <= _MOST:
        raise BadArguments(
            f"{name} was given rounds={rounds}. Pass a number from 1 to {_MOST}.", subject=name
        )
    return rounds

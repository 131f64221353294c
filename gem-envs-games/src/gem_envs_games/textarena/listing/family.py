"""What the table of TextArena's games says of one class of them, and the specs that follow from it.

Imports `gem.specs` and the standard library, nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gem.specs import CheckHints, EnvSpec

__all__ = ["BROKEN", "REMOTE", "TEXTARENA", "Family", "id_of", "names_of", "specs_of"]

TEXTARENA = "textarena==0.7.4"  # exactly: its games' attributes are read, and none is documented
REMOTE = "it asks a remote model, so it is neither offline nor reproducible"
BROKEN = "TextArena 0.7.4's module for it is no valid Python of any version"
_PROBE = "gem_envs_games.probing:textarena"


class Family(NamedTuple):
    """The games of one class of TextArena.

    `moves` maps each variant to the most valid moves of an episode: the game's own limit, or
    ours where it has none. Of one player an episode may have twice as many turns, since a refused
    move costs a turn of ours and none of the game's, and two in a row end the game. `won` is what
    the game's last message says when it is won, and `success_at` the reward that is then needed.
    `miss` is what a message says that TextArena calls an invalid move and that only is a wrong
    answer. `unwinnable` are variants that even a perfect player cannot win. `missing` says why
    no installation can run it.

    `players` are the numbers of players that the game takes, the first of them unless one is asked
    for. `is_talk` says that it hears the whole action and not an answer in it, `has_hung` that
    TextArena's own never returns from some calls: it is mended here, and its steps are still kept
    off the event loop, under their deadline. `success_at`, `won` and `miss` are for one player;
    of two, what one wins the other loses.
    """

    name: str
    summary: str
    moves: Mapping[str, int]
    won: str = "Congratulations"
    success_at: float = 1.0
    lowest: float = 0.0
    highest: float = 1.0
    miss: str = ""
    is_slow: bool = False
    is_fixed: bool = False
    unwinnable: tuple[str, ...] = ()
    requires: tuple[str, ...] = (TEXTARENA,)
    corpora: tuple[str, ...] = ()
    python: tuple[int, int] = (3, 10)
    missing: str = ""
    players: tuple[int, ...] = (1,)
    is_talk: bool = False
    has_hung: bool = False

    @property
    def has_seats(self) -> bool:
        return self.players != (1,)


def names_of(family: Family) -> dict[str, int]:
    """Return TextArena's names of the family's games, with the moves of each."""
    return {f"{family.name}-v0{variant}": moves for variant, moves in family.moves.items()}


def id_of(name: str) -> str:
    """Return the id of a game. A slash, which no id has, is written as a hyphen.

    >>> id_of("Taboo-v0-city/country")
    'ta:Taboo-v0-city-country'
    """
    return f"ta:{name.replace('/', '-')}"


def specs_of(family: Family) -> list[EnvSpec]:
    """Return the specs of the family's games."""
    return [_spec(family, name, moves) for name, moves in names_of(family).items()]


def _spec(family: Family, name: str, moves: int) -> EnvSpec:
    variant = name.partition("-v0")[2]
    return EnvSpec(
        id=id_of(name),
        summary=_summary(family),
        requires=() if family.missing else family.requires,  # installing them is no remedy
        blocking=family.is_slow or family.has_hung,
        success_return=family.success_at,
        check=CheckHints(fixed_start=family.is_fixed, winnable=variant not in family.unwinnable),
        source="TextArena 0.7.4",
        licence="MIT",
        probe=_PROBE if family.missing or family.corpora or family.python > (3, 10) else None,
        **_target(family, name, moves),
    )


def _target(family: Family, name: str, moves: int) -> dict[str, Any]:
    if family.has_seats:
        return {
            "target": "gem_envs_games.textarena.seats:TextArenaSeats",
            "kwargs": {"name": name, "num_players": family.players[0], "max_turns": moves},
        }
    return {
        "target": "gem_envs_games.textarena.env:TextArenaGame",
        "kwargs": {"name": name, "max_turns": 2 * moves},
    }


def _summary(family: Family) -> str:
    if family.missing:
        return f"Not available: {family.missing}."
    corpora = f" Needs the NLTK data {' and '.join(family.corpora)}." if family.corpora else ""
    python = (
        f" Needs Python {'.'.join(map(str, family.python))}." if family.python > (3, 10) else ""
    )
    return _seats(family) + family.summary + corpora + python


def _seats(family: Family) -> str:
    if not family.has_seats:
        return ""
    fewest = min(family.players)
    most = max(family.players)
    if fewest == most:
        return f"{fewest} seats: "
    between = "to" if len(family.players) == most - fewest + 1 else "or"
    return f"{fewest} {between} {most} seats: "

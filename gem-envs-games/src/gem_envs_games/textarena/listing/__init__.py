"""Every game of TextArena 0.7.4 by its name, and the spec of each.

Imports `gem.specs` and the standard library, nothing else.
"""

from __future__ import annotations

from gem.specs import EnvSpec
from gem_envs_games.textarena.listing.family import Family, names_of, specs_of
from gem_envs_games.textarena.listing.one_player import FAMILIES as ONE_PLAYER
from gem_envs_games.textarena.listing.several_players import FAMILIES as SEVERAL_PLAYERS

__all__ = ["ENVS", "FAMILIES", "family_of"]

FAMILIES: tuple[Family, ...] = ONE_PLAYER + SEVERAL_PLAYERS

_FAMILY_OF = {name: family for family in FAMILIES for name in names_of(family)}

ENVS: tuple[EnvSpec, ...] = tuple(spec for family in FAMILIES for spec in specs_of(family))


def family_of(name: str) -> Family:
    """Return the family of a game such as `2048-v0-easy`. Raises KeyError where there is none.

    >>> family_of("Sudoku-v0-hard").name
    'Sudoku'
    """
    return _FAMILY_OF[name]

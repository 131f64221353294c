"""Equilibria that were computed once and are shipped, as policies.

`tools/make_equilibria.py` writes the files, from exact solutions of linear programs. A row is
there for every decision that its seat may come to.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from gem_envs_games.trees.solving.policies import Policy, from_table

__all__ = ["STORED", "stored_equilibrium"]

STORED = ("kuhn_poker", "leduc_poker", "liars_dice")


@cache
def stored_equilibrium(name: str) -> Policy:
    """Return a policy that plays an equilibrium in every seat; exploitability under 1e-9.

    `name` is one of `STORED`; Liar's dice is that with six sides. The file is read once a
    process, which takes some milliseconds.

    >>> stored_equilibrium("kuhn_poker")("1 K b", ("pass", "bet"))
    [0.0, 1.0]
    """
    file = files("gem_envs_games") / "trees" / "equilibria" / f"{name}.json"
    table: dict[str, dict[str, float]] = json.loads(file.read_text(encoding="ascii"))
    return from_table(table)

"""Invent names that nothing outside a world knows. Knows nothing about what they name."""

from __future__ import annotations

import random
from collections.abc import Callable

from gem_envs_qa.normalising import normal_form

__all__ = ["Names"]

_BEGINNINGS = """
    b br ch d dr f fl g gr h j k kl kv l m n p pl q r s sk st t th tr v vr w x y z zh
"""
_ONSETS = _BEGINNINGS.split()
_VOWELS = ("a", "e", "ei", "i", "ia", "o", "u", "y")
_CODAS = ("", "l", "m", "n", "nd", "r", "rk", "rn", "s", "sk", "th", "x")
_TOWN_ENDINGS = ("haven", "mere", "fell", "holm", "wick", "stead", "ford", "gate")
_BODIES = ("Guild", "Society", "Press", "College", "Company", "Institute", "League", "Workshop")
_THINGS = (
    "Lantern",
    "Orchard",
    "Compass",
    "Winter",
    "Bridge",
    "Garden",
    "Mirror",
    "Voyage",
    "Harvest",
    "Silence",
)


class Names:
    """Draws names from `rng`, no two of one world alike once they are normalised."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._taken: set[str] = set()
        self._given: list[str] = []
        self._family: list[str] = []

    def person(self) -> str:
        """Return a given and a family name; others may share either, none both."""
        return self._new(lambda: f"{self._half_new(self._given)} {self._half_new(self._family)}")

    def town(self) -> str:
        """Return a town's name, one word."""
        return self._new(lambda: self._word(1) + self._rng.choice(_TOWN_ENDINGS))

    def organisation(self) -> str:
        """Return an organisation's name, such as `Vrokan Guild`."""
        return self._new(lambda: f"{self._word(2)} {self._rng.choice(_BODIES)}")

    def work(self) -> str:
        """Return a title, such as `The Lantern of Vrokan`."""
        return self._new(lambda: f"The {self._rng.choice(_THINGS)} of {self._word(2)}")

    def _half_new(self, pool: list[str]) -> str:
        """Return one of the names that others have, half of the time."""
        if pool and self._rng.random() < 0.5:
            return self._rng.choice(pool)
        pool.append(self._word(2))
        return pool[-1]

    def _word(self, syllables: int) -> str:
        draw = self._rng.choice
        open_ones = (draw(_ONSETS) + draw(_VOWELS) for _ in range(syllables))
        return ("".join(open_ones) + draw(_CODAS)).capitalize()

    def _new(self, draw: Callable[[], str]) -> str:
        while True:  # ends: there are thousands of syllables, and few names
            name = draw()
            form = normal_form(name)
            if form not in self._taken:
                self._taken.add(form)
                return name

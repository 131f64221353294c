"""See whether anything used the generators of the whole process: `random` and `numpy.random`.

What draws from them has no seed of its own, so its episodes cannot be reproduced. Knows nothing
about environments.
"""

from __future__ import annotations

import random
import sys
from typing import Any, NamedTuple

__all__ = ["GlobalChance"]


class GlobalChance(NamedTuple):
    """The state of these generators at one moment, by name; numpy's where it is imported."""

    states: dict[str, Any]
    num_modules: int
    """How many modules are imported: one may draw while it is."""

    @classmethod
    def now(cls) -> GlobalChance:
        """Return the state at this moment. Takes about 10 us."""
        states: dict[str, Any] = {"random": random.getstate()}
        # Never imported for this: whoever did not import numpy did not draw from it.
        numpy_random = sys.modules.get("numpy.random")
        if numpy_random is not None:
            states["numpy.random"] = numpy_random.get_state()
        return cls(states, len(sys.modules))

    def changed_since(self) -> list[str]:
        """Return the names of the generators that are in another state now.

        One that was only imported meanwhile is not among them.

        >>> before = GlobalChance.now()
        >>> _ = random.random()
        >>> before.changed_since()
        ['random']
        """
        states = GlobalChance.now().states
        return [
            name
            for name, state in self.states.items()
            if _comparable(state) != _comparable(states[name])
        ]

    def put_back(self) -> None:
        """Set the generators to this state again."""
        random.setstate(self.states["random"])
        if "numpy.random" in self.states:
            sys.modules["numpy.random"].set_state(self.states["numpy.random"])


def _comparable(state: tuple[Any, ...]) -> list[Any]:
    """Return a state with numpy's arrays as lists, which compare by value."""
    return [part.tolist() if hasattr(part, "tolist") else part for part in state]

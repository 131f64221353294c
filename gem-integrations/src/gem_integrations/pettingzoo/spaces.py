"""The spaces of texts that our environments have in PettingZoo. Knows nothing about its forms."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from gymnasium.spaces import Text

from gem import Env
from gem.errors import ResetNeeded

__all__ = ["ActionSpace", "ObservationSpace", "TextObservation"]

_LONGEST = 1_000_000  # characters that the spaces state; what they contain is any text
_LONGEST_SAMPLE = 16


class TextObservation(str):
    """A text with the `dtype` that PettingZoo's `api_test` compares with the space's.

    >>> TextObservation("Your move.").dtype == np.dtype(str)
    True
    """

    __slots__ = ()

    dtype = np.dtype(str)


class ObservationSpace(Text):
    """Any text, the empty one too. A sample is a short word, which no environment would show."""

    def __init__(self) -> None:
        super().__init__(_LONGEST, min_length=0)

    def contains(self, x: Any) -> bool:
        """Say whether this is a text, of whatever length and characters."""
        return isinstance(x, str)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a short word by the space's own generator. Masks are passed over."""
        return _word(self.np_random)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = None  # type: ignore[assignment]  # as Gymnasium's own spaces

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ActionSpace(ObservationSpace):
    """Any text, for an environment judges actions itself. A sample is a valid action of a seat.

    It is what the environment's `sample_action` draws by this space's generator, so two spaces of
    one seed give the same action in the same state, and sampling changes no episode. Of an
    environment that defines no `sample_action`, and before a reset, it is a short word.
    """

    def __init__(self, env: Env, seat: int) -> None:
        super().__init__()
        self._env = env
        self._seat = seat

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a valid action of the seat, whoever's turn it is. Masks are passed over."""
        base = self._env.unwrapped
        before = base.sample_rng
        base.sample_rng = random.Random(int(self.np_random.integers(2**32)))
        try:
            action = self._env.hint("sample_action", self._seat)
        except (NotImplementedError, ResetNeeded):
            action = None
        finally:
            base.sample_rng = before
        return _word(self.np_random) if action is None else action


def _word(rng: np.random.Generator) -> str:
    length = int(rng.integers(1, _LONGEST_SAMPLE + 1))
    letters = rng.integers(ord("a"), ord("z") + 1, size=length)
    return "".join(map(chr, letters))

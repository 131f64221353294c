"""Which frozen copies are met how often: those that beat the policy more. Knows no game.

Prioritised fictitious self-play (Vinyals et al., "Grandmaster level in StarCraft II using
multi-agent reinforcement learning", Nature 575, 2019, methods, `f_hard` with p = 2): an opponent is
met in proportion to (1 - the chance to win against it) squared. Here that chance is (1 + what a
game against it earns on average) / 2, which counts a draw as half a win; what games pay beyond 1
counts as 1.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["shared_out", "weight_of"]

_LEAST = 0.02
"""Nobody is forgotten: also who is always beaten is met again."""


def weight_of(earned: float) -> float:
    """Return how often a copy is to be met, from what a game against it earns on average.

    >>> [round(weight_of(earned), 2) for earned in (-1.0, 0.0, 1.0)]
    [1.0, 0.25, 0.02]
    """
    lost = (1 - max(-1.0, min(1.0, earned))) / 2
    return max(_LEAST, lost**2)


def shared_out(games: int, weights: Sequence[float], turn: int) -> list[int]:
    """Return how many of the games each opponent gets, in proportion to its weight.

    What does not come out even goes by the largest remainder; of equals by turns, so that in each
    `turn` others get it.

    >>> [shared_out(10, [1.0, 0.25, 0.25], turn) for turn in range(3)]
    [[7, 2, 1], [7, 1, 2], [6, 2, 2]]
    """
    total = sum(weights)
    wanted = [games * weight / total for weight in weights]
    shares = [int(each) for each in wanted]
    # Rounded, for 6 2/3 and 1 2/3 leave remainders that differ in their last digits.
    remainders = [round(each - share, 9) for each, share in zip(wanted, shares, strict=True)]
    by_remainder = sorted(
        range(len(weights)),
        key=lambda place: (-remainders[place], (place + turn) % len(weights)),
    )
    for place in by_remainder[: games - sum(shares)]:
        shares[place] += 1
    return shares

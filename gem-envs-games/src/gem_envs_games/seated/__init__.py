"""Games of several players as environments: their texts, answers and rewards.

The rules are those of the game trees in `trees`, and so is what `solve` plays.
"""

from __future__ import annotations

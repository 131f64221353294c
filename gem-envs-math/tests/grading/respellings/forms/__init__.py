"""The forms that golds of contest and college mathematics have, by what they are."""

from . import (
    equations,
    expressions,
    hedges,
    numbers,
    prose,
    quantities,
    sets,
    solutions,
    tuples,
    words,
)

__all__ = [
    "equations",
    "expressions",
    "hedges",
    "numbers",
    "prose",
    "quantities",
    "sets",
    "solutions",
    "tuples",
    "words",
]

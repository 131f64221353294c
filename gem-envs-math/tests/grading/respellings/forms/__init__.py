"""The forms that golds of contest and college mathematics have, by what they are."""

from . import (
    constants,
    equations,
    expressions,
    hedges,
    inequalities,
    numbers,
    prose,
    quantities,
    sets,
    solutions,
    tuples,
    words,
)

__all__ = [
    "constants",
    "equations",
    "expressions",
    "hedges",
    "inequalities",
    "numbers",
    "prose",
    "quantities",
    "sets",
    "solutions",
    "tuples",
    "words",
]

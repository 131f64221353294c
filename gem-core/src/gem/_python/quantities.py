"""Check counts, times and seeds that a caller gave. Knows nothing about what they are for.

Each check raises BadArguments, which says the name, the value and what it may be.
"""

from __future__ import annotations

import math
import numbers

from gem.errors import BadArguments

__all__ = [
    "check_count",
    "check_count_or_all",
    "check_seed",
    "check_timeout",
    "check_wait",
    "is_count",
    "is_seed",
]


def is_count(value: object, *, least: int = 1) -> bool:
    """Say whether a value is an int from `least` on; a bool is not.

    >>> is_count(1), is_count(0), is_count(0, least=0), is_count(True), is_count(1.0)
    (True, False, True, False, False)
    """
    return type(value) is int and value >= least


def check_count(name: str, value: object, *, least: int = 1, is_optional: bool = False) -> None:
    """Raise BadArguments unless a value is an int from `least` on, or None where it is optional."""
    if is_count(value, least=least) or (is_optional and value is None):
        return
    otherwise = ", or None" if is_optional else ""
    raise BadArguments(
        f"{name}={value!r:.60} was asked for. It is an int from {least} on{otherwise}.",
        subject=name,
    )


def check_count_or_all(name: str, value: object) -> None:
    """Raise BadArguments unless a value is an int from 1 on, or the word "all"."""
    if value != "all" and not is_count(value):
        raise BadArguments(
            f"{name}={value!r:.60} was asked for. It is an int from 1 on, or 'all' for every task "
            "of a finite set.",
            subject=name,
        )


def check_timeout(name: str, value: object, *, may_be_zero: bool = False) -> None:
    """Raise BadArguments unless a value is a number of seconds above 0, or None for no limit."""
    if value is None:
        return
    seconds = _real(value)
    if seconds > 0 or (may_be_zero and seconds == 0):
        return
    lowest = "from 0 on" if may_be_zero else "above 0"
    raise BadArguments(
        f"{name}={value!r:.60} was asked for. It is a number of seconds {lowest}, or None for no "
        "limit.",
        subject=name,
    )


def check_wait(name: str, value: object) -> None:
    """Raise BadArguments unless a value is a finite number of seconds from 0 on."""
    if 0 <= _real(value) < math.inf:
        return
    raise BadArguments(
        f"{name}={value!r:.60} was asked for. It is a number of seconds from 0 on.", subject=name
    )


def is_seed(value: object) -> bool:
    """Say whether a value is an int of any kind and sign, numpy's too; a bool is not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_seed(name: str, value: object) -> None:
    """Raise BadArguments unless the seed of a run is an int of any kind and sign."""
    if is_seed(value):
        return
    raise BadArguments(
        f"{name}={value!r:.60} was asked for. A seed is an int; give one, from which those of all "
        "episodes follow.",
        subject=name,
    )


def _real(value: object) -> float:
    """Return a number as a float, and NaN, which no comparison holds for, for anything else."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return math.nan
    return float(value)

"""Put counts and p-values into words. Knows nothing about what is counted or tested."""

from __future__ import annotations

__all__ = ["counted", "plural", "written_chance"]

_PLURALS = {
    "child": "children",
    "policy": "policies",
    "try": "tries",
}  # of all others the plural ends in s


def counted(number: int, noun: str) -> str:
    """Return a number with what it counts.

    >>> counted(1, "turn"), counted(12000, "character"), counted(2, "policy")
    ('1 turn', '12,000 characters', '2 policies')
    """
    return f"1 {noun}" if number == 1 else f"{number:,} {plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> plural("task"), plural("child")
    ('tasks', 'children')
    """
    return _PLURALS.get(noun, f"{noun}s")


def written_chance(p_value: float, *, is_bound: bool = False) -> str:
    """Write a p-value so that it is on the side of 0.05 on which it is.

    With `is_bound` it is less than this value.

    >>> written_chance(0.0502), written_chance(0.00002), written_chance(0.73)
    ('0.0502', '< 0.0001', '0.73')
    >>> written_chance(0.0002, is_bound=True)
    '< 0.0002'
    """
    if p_value < 0.0001:
        return "< 0.0001"
    sign = "< " if is_bound else ""
    return f"{sign}{p_value:.4f}" if p_value < 0.1 else f"{sign}{p_value:.2f}"

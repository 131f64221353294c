r"""Part a list into the solutions of a system: `x=2, y=1 \text{ or } x=1, y=2` are two.

Knows nothing about values.
"""

from __future__ import annotations

from gem_envs_math.grading.reading.shapes import Group, Named, Shape

__all__ = ["solutions"]


def solutions(a: Group) -> list[Shape]:
    """Return the solutions that a list of named values is, [] for any other list.

    A name that comes again begins another solution; each has the same names, and two or more.
    """
    names = [item.name for item in a.items if isinstance(item, Named) and len(item.values) == 1]
    distinct = set(names)
    if a.opener not in ("", "\\{") or not 1 < len(distinct) < len(names) == len(a.items):
        return []
    size = len(distinct)
    runs = [names[start : start + size] for start in range(0, len(names), size)]
    if any(set(run) != distinct for run in runs):
        return []
    return [Group("", "", a.items[start : start + size]) for start in range(0, len(a.items), size)]

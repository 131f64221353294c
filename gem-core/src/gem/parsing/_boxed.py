r"""Find the last `\boxed{...}` of a text. Knows nothing about what may stand in it."""

from __future__ import annotations

import re

__all__ = ["boxed", "find_boxed", "last_boxed"]

# Two backslashes are a line break, after which a brace is a brace. Not before "boxed": of a text
# whose backslashes are doubled, as JSON doubles them, the boxes are found too.
_BRACES = re.compile(r"\\boxed\s*\{|\\(?:\\(?!boxed)|[{}])|[{}]")


def boxed(answer: str) -> str:
    r"""Write an answer as a policy is asked to.

    >>> boxed("18")
    '\\boxed{18}'
    """
    return f"\\boxed{{{answer}}}"


def last_boxed(text: str) -> str | None:
    r"""Return what is inside the last `\boxed{...}` whose braces are balanced, None without one.

    Of two that are nested the inner one is the last. A brace after a backslash is text, and after
    two, which are a line break, it counts. Takes time in proportion to the text.

    >>> last_boxed(r"Not \boxed{7} but \boxed{\frac{1}{2}}, as \boxed{ shows.")
    '\\frac{1}{2}'
    """
    place = find_boxed(text)
    return None if place is None else text[place[0] : place[1]]


def find_boxed(text: str) -> tuple[int, int] | None:
    r"""Return where the inside of the last `\boxed{...}` begins and ends, as `last_boxed` finds it.

    >>> find_boxed(r"\boxed{7}")
    (7, 8)
    """
    start = text.find("\\boxed")
    if start < 0:
        return None
    opened: list[int] = []  # where the inside of each open brace starts; -1 if it is no box
    first = -1
    last = -1
    for match in _BRACES.finditer(text, start):
        token = match.group()
        if token == "}":
            inside = opened.pop() if opened else -1
            # The box that begins last counts, and not the one that ends last: the inner of two.
            if inside > first:
                first = inside
                last = match.start()
        elif token == "{":
            opened.append(-1)
        elif len(token) > 2:  # a box; what is left, `\{`, `\}` and `\\`, is text
            opened.append(match.end())
    return None if first < 0 else (first, last)

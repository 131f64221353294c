r"""Grade mathematical answers: exactly where that is possible, never by chance, never for long.

`decide` answers at once or not at all; what it leaves open, `verify` asks of math-verify, in a
process that may be killed. docs/grading.md states every rule. Knows nothing about environments.
"""

from __future__ import annotations

from gem_envs_math.answers import last_boxed
from gem_envs_math.grading.deciding import decide
from gem_envs_math.grading.verdict import Outcome, Verdict
from gem_envs_math.grading.verifying import verify

__all__ = ["Outcome", "Verdict", "decide", "extract", "last_boxed", "verify"]


def extract(action: str) -> str | None:
    r"""Return the answer of an action: what its last balanced `\boxed{}` holds, None without one.

    >>> extract(r"So it is \boxed{ \frac{1}{2} }.")
    '\\frac{1}{2}'
    """
    inside = last_boxed(action)
    return None if inside is None else inside.strip()

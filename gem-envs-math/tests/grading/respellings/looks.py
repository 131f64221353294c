r"""Changes of an answer's looks that no mathematician sees.

Each returns None where it has no place. Only looks: what TeX prints is the same, but for the size
or the slant of a sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["LOOKS"]


def _replaced(pattern: str, by: str) -> Callable[[str], str | None]:
    expression = re.compile(pattern)

    def look(text: str) -> str | None:
        changed = expression.sub(by, text)
        return None if changed == text else changed

    return look


def _round(before: str, after: str) -> Callable[[str], str | None]:
    return lambda text: None if "$" in text or text[-1:] == "\\" else f"{before}{text}{after}"


def _braced(text: str) -> str | None:
    # Braces with a comma between them are a set to a reader, whom no backslash reaches.
    return None if "$" in text or "," in text else f"{{{text}}}"


def _short_fractions(text: str) -> str | None:
    changed = re.sub(r"\\frac\{([0-9a-z])\}\{([0-9a-z])\}", r"\\frac \1 \2", text)
    return None if changed == text else changed


LOOKS: dict[str, Callable[[str], str | None]] = {
    "dollars": _round("$", "$"),
    "double dollars": _round("$$", "$$"),
    "round brackets of LaTeX": _round(r"\(", r"\)"),
    "square brackets of LaTeX": _round(r"\[", r"\]"),
    "display style": _round(r"\displaystyle ", ""),
    "spaces around": _round("  ", " "),
    "a quad behind": _round("", r"\quad"),
    "a tie before": _round("~", ""),
    "braces around": _braced,
    "a stop behind": _round("", "."),
    "a line before": _round("\n", "\n"),
    "dfrac": _replaced(r"\\frac(?=\{)", r"\\dfrac"),
    "tfrac": _replaced(r"\\frac(?=\{)", r"\\tfrac"),
    "short fractions": _short_fractions,
    "left and right": _replaced(r"^\(([^()]*)\)$", r"\\left(\1\\right)"),
    "big brackets": _replaced(r"^\(([^()]*)\)$", r"\\big(\1\\big)"),
    "thin spaces at signs": _replaced(r"(?<=[0-9a-z}]) ?\+ ?(?=[0-9a-z\\])", r"\\,+\\,"),
    "spaces at equals": _replaced(" ?= ?", r"\\; = \\;"),
    "braces at powers": _replaced(r"\^([0-9])(?![0-9])", r"^{\1}"),
    "Unicode pi": _replaced(r"\\pi(?![a-z])", "π"),
    "Unicode infinity": _replaced(r"\\infty", "∞"),
    "a minus of Unicode": _replaced(r"^-(?=[0-9])", "\u2212"),
    "neq": _replaced(r"\\ne(?![a-z])", r"\\neq"),
    "leqslant": _replaced(r"\\le(?![a-z])", r"\\leqslant"),
    "geqslant": _replaced(r"\\ge(?![a-z])", r"\\geqslant"),
    "a text's space": _replaced(r"\\text\{", r"\\mbox{"),
}
"""By name."""

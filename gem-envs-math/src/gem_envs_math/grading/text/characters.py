r"""Write a text as plain LaTeX: the signs of Unicode, rows; refuse what a reader would not see.

Knows nothing about what the text means.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["latex", "unseen"]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me"))

_SIGNS = {
    **dict.fromkeys("\N{MINUS SIGN}\N{EN DASH}\N{HYPHEN}\N{NON-BREAKING HYPHEN}", "-"),
    **dict.fromkeys("\N{MULTIPLICATION SIGN}\N{MULTIPLICATION X}", r"\times "),
    **dict.fromkeys("\N{MIDDLE DOT}\N{DOT OPERATOR}\N{ASTERISK OPERATOR}", r"\cdot "),
    **dict.fromkeys("\N{DIVISION SIGN}\N{DIVISION SLASH}\N{FRACTION SLASH}", "/"),
    **dict.fromkeys("\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}", " "),
    **dict.fromkeys("\N{PRIME}\N{RIGHT SINGLE QUOTATION MARK}", "'"),
    "\N{DOUBLE PRIME}": "''",
    "\N{PLUS-MINUS SIGN}": r"\pm ",
    "\N{MINUS-OR-PLUS SIGN}": r"\mp ",
    "\N{SQUARE ROOT}": r"\sqrt ",
    "\N{DEGREE SIGN}": r"^\circ ",
    "\N{DEGREE CELSIUS}": r"^\circ \text{C}",
    "\N{DEGREE FAHRENHEIT}": r"^\circ \text{F}",
    "\N{INFINITY}": r"\infty ",
    "\N{LESS-THAN OR EQUAL TO}": r"\le ",
    "\N{GREATER-THAN OR EQUAL TO}": r"\ge ",
    "\N{NOT EQUAL TO}": r"\ne ",
    "\N{ALMOST EQUAL TO}": r"\approx ",
    "\N{UNION}": r"\cup ",
    "\N{ELEMENT OF}": r"\in ",
    "\N{EMPTY SET}": r"\emptyset ",
    "\N{LATIN SMALL LETTER O WITH STROKE}": r"\emptyset ",
    "\N{DOUBLE-STRUCK CAPITAL R}": r"\mathbb{R}",
    "\N{DOUBLE-STRUCK CAPITAL Z}": r"\mathbb{Z}",
    "\N{DOUBLE-STRUCK CAPITAL N}": r"\mathbb{N}",
    "\N{DOUBLE-STRUCK CAPITAL Q}": r"\mathbb{Q}",
    "\N{SET MINUS}": r"\setminus ",
    "\N{IDENTICAL TO}": r"\equiv ",
    "\N{ANGLE}": r"\angle ",
    "\N{LOGICAL AND}": r"\land ",
    "\N{LOGICAL OR}": r"\lor ",
    "\N{LESS-THAN OR SLANTED EQUAL TO}": r"\le ",
    "\N{GREATER-THAN OR SLANTED EQUAL TO}": r"\ge ",
    "\N{CUBE ROOT}": r"\sqrt[3]",
    "\N{MATHEMATICAL LEFT ANGLE BRACKET}": r"\langle ",
    "\N{MATHEMATICAL RIGHT ANGLE BRACKET}": r"\rangle ",
    "\N{HORIZONTAL ELLIPSIS}": "...",
    "\N{EURO SIGN}": r"\text{ euro }",
    "\N{POUND SIGN}": r"\text{ GBP }",
    "\N{YEN SIGN}": r"\text{ yen }",
}
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉ₙ"
_DIGITS = str.maketrans(_RAISED + _LOWERED, "0123456789-+n" + "0123456789n")
_ROOT = re.compile("\N{SQUARE ROOT}([0-9]+)")
_RUNS = re.compile(f"([{_RAISED}]+)|[{_LOWERED}]+")
_CIRCLED = re.compile("[\u2460-\u2473](?:[ ,;\u3001\uff0c]*[\u2460-\u2473])+")
"""Several circled numbers, which stand side by side or apart. One alone is no number."""

_VULGAR = (
    "½12",
    "⅓13",
    "⅔23",
    "¼14",
    "¾34",
    "⅕15",
    "⅛18",
    "⅙16",
    "⅖25",
    "⅗35",
    "⅘45",
    "⅚56",
    "⅜38",
    "⅝58",
    "⅞78",
)
_GREEK = {
    "Δ": "Delta",
    "Γ": "Gamma",
    "Θ": "Theta",
    "Λ": "Lambda",
    "Σ": "Sigma",
    "Φ": "Phi",
    "Ψ": "Psi",
    "Ω": "Omega",
    "δ": "delta",
    "ε": "epsilon",
    "ζ": "zeta",
    "η": "eta",
    "κ": "kappa",
    "ξ": "xi",
    "ψ": "psi",
    "\N{GREEK SMALL LETTER NU}": "nu",
    "\N{GREEK SMALL LETTER RHO}": "rho",
    "\N{GREEK SMALL LETTER SIGMA}": "sigma",
    "\N{GREEK SMALL LETTER TAU}": "tau",
    "\N{GREEK SMALL LETTER CHI}": "chi",
    "\N{GREEK SMALL LETTER ALPHA}": "alpha",
    "β": "beta",
    "\N{GREEK SMALL LETTER GAMMA}": "gamma",
    "θ": "theta",
    "λ": "lambda",
    "μ": "mu",
    "π": "pi",
    "φ": "phi",
    "ω": "omega",
}
_LATEX = str.maketrans(
    _SIGNS
    | {part[0]: rf"\frac{{{part[1]}}}{{{part[2]}}}" for part in _VULGAR}
    | {sign: rf"\{name} " for sign, name in _GREEK.items()}
)
_ROW_SPACE = re.compile(
    r"\\\\\*?\s*\[\s*-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?:pt|em|ex|mu|mm|cm|in|pc|bp)\s*\]"
)


def latex(text: str) -> str:
    r"""Return the text with the signs of Unicode that stand for LaTeX written as LaTeX.

    How far apart two rows stand, `\\[4pt]`, is left out: what stands in brackets would be read.

    >>> latex("2√3 ≤ x²")
    '2\\sqrt{3} \\le  x^{2}'
    """
    if "\\\\" in text:
        text = _ROW_SPACE.sub(r"\\\\ ", text)
    if text.isascii():
        return text
    text = _CIRCLED.sub(_numbered, unicodedata.normalize("NFC", text))
    return _ROOT.sub(r"\\sqrt{\1}", _RUNS.sub(_script, text)).translate(_LATEX)


def _numbered(match: re.Match[str]) -> str:
    """Return a run of circled numbers as a list: they number statements."""
    numbers = [str(ord(char) - 0x245F) for char in match[0] if char >= "\u2460"]
    return f" {', '.join(numbers)} "


def _script(match: re.Match[str]) -> str:
    mark = "^" if match[1] else "_"
    return f"{mark}{{{match[0].translate(_DIGITS)}}}"


def unseen(text: str) -> bool:
    r"""Whether a text holds characters that are not seen, or digits that are not ASCII's.

    Control characters, surrogates, marks of direction, spaces without width, combining marks,
    code points that are not assigned: two texts that look alike could differ by them.

    >>> unseen("12"), unseen("1\u200b2"), unseen("\uff11")
    (False, True, True)
    """
    if _CONTROL.search(text):
        return True
    if text.isascii():
        return False
    return any(
        char > "\x7f" and (unicodedata.category(char) in _HIDDEN or char.isdigit()) for char in text
    )

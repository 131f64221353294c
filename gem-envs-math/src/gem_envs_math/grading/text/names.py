"""Which names mean what in an expression, and how a run of letters comes apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gem_envs_math.grading.text.tokens import Token

__all__ = ["DENIALS", "INVERSES", "RANDOM", "UNKNOWN_FUNCTIONS", "is_known", "split_letters"]

INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan", "sinh": "arcsinh"}
INVERSES |= {"cosh": "arccosh", "tanh": "arctanh"}
"""The functions whose power -1 is their inverse."""

UNKNOWN_FUNCTIONS = frozenset("fghFGHPQ")
"""Symbols that are applied to a bracket that follows them, and not multiplied by it."""

RANDOM = frozenset("XYZW")
"""How random variables are called: E is applied to a bracket that holds one, and else a symbol."""

DENIALS = frozenset(
    ("not", "no", "never", "negative", "minus", "except", "wrong", "incorrect", "false", "twice")
)
"""Words that make a name or a heading say something else than the value after it."""

_FUNCTION_LIST = (
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log exp sqrt "
    "sech csch coth arcsinh arccosh arctanh abs"
)
_ALIASES = {
    "lg": "log",  # to base ten, as \\log is here
    "tg": "tan",
    "ctg": "cot",
    "cosec": "csc",
    "arctg": "arctan",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "arsinh": "arcsinh",
    "arcosh": "arccosh",
    "artanh": "arctanh",
}
_FUNCTIONS = frozenset((*_FUNCTION_LIST.split(), *_ALIASES))
_NAMED = {
    **dict.fromkeys(("pi", "Pi"), "\\pi"),
    **dict.fromkeys(("infinity", "infty", "Infinity"), "\\infty"),
    **{name: f"\\{name}" for name in ("alpha", "beta", "gamma", "theta", "lambda", "phi", "omega")},
}
_SYMBOL_LIST = (
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi "
    "psi omega Gamma Delta Theta Lambda Sigma Phi Psi Omega infty ell hbar Xi Upsilon varrho"
)
_SYMBOLS = frozenset(f"\\{name}" for name in _SYMBOL_LIST.split())
_APPLIED = re.compile(r"(sin|cos|tan|ln|log)([a-z])")


def split_letters(tokens: Iterable[Token]) -> list[Token]:
    """Return tokens in which names are "symbol" or "function" and no run of letters is left.

    A run that is no name is a product of its letters, as in any formula.
    """
    split: list[Token] = []
    for token in tokens:
        if token.kind == "letters" or (token.kind == "word" and _is_name(token.text)):
            split.extend(_names(token))
        elif token.kind == "command":
            split.append(_command(token))
        else:
            split.append(token)
    return split


def is_known(letters: str) -> bool:
    """Whether a run of letters is a function or a constant."""
    return letters in _FUNCTIONS or letters in _NAMED or _APPLIED.fullmatch(letters) is not None


def _is_name(word: str) -> bool:
    return len(word) == 1 or word in _FUNCTIONS


def _names(token: Token) -> list[Token]:
    text = token.text
    if text in _FUNCTIONS:
        return [Token("function", _ALIASES.get(text, text))]
    if text in _NAMED:
        return [Token("symbol", _NAMED[text])]
    applied = _APPLIED.fullmatch(text)
    if applied:
        return [Token("function", applied[1]), Token("symbol", applied[2])]
    return [Token("symbol", letter) for letter in text]


def _command(token: Token) -> Token:
    if token.text in _SYMBOLS:
        return Token("symbol", token.text)
    if token.text[1:] in _FUNCTIONS and token.text != "\\sqrt":
        name = token.text[1:]
        return Token("function", _ALIASES.get(name, name))
    return token

r"""Write the notations of combinations and permutations in one: `C_{10}^3`, `{}_{10}C_3`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gem_envs_math.grading.text.tokens import Token

__all__ = ["BEFORE_NUMBER", "write_choice", "write_choose"]

BEFORE_NUMBER = frozenset(("+", "-", "=", ",", "(", "[", "{", "*", "/", "\\approx"))
"""What stands before the first sign of a number, if anything does."""

_BEFORE = re.compile(r"(?:\{ \} )?[_^] (?:\{ )?([0-9]{1,4})(?: \})?$")
_AFTER = re.compile(r"_ (?:\{ ([0-9]{1,4}) \}|([0-9]{1,4})(?![^ ]))")
_PART = r"(?:[0-9]+|(?:[0-9]+ )?[nNmkri](?: [+-] [0-9]+)?)"
_COMBINATION = re.compile(
    rf"C (?:_ (?:\{{ (?P<upper>{_PART}) \}}|(?P<n>[0-9]+|[nN])) "
    rf"\^ (?:\{{ (?P<lower>{_PART}) \}}|(?P<k>[0-9]+|[krmn]))"
    rf"|\( (?P<of>{_PART}) , (?P<chosen>{_PART}) \)) "
)
_OPEN = Token("sign", "{")
_CLOSE = Token("sign", "}")


def write_choice(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Append what a C or a P stands for, and return the index after it.

    `C_{10}^3`, `C(10,3)` and `{}_{10}C_3` are `\binom{10}{3}`, `{}_{10}P_3` is `\frac{10!}{7!}`;
    any other C or P is a letter.
    """
    end = _combination(tokens, at, written) if tokens[at].text == "C" else at
    if end == at:
        end = _between_numbers(tokens, at, written)
    if end == at:
        written.append(tokens[at])
        return at + 1
    return end


def _combination(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Write `C_{10}^3` and `C(10,3)` as `\binom{10}{3}`; return the index after it, or `at`."""
    match = _COMBINATION.match(" ".join(token.text for token in tokens[at : at + 16]) + " ")
    if match is None:
        return at
    upper = match["upper"] or match["n"] or match["of"]
    lower = match["lower"] or match["k"] or match["chosen"]
    if upper.isdigit() and (int(upper[:5]) < 2 or not lower.isdigit()):
        return at
    written.append(Token("command", "\\binom"))
    for part in (upper, lower):
        kinds = ((text, "number" if text.isdigit() else "letters") for text in part.split())
        signs = (Token("sign" if text in "+-" else kind, text) for text, kind in kinds)
        written.extend([_OPEN, *signs, _CLOSE])
    return at + len(match[0].split())


def _between_numbers(tokens: Sequence[Token], at: int, written: list[Token]) -> int:
    r"""Write `{}_{10}C_3` as `\binom{10}{3}`, `{}_{10}P_3` as `\frac{10!}{7!}`; return as above."""
    before = _BEFORE.search(" ".join(token.text for token in written[-8:]))
    after = _AFTER.match(" ".join(token.text for token in tokens[at + 1 : at + 5]))
    if before is None or after is None:
        return at
    upper = before[1]
    lower = after[1] or after[2]
    removed = len(before[0].split())
    start = len(written) - removed
    is_factor = start > 0 and written[start - 1].text not in BEFORE_NUMBER
    if is_factor or int(lower) > int(upper):
        return at
    del written[start:]
    if tokens[at].text == "C":
        parts = [[upper], [lower]]
        written.append(Token("command", "\\binom"))
    else:
        parts = [[upper, "!"], [str(int(upper) - int(lower)), "!"]]
        written.append(Token("command", "\\frac"))
    for part in parts:
        signs = (Token("number" if text.isdigit() else "sign", text) for text in part)
        written.extend([_OPEN, *signs, _CLOSE])
    return at + 1 + len(after[0].split())


def write_choose(written: list[Token]) -> None:
    r"""Turn the open group `{n` into `\binom{n}{`."""
    depth = 0
    for index in range(len(written) - 1, -1, -1):
        depth += (written[index].text == "}") - (written[index].text == "{")
        if depth < 0:
            written.insert(index, Token("command", "\\binom"))
            written.extend([_CLOSE, _OPEN])
            return
    written.append(Token("command", "\\choose"))
